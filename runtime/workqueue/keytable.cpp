#include "keytable.h"

#include <algorithm>

namespace davit::workqueue {

PackedKey::PackedKey(const SoughtKey &sought)
    : text(sought.key.object.namespaceName.size() + sought.key.object.name.size()
            + sought.key.clusterName.size(),
        Qt::Uninitialized)
    , namespaceSize(quint32(sought.key.object.namespaceName.size()))
    , nameSize(quint32(sought.key.object.name.size()))
    , hash(sought.hash)
{
    QChar *end = text.data();
    for (const QString *part :
        {&sought.key.object.namespaceName, &sought.key.object.name, &sought.key.clusterName})
        end = std::copy(part->cbegin(), part->cend(), end);
}

WorkKey PackedKey::unpacked() const
{
    const qsizetype nameEnd = qsizetype(namespaceSize) + nameSize;
    WorkKey key{{text.left(namespaceSize), text.mid(namespaceSize, nameSize)}, QString()};
    if (nameEnd < text.size())
        key.clusterName = text.mid(nameEnd);
    return key;
}

bool operator==(const PackedKey &a, const PackedKey &b)
{
    return a.hash == b.hash && a.namespaceSize == b.namespaceSize && a.nameSize == b.nameSize
        && a.text == b.text;
}

bool operator==(const PackedKey &a, const SoughtKey &b)
{
    const QStringView text(a.text);
    const qsizetype nameEnd = qsizetype(a.namespaceSize) + a.nameSize;
    return a.hash == b.hash && text.left(a.namespaceSize) == b.key.object.namespaceName
        && text.mid(a.namespaceSize, a.nameSize) == b.key.object.name
        && text.mid(nameEnd) == b.key.clusterName;
}

} // namespace davit::workqueue
