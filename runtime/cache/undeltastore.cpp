#include "undeltastore.h"

namespace davit::cache {

Status UndeltaStore::push()
{
    QList<Object> all;
    all.reserve(m_objects.size());
    m_objects.forEach([&all](const Object &object) { all += object; });
    m_push(all);
    return Status::ok();
}

Status UndeltaStore::put(const Object &object)
{
    m_objects.put(object.key(), object);
    return push();
}

Status UndeltaStore::remove(const Object &object)
{
    m_objects.remove(object.key());
    return push();
}

Status UndeltaStore::replace(std::vector<Object> objects, const QString &, ListOrigin)
{
    m_objects = {};
    for (const Object &object : objects)
        m_objects.put(object.key(), object);
    return push();
}

} // namespace davit::cache
