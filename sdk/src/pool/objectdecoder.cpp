// The runtime's door to the pool.
#include "emit.h"
#include "handle.h"
#include "pool.h"

#include <davit/priv/poolaccess.h>
#include <unordered_map>

namespace davit::priv {

using namespace pool;

namespace {

// simdjson 3.0 reads "-0" as 0.
bool mayHoldNegativeZero(std::string_view json)
{
    for (std::size_t at = json.find("-0"); at != std::string_view::npos;
         at = json.find("-0", at + 1)) {
        const char next = at + 2 < json.size() ? json[at + 2] : ' ';
        if (next == ',' || next == '}' || next == ']' || next <= ' ')
            return true;
    }
    return false;
}

// simdjson 3.0 lets lone surrogates pass; none can be there without such an escape.
bool mayHoldSurrogate(std::string_view json)
{
    const char *const end = json.data() + json.size();
    for (const char *p = json.data(); p + 2 < end; ++p) {
        p = static_cast<const char *>(std::memchr(p, '\\', std::size_t(end - p)));
        if (p == nullptr || p + 2 >= end)
            return false;
        ++p; // so that an escaped backslash does not start an escape
        if (*p == 'u' && (p[1] == 'd' || p[1] == 'D'))
            return true;
    }
    return false;
}

} // namespace

class ObjectDecoderPrivate
{
public:
    bool decodeFast(std::string_view json, const Selection &selection);
    bool decodeExact(std::string_view json, const Selection &selection, Error *error);

    simdjson::dom::parser parser;
    std::vector<char> padded;
    JsonTape tape;
    TreeBuilder builder{Storage::Pooled};
};

bool ObjectDecoderPrivate::decodeFast(std::string_view json, const Selection &selection)
{
    if (json.empty() || mayHoldSurrogate(json))
        return false;
    if (padded.size() < json.size() + simdjson::SIMDJSON_PADDING)
        padded.resize(json.size() + json.size() / 2 + simdjson::SIMDJSON_PADDING);
    std::memcpy(padded.data(), json.data(), json.size());
    simdjson::dom::object root;
    if (parser.parse(padded.data(), json.size(), false).get(root) != simdjson::SUCCESS)
        return false;
    return emitDomObject(root, selection, builder) || !mayHoldNegativeZero(json);
}

bool ObjectDecoderPrivate::decodeExact(
    std::string_view json, const Selection &selection, Error *error)
{
    const auto failed = [error](const QString &what) {
        *error = Error(ErrorCode::MalformedReply, what);
        return false;
    };
    if (!parseJson(json, &tape))
        return failed(
            QStringLiteral("byte %1: %2").arg(tape.errorByte).arg(QLatin1StringView(tape.error)));
    if (tape.events.front().kind != JsonEvent::Kind::StartObject)
        return failed(QStringLiteral("byte 0: no JSON object"));
    emitTapeObject(tape, selection, builder);
    return true;
}

ObjectDecoder::ObjectDecoder() : d(std::make_unique<ObjectDecoderPrivate>()) { }

ObjectDecoder::~ObjectDecoder() = default;

Error ObjectDecoder::decode(QByteArrayView json, const DecodeOptions &options, Object *object)
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
    const std::string_view text(json.data(), std::size_t(json.size()));
    Error error;
    d->builder.reset();
    if (!d->decodeFast(text, selection)) {
        d->builder.reset();
        if (!d->decodeExact(text, selection, &error))
            return error;
    }
    std::uint64_t handle = d->builder.finish();
    if (handle == 0)
        return Error(ErrorCode::MalformedReply, QLatin1StringView(d->builder.error()));
    if (options.depth == Depth::MetadataOnly)
        handle |= kMetadataOnlyFlag;
    *object = PoolAccess::adopt(handle);
    return {};
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
