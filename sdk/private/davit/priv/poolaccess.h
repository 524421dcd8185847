// The runtime's door to the object pool: decoding into it, interning, its figures. Private: no
// plugin may use it. The layout behind it is in sdk/src/pool.
#pragma once

#include <cstdint>
#include <davit/object.h>
#include <functional>
#include <memory>
#include <vector>

namespace davit::priv {

enum class ManagedFields : std::uint8_t { Drop, Keep };
enum class Depth : std::uint8_t { Full, MetadataOnly };

struct DecodeOptions
{
    ManagedFields managedFields = ManagedFields::Drop;
    Depth depth = Depth::Full;
    // When set, apiVersion and kind are added in front where the JSON has none (items of a list
    // lack them); of Depth::MetadataOnly they replace the JSON's own, since a server that sends
    // only metadata calls each object a PartialObjectMetadata. Borrowed for the call.
    const Gvk *impliedGvk = nullptr;
    // When set: what is known of an object, or null. What did not change is not built again but
    // taken from there. For speed alone: the outcome is the same. Of JSON; a protobuf message is
    // compared with the one before it.
    std::function<Object(const ObjectKey &)> known;
};

struct ProtobufSchema;
class ObjectDecoderPrivate;
// Decodes objects straight into the pool. Keeps its buffers between calls: one a strand. Not
// thread-safe.
class DAVIT_EXPORT ObjectDecoder
{
public:
    ObjectDecoder();
    ~ObjectDecoder();
    Q_DISABLE_COPY_MOVE(ObjectDecoder)
    // One JSON object, UTF-8, surrounded by white space at most. Fills `object` with a pooled one,
    // or says what is wrong and at which byte. Strings of a lone surrogate, invalid UTF-8 and
    // nesting beyond 1024 levels are errors. O(bytes).
    Error decode(QByteArrayView json, const DecodeOptions &options, Object *object);
    // For text that goes on behind the object: `bytes` says how long it is. False when the text
    // ends first or anything is wrong with it: decode() tells once the object's end is known.
    bool decodeFront(
        QByteArrayView json, const DecodeOptions &options, Object *object, qsizetype *bytes);
    // The same of a message of `schema`, whose index is `type`: the outcome is what decode() makes
    // of the JSON that the API server would have sent, but for the members' order. Fails with
    // Unsupported where that JSON alone would tell: a field that the schema does not know or that
    // stands where no API server writes it, text that is not UTF-8. impliedGvk is needed: the
    // message does not say its kind. O(bytes).
    Error decodeProtobuf(QByteArrayView message, const ProtobufSchema &schema, std::uint16_t type,
        const DecodeOptions &options, Object *object);

private:
    std::unique_ptr<ObjectDecoderPrivate> d;
};

// The pooled twin of a private object; the same one when it is pooled already. [thread-safe]
DAVIT_EXPORT Object internObject(const Object &object);
// The metadata-only twin: apiVersion, kind, metadata. Pooled when `object` is. [thread-safe]
DAVIT_EXPORT Object metadataOnly(const Object &object);

struct SizeClassStats
{
    std::uint32_t blockBytes; // size of the class
    std::uint64_t liveBlocks;
    std::uint64_t freeBlocks;
};

struct PoolStats
{
    std::uint64_t liveBlocks = 0;
    std::uint64_t liveBytes = 0; // of live blocks, as their owners asked
    std::uint64_t tableBytes = 0; // intern tables
    std::uint64_t mappedBytes = 0; // segments taken from the system
    std::uint64_t freeBytes = 0; // on free lists
    std::uint64_t wastedBytes = 0; // live blocks: class size minus size
    std::vector<SizeClassStats> classes;
};
// O(shards). [thread-safe]
DAVIT_EXPORT PoolStats poolStats();
// Bytes that this object alone takes (its own block and those that nothing else shares). For the
// bill; O(blocks). [thread-safe]
DAVIT_EXPORT std::uint64_t exclusiveBytes(const Object &object);
// False when memory of this object was written to since it came in. For debugging; private objects
// are always intact. O(bytes). [thread-safe]
DAVIT_EXPORT bool isIntact(const Object &object);
// Flips the last bit of a pooled object's own bytes, as a stray pointer may, or flips it back. For
// the tests of isIntact() alone: whoever reads or frees it in between gets what is there.
DAVIT_EXPORT void flipBitForTest(const Object &object);
// Gives wholly free segments back to the system. Called by the host now and then. [thread-safe]
DAVIT_EXPORT void trimPool();

// Raw handles, for the store's tries: eight bytes without a count of their own.
struct DAVIT_EXPORT PoolAccess
{
    // Takes the handle out of an object; the caller now owns one count. [thread-safe]
    static std::uint64_t release(Object &&object) noexcept;
    // Makes an object that owns `handle`. [thread-safe]
    static Object adopt(std::uint64_t handle) noexcept;
    // A second object for a handle that someone else owns. [thread-safe]
    static Object share(std::uint64_t handle) noexcept;
    static void drop(std::uint64_t handle) noexcept;
    // The handle, still owned by the object. [thread-safe]
    static std::uint64_t peek(const Object &object) noexcept;
    // Whether the object of a handle that someone else owns has this namespace and name: what
    // Object::key() == key says, without a string built. [thread-safe]
    static bool hasKey(std::uint64_t handle, const ObjectKey &key);

    // For the SDK's own sources.
    static Value valueAt(std::uint64_t ownedRoot, std::uint64_t position) noexcept;
    static std::uint64_t rootOf(const Value &value) noexcept;
    static std::uint64_t positionOf(const Value &value) noexcept;
};

} // namespace davit::priv
