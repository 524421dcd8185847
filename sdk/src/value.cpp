// Value: the public face of pool::Place.
#include "pool/handle.h"
#include "pool/place.h"

#include <davit/priv/poolaccess.h>
#include <davit/value.h>
#include <limits>

DAVIT_BEGIN_NAMESPACE

namespace pool = priv::pool;
using pool::Place;

namespace {

Place placeOf(const Value &value) noexcept
{
    return pool::placeAt(priv::PoolAccess::rootOf(value), priv::PoolAccess::positionOf(value));
}

// The value at `place` of the same root.
Value valueFrom(std::uint64_t root, Place place) noexcept
{
    if (!place)
        return {};
    return priv::PoolAccess::valueAt(pool::retain(root), place.position());
}

QString toQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

std::string_view view(QLatin1StringView name) noexcept
{
    return {name.data(), std::size_t(name.size())};
}

} // namespace

Value::Value() noexcept : m_root(0), m_position(0) { }

Value::Value(const Value &other) noexcept
    : m_root(pool::retain(other.m_root)), m_position(other.m_position)
{ }

Value::Value(Value &&other) noexcept
    : m_root(std::exchange(other.m_root, 0)), m_position(std::exchange(other.m_position, 0))
{ }

Value &Value::operator=(const Value &other) noexcept
{
    const std::uint64_t old = std::exchange(m_root, pool::retain(other.m_root));
    m_position = other.m_position;
    pool::release(old);
    return *this;
}

Value &Value::operator=(Value &&other) noexcept
{
    std::swap(m_root, other.m_root);
    std::swap(m_position, other.m_position);
    return *this;
}

Value::~Value()
{
    pool::release(m_root);
}

ValueType Value::type() const noexcept
{
    return pool::typeOf(placeOf(*this));
}

Value Value::operator[](QLatin1StringView name) const &noexcept
{
    return valueFrom(m_root, pool::member(placeOf(*this), view(name)));
}

Value Value::operator[](QLatin1StringView name) &&noexcept
{
    const Place place = pool::member(placeOf(*this), view(name));
    if (!place)
        return {};
    return priv::PoolAccess::valueAt(std::exchange(m_root, 0), place.position());
}

Value Value::operator[](QByteArrayView utf8Name) const noexcept
{
    const std::string_view name(utf8Name.data(), std::size_t(utf8Name.size()));
    return valueFrom(m_root, pool::member(placeOf(*this), name));
}

Value Value::operator[](QStringView name) const
{
    return (*this)[QByteArrayView(name.toUtf8())];
}

qsizetype Value::size() const noexcept
{
    return pool::sizeOf(placeOf(*this));
}

Value Value::at(qsizetype i) const noexcept
{
    if (i < 0 || i >= size())
        return {};
    return valueFrom(m_root, pool::childAt(placeOf(*this), std::uint32_t(i)));
}

QString Value::nameAt(qsizetype i) const
{
    if (i < 0 || i >= size())
        return {};
    return toQString(pool::nameAt(placeOf(*this), std::uint32_t(i)));
}

QStringList Value::names() const
{
    QStringList names;
    if (!isObject())
        return names;
    for (pool::Children children(placeOf(*this)); children.next();)
        names.append(toQString(children.name()));
    return names;
}

QString Value::toString(const QString &fallback) const
{
    const Place place = placeOf(*this);
    if (pool::typeOf(place) != ValueType::String)
        return fallback;
    pool::Scratch scratch;
    return toQString(pool::textOf(place, scratch));
}

QByteArray Value::toUtf8() const
{
    pool::Scratch scratch;
    const std::string_view text = pool::textOf(placeOf(*this), scratch);
    return {text.data(), qsizetype(text.size())};
}

bool Value::equals(QLatin1StringView text) const noexcept
{
    const Place place = placeOf(*this);
    if (pool::typeOf(place) != ValueType::String)
        return false;
    pool::Scratch scratch;
    const std::string_view utf8 = pool::textOf(place, scratch);
    if (utf8 == view(text))
        return QtPrivate::isAscii(text); // other Latin-1 letters take two bytes in UTF-8
    return !QtPrivate::isAscii(text) && toQString(utf8) == text;
}

qint64 Value::toInt(qint64 fallback) const noexcept
{
    pool::Integer integer;
    constexpr auto max = std::uint64_t(std::numeric_limits<qint64>::max());
    if (!pool::readInteger(placeOf(*this), &integer) || integer.magnitude > max)
        return fallback;
    return integer.isNegative ? -1 - qint64(integer.magnitude) : qint64(integer.magnitude);
}

double Value::toDouble(double fallback) const noexcept
{
    return pool::readDouble(placeOf(*this), fallback);
}

bool Value::toBool(bool fallback) const noexcept
{
    const Place place = placeOf(*this);
    return pool::typeOf(place) == ValueType::Boolean ? *place.p == pool::TagTrue : fallback;
}

QString Value::toText() const
{
    const Place place = placeOf(*this);
    pool::Scratch scratch;
    if (pool::typeOf(place) == ValueType::String)
        return toQString(pool::textOf(place, scratch));
    return toQString(pool::numberText(place, scratch));
}

QByteArray Value::toJson() const
{
    std::string json;
    pool::writeJson(placeOf(*this), json);
    return QByteArray::fromStdString(json);
}

bool operator==(const Value &a, const Value &b) noexcept
{
    return pool::equal(placeOf(a), placeOf(b));
}

DAVIT_END_NAMESPACE
