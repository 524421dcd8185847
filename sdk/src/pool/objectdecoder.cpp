// The runtime's door to the pool.
#include "documentreader.h"
#include "handle.h"
#include "pool.h"
#include "protobufreader.h"

#include <davit/priv/poolaccess.h>
#include <unordered_map>

namespace davit::priv {

using namespace pool;

class ObjectDecoderPrivate
{
public:
    template <typename Reader, typename Other, typename Read>
    Error decode(
        const DecodeOptions &options, Object *object, Reader &reader, Other &other, Read &&read);
    Place similarTo(
        std::string_view namespaceName, std::string_view name, const DecodeOptions &options);

    DocumentReader json;
    ProtobufReader protobuf;
    TreeBuilder builder{Storage::Pooled};
    Object last; // the neighbour in a list is mostly its like
    Object similar;
};

Place ObjectDecoderPrivate::similarTo(
    std::string_view namespaceName, std::string_view name, const DecodeOptions &options)
{
    const auto toQt = [](std::string_view text) {
        return QString::fromUtf8(text.data(), qsizetype(text.size()));
    };
    similar = options.known ? options.known({toQt(namespaceName), toQt(name)}) : Object();
    if (similar.isNull())
        similar = last;
    const std::uint64_t handle = PoolAccess::peek(similar);
    return handle == 0 || isPrivate(handle) ? Place() : rootPlace(handle);
}

// Fills in the selection and calls read(selection, known); then makes the object.
template <typename Reader, typename Other, typename Read>
Error ObjectDecoderPrivate::decode(
    const DecodeOptions &options, Object *object, Reader &reader, Other &other, Read &&read)
{
    Selection selection;
    selection.managedFields = options.managedFields;
    selection.depth = options.depth;
    QByteArray apiVersionText;
    QByteArray kind;
    if (options.impliedGvk != nullptr) {
        apiVersionText = apiVersion(*options.impliedGvk).toUtf8();
        kind = options.impliedGvk->kind.toUtf8();
        selection.apiVersion = {apiVersionText.constData(), std::size_t(apiVersionText.size())};
        selection.kind = {kind.constData(), std::size_t(kind.size())};
    }
    builder.reset();
    const bool isRead = read(selection, [&](std::string_view namespaceName, std::string_view name) {
        return similarTo(namespaceName, name, options);
    });
    similar = Object();
    if (!isRead)
        return Error(ErrorCode::MalformedReply,
            QStringLiteral("byte %1: %2")
                .arg(reader.errorByte())
                .arg(QLatin1StringView(reader.error())));
    std::uint64_t handle = builder.finish();
    if (handle == 0)
        return Error(ErrorCode::MalformedReply, QLatin1StringView(builder.error()));
    if (options.depth == Depth::MetadataOnly)
        handle |= kMetadataOnlyFlag;
    last = PoolAccess::adopt(handle);
    reader.remember(rootPlace(handle), builder);
    other.forget();
    *object = last;
    return {};
}

ObjectDecoder::ObjectDecoder() : d(std::make_unique<ObjectDecoderPrivate>()) { }

ObjectDecoder::~ObjectDecoder() = default;

Error ObjectDecoder::decode(QByteArrayView json, const DecodeOptions &options, Object *object)
{
    const std::string_view text(json.data(), std::size_t(json.size()));
    const auto read = [&](const Selection &selection, const KnownObjects &known) {
        return d->json.readObject(text, selection, known, d->builder);
    };
    return d->decode(options, object, d->json, d->protobuf, read);
}

bool ObjectDecoder::decodeFront(
    QByteArrayView json, const DecodeOptions &options, Object *object, qsizetype *bytes)
{
    const std::string_view text(json.data(), std::size_t(json.size()));
    std::size_t size = 0;
    const auto read = [&](const Selection &selection, const KnownObjects &known) {
        return d->json.readFront(text, selection, known, d->builder, &size);
    };
    const Error error = d->decode(options, object, d->json, d->protobuf, read);
    *bytes = qsizetype(size);
    return !error.isError();
}

Error ObjectDecoder::decodeProtobuf(QByteArrayView message, const ProtobufSchema &schema,
    std::uint16_t type, const DecodeOptions &options, Object *object)
{
    const std::string_view bytes(message.data(), std::size_t(message.size()));
    const auto read = [&](const Selection &selection, const KnownObjects &) {
        return d->protobuf.readObject(bytes, schema, type, selection, d->builder);
    };
    const Error error = d->decode(options, object, d->protobuf, d->json, read);
    if (error.isError() && d->protobuf.isUnknownField())
        return Error(ErrorCode::Unsupported, error.message());
    return error;
}

Object internObject(const Object &object)
{
    const std::uint64_t handle = PoolAccess::peek(object);
    if (handle == 0 || !isPrivate(handle))
        return object;
    TreeBuilder builder(Storage::Pooled);
    builder.value(rootPlace(handle));
    const std::uint64_t pooled = builder.finish();
    return pooled == 0 ? object : PoolAccess::adopt(pooled | (handle & kMetadataOnlyFlag));
}

Object metadataOnly(const Object &object)
{
    const std::uint64_t handle = PoolAccess::peek(object);
    if (handle == 0 || (handle & kMetadataOnlyFlag) != 0)
        return object;
    TreeBuilder builder(isPrivate(handle) ? Storage::Private : Storage::Pooled);
    const Selection selection{ManagedFields::Keep, Depth::MetadataOnly, {}, {}};
    builder.startObject();
    for (Children children(rootPlace(handle)); children.next();) {
        if (!selection.wantsMember(children.name()))
            continue;
        builder.key(children.name());
        builder.value(children.value());
    }
    builder.endObject();
    const std::uint64_t masked = builder.finish();
    return masked == 0 ? Object() : PoolAccess::adopt(masked | kMetadataOnlyFlag);
}

PoolStats poolStats()
{
    return stats();
}

void trimPool()
{
    trim();
}

bool isIntact(const Object &object)
{
    const std::uint64_t handle = PoolAccess::peek(object);
    return handle == 0 || isPrivate(handle) || pool::isIntact(rootRef(handle));
}

void flipBitForTest(const Object &object)
{
    Block *const block = blockAt(rootRef(PoolAccess::peek(object)));
    block->content()[block->size() - 1] ^= 1U;
}

std::uint64_t exclusiveBytes(const Object &object)
{
    const std::uint64_t handle = PoolAccess::peek(object);
    if (handle == 0)
        return 0;
    if (isPrivate(handle))
        return sizeof(PrivateBlock) + privateBlock(handle)->size;
    // A block is exclusive when all its counts come from exclusive blocks.
    std::unordered_map<Ref, std::uint32_t> seen;
    std::vector<Ref> pending{rootRef(handle)};
    std::uint64_t bytes = 0;
    while (!pending.empty()) {
        const Block *block = blockAt(pending.back());
        pending.pop_back();
        bytes += Block::kHeaderBytes + block->size();
        forEachChild(*block, [&](Ref child) {
            if (++seen[child] == blockAt(child)->count.load(std::memory_order_relaxed))
                pending.push_back(child);
        });
    }
    return bytes;
}

std::uint64_t PoolAccess::release(Object &&object) noexcept
{
    return std::exchange(object.m_handle, 0);
}

Object PoolAccess::adopt(std::uint64_t handle) noexcept
{
    return Object(handle);
}

Object PoolAccess::share(std::uint64_t handle) noexcept
{
    return Object(retain(handle));
}

void PoolAccess::drop(std::uint64_t handle) noexcept
{
    pool::release(handle);
}

std::uint64_t PoolAccess::peek(const Object &object) noexcept
{
    return object.m_handle;
}

bool PoolAccess::hasKey(std::uint64_t handle, const ObjectKey &key)
{
    const Place metadata = handle == 0 ? Place() : member(rootPlace(handle), "metadata");
    Scratch scratch;
    const auto isSame = [&](std::string_view name, const QString &text) {
        const std::string_view stored = textOf(member(metadata, name), scratch);
        return QAnyStringView(QUtf8StringView(stored.data(), qsizetype(stored.size()))) == text;
    };
    return isSame("name", key.name) && isSame("namespace", key.namespaceName);
}

Value PoolAccess::valueAt(std::uint64_t ownedRoot, std::uint64_t position) noexcept
{
    Value value;
    value.m_root = ownedRoot;
    value.m_position = position;
    return value;
}

std::uint64_t PoolAccess::rootOf(const Value &value) noexcept
{
    return value.m_root;
}

std::uint64_t PoolAccess::positionOf(const Value &value) noexcept
{
    return value.m_position;
}

} // namespace davit::priv
