// Object: a counted handle of a packed tree.
#include "pool/documentreader.h"
#include "pool/handle.h"

#include <davit/object.h>
#include <davit/priv/poolaccess.h>

DAVIT_BEGIN_NAMESPACE

namespace pool = priv::pool;
using pool::Place;

namespace {

constexpr std::string_view kMetadata = "metadata";

Place rootOf(const Object &object) noexcept
{
    const std::uint64_t handle = priv::PoolAccess::peek(object);
    return handle == 0 ? Place() : pool::rootPlace(handle);
}

Place metadataOf(const Object &object, std::string_view name) noexcept
{
    return pool::member(pool::member(rootOf(object), kMetadata), name);
}

QString textAt(Place place)
{
    pool::Scratch scratch;
    const std::string_view text = pool::textOf(place, scratch);
    return QString::fromUtf8(text.data(), qsizetype(text.size()));
}

std::string_view view(QLatin1StringView name) noexcept
{
    return {name.data(), std::size_t(name.size())};
}

} // namespace

Object::Object() noexcept : m_handle(0) { }

Object::Object(const Object &other) noexcept : m_handle(pool::retain(other.m_handle)) { }

Object::Object(Object &&other) noexcept : m_handle(std::exchange(other.m_handle, 0)) { }

Object &Object::operator=(const Object &other) noexcept
{
    pool::release(std::exchange(m_handle, pool::retain(other.m_handle)));
    return *this;
}

Object &Object::operator=(Object &&other) noexcept
{
    std::swap(m_handle, other.m_handle);
    return *this;
}

Object::~Object()
{
    pool::release(m_handle);
}

Status Object::fromJson(QByteArrayView json, Object *object)
{
    pool::DocumentReader reader;
    pool::TreeBuilder builder(pool::Storage::Private);
    if (!reader.readObject({json.data(), std::size_t(json.size())}, {}, {}, builder)) {
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("JSON, byte %1: %2")
                .arg(reader.errorByte())
                .arg(QLatin1StringView(reader.error())));
    }
    const std::uint64_t handle = builder.finish();
    if (handle == 0)
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("JSON: %1").arg(QLatin1StringView(builder.error())));
    *object = Object(handle);
    return Status::ok();
}

bool Object::isNull() const noexcept
{
    return m_handle == 0;
}

bool Object::isMetadataOnly() const noexcept
{
    return (m_handle & pool::kMetadataOnlyFlag) != 0;
}

Value Object::root() const noexcept
{
    if (m_handle == 0)
        return {};
    return priv::PoolAccess::valueAt(pool::retain(m_handle), rootOf(*this).position());
}

Value Object::operator[](QLatin1StringView name) const noexcept
{
    return root()[name];
}

Gvk Object::gvk() const
{
    return gvkFrom(textAt(pool::member(rootOf(*this), "apiVersion")),
        textAt(pool::member(rootOf(*this), "kind")));
}

ObjectKey Object::key() const
{
    return {namespaceName(), name()};
}

QString Object::name() const
{
    return textAt(metadataOf(*this, "name"));
}

QString Object::namespaceName() const
{
    return textAt(metadataOf(*this, "namespace"));
}

QString Object::uid() const
{
    return textAt(metadataOf(*this, "uid"));
}

QString Object::resourceVersion() const
{
    return textAt(metadataOf(*this, "resourceVersion"));
}

qint64 Object::generation() const noexcept
{
    pool::Integer integer;
    if (!pool::readInteger(metadataOf(*this, "generation"), &integer) || integer.isNegative)
        return 0;
    return qint64(integer.magnitude);
}

bool Object::isBeingDeleted() const noexcept
{
    return pool::typeOf(metadataOf(*this, "deletionTimestamp")) > ValueType::Null;
}

QString Object::label(QLatin1StringView name) const
{
    return textAt(pool::member(metadataOf(*this, "labels"), view(name)));
}

QString Object::annotation(QLatin1StringView name) const
{
    return textAt(pool::member(metadataOf(*this, "annotations"), view(name)));
}

bool Object::hasAnnotation(QLatin1StringView name) const noexcept
{
    return bool(pool::member(metadataOf(*this, "annotations"), view(name)));
}

QByteArray Object::toJson() const
{
    return root().toJson();
}

bool operator==(const Object &a, const Object &b) noexcept
{
    const std::uint64_t left = priv::PoolAccess::peek(a) & ~pool::kMetadataOnlyFlag;
    const std::uint64_t right = priv::PoolAccess::peek(b) & ~pool::kMetadataOnlyFlag;
    if (left == right)
        return true;
    if (left == 0 || right == 0 || (!pool::isPrivate(left) && !pool::isPrivate(right)))
        return false; // equal pooled objects are the same block
    return pool::equal(rootOf(a), rootOf(b));
}

DAVIT_END_NAMESPACE
