#include <davit/finalizers.h>
#include <davit/objectbuilder.h>

DAVIT_BEGIN_NAMESPACE

namespace {

const QStringList &listPath()
{
    static const QStringList path{QStringLiteral("metadata"), QStringLiteral("finalizers")};
    return path;
}

QStringList finalizersOf(const Object &object)
{
    const Value list = object[QLatin1StringView("metadata")][QLatin1StringView("finalizers")];
    QStringList names;
    for (qsizetype i = 0; i < list.size(); ++i)
        names.append(list.at(i).toString());
    return names;
}

} // namespace

bool containsFinalizer(const Object &object, const QString &finalizer)
{
    return finalizersOf(object).contains(finalizer);
}

bool addFinalizer(Object *object, const QString &finalizer)
{
    if (object->isNull() || object->isBeingDeleted())
        return false;
    QStringList names = finalizersOf(*object);
    if (names.contains(finalizer))
        return false;
    names.append(finalizer);
    *object = ObjectBuilder(*object).set(listPath(), names).build();
    return true;
}

bool removeFinalizer(Object *object, const QString &finalizer)
{
    QStringList names = finalizersOf(*object);
    if (names.removeAll(finalizer) == 0)
        return false;
    *object = ObjectBuilder(*object).set(listPath(), names).build();
    return true;
}

DAVIT_END_NAMESPACE
