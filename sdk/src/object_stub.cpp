#include <davit/object.h>
DAVIT_BEGIN_NAMESPACE
Object::Object() noexcept : m_handle(0) { }
Object::Object(const Object &other) noexcept = default;
Object::Object(Object &&other) noexcept = default;
Object &Object::operator=(const Object &other) noexcept = default;
Object &Object::operator=(Object &&other) noexcept = default;
Object::~Object() = default;
bool operator==(const Object &a, const Object &b) noexcept
{
    return a.m_handle == b.m_handle;
}
DAVIT_END_NAMESPACE
