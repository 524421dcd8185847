// Stands in until the object pool is there: every object is null, every value missing.
#include <davit/object.h>
DAVIT_BEGIN_NAMESPACE
Object::Object() noexcept : m_handle(0) { }
Object::Object(const Object &other) noexcept = default;
Object::Object(Object &&other) noexcept = default;
Object &Object::operator=(const Object &other) noexcept = default;
Object &Object::operator=(Object &&other) noexcept = default;
Object::~Object() = default;
bool Object::isNull() const noexcept
{
    return true;
}
Value Object::root() const noexcept
{
    return {};
}
Value Object::operator[](QLatin1StringView) const noexcept
{
    return {};
}
Gvk Object::gvk() const
{
    return {};
}
ObjectKey Object::key() const
{
    return {};
}
QString Object::resourceVersion() const
{
    return {};
}
qint64 Object::generation() const noexcept
{
    return 0;
}
QByteArray Object::toJson() const
{
    return {};
}
bool operator==(const Object &a, const Object &b) noexcept
{
    return a.m_handle == b.m_handle;
}
Value::Value() noexcept : m_root(0), m_position(0) { }
Value::Value(const Value &other) noexcept = default;
Value::Value(Value &&other) noexcept = default;
Value &Value::operator=(const Value &other) noexcept = default;
Value &Value::operator=(Value &&other) noexcept = default;
Value::~Value() = default;
ValueType Value::type() const noexcept
{
    return ValueType::Missing;
}
Value Value::operator[](QLatin1StringView) const &noexcept
{
    return {};
}
Value Value::operator[](QLatin1StringView) &&noexcept
{
    return {};
}
Value Value::operator[](QByteArrayView) const noexcept
{
    return {};
}
Value Value::operator[](QStringView) const
{
    return {};
}
qsizetype Value::size() const noexcept
{
    return 0;
}
Value Value::at(qsizetype) const noexcept
{
    return {};
}
QString Value::nameAt(qsizetype) const
{
    return {};
}
QString Value::toString(const QString &fallback) const
{
    return fallback;
}
QByteArray Value::toUtf8() const
{
    return {};
}
bool Value::equals(QLatin1StringView) const noexcept
{
    return false;
}
QString Value::toText() const
{
    return {};
}
QByteArray Value::toJson() const
{
    return {};
}
bool operator==(const Value &, const Value &) noexcept
{
    return true;
}
DAVIT_END_NAMESPACE
