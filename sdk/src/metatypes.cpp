#include <davit/clienttypes.h>
#include <davit/object.h>
#include <davit/priv/metatypes.h>
#include <davit/reconciler.h>

#include <QtCore/qmetatype.h>

namespace davit::priv {

namespace {

template <typename T> void registerByBothNames(const char *name)
{
    const QMetaType type = QMetaType::fromType<T>();
    type.id(); // registers
    for (const QByteArray prefix : {"davit::", "davit::v1::"})
        if (const QByteArray full = prefix + name; full != type.name())
            QMetaType::registerNormalizedTypedef(full, type);
}

} // namespace

void registerMetatypes()
{
    registerByBothNames<Object>("Object");
    registerByBothNames<Value>("Value");
    registerByBothNames<ObjectKey>("ObjectKey");
    registerByBothNames<Gvk>("Gvk");
    registerByBothNames<Error>("Error");
    registerByBothNames<Status>("Status");
    registerByBothNames<ObjectReply>("ObjectReply");
    registerByBothNames<ListReply>("ListReply");
    registerByBothNames<ReconcileResult>("ReconcileResult");
}

} // namespace davit::priv
