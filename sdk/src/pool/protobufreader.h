// From a protobuf message of Kubernetes to a TreeBuilder, as the JSON that the API server would
// have written of it: the same members, names and values, in the order of the fields' numbers.
// Strict: what JSON alone can tell (a field that the schema does not know, fields in another order
// than a server's, text that is not UTF-8) and what is no message at all are faults, so that no
// member is ever lost unseen. What stood in the same place of the message read before is taken from
// its object after one memcmp. Source: the Go types of k8s.io/api and the rules of encoding/json
// (codec/schema). Test: tst_protobufreader.
#pragma once

#include "documentreader.h"
#include "lastmessage.h"

#include <davit/priv/protobufschema.h>
#include <davit/priv/protobufwire.h>

namespace davit::priv::pool {

// Keeps its buffers between messages. Not thread-safe.
class ProtobufReader
{
public:
    // `builder` is empty; on false it is to be reset, and error() and errorByte() say why.
    // O(bytes).
    bool readObject(std::string_view message, const ProtobufSchema &schema, std::uint16_t type,
        const Selection &selection, TreeBuilder &builder);
    // The message became an object, which lives until the next one is remembered or forgotten.
    void remember(Place root, const TreeBuilder &builder);
    // Another reader's object took the place of the last one.
    void forget() { m_last.forget(); }

    const char *error() const { return m_error; }
    std::size_t errorByte() const { return std::size_t(m_at - m_begin); }
    // The fault is something that the server's JSON would tell: fields that are newer than the
    // schema, text that encoding/json mends.
    bool isUnknownField() const { return m_isUnknownField; }

private:
    using Known = LastMessage::Known;
    using Within = LastMessage::Within;
    // All that was sent of one field.
    struct Run
    {
        WireField first;
        std::string_view bytes; // with the tags
        bool isOne;
    };

    bool members(std::string_view message, std::uint16_t type, Within within);
    bool isWanted(const ProtobufField &field) const;
    bool present(const ProtobufField &field, const Run &run, Within &within);
    bool absent(const ProtobufField &field, const char *at);
    bool single(const ProtobufField &field, const WireField &wire, Within &within);
    bool list(const ProtobufField &field, std::string_view run, Known known);
    bool packed(const ProtobufField &field, const WireField &wire);
    bool map(const ProtobufField &field, std::string_view run, Known known);
    bool entry(const ProtobufField &field, const WireField &wire);
    bool value(
        const ProtobufField &field, const WireField &wire, std::uint32_t number, Known known);
    bool object(std::string_view message, std::uint16_t type, std::uint32_t number, Known known);
    bool scalar(const ProtobufField &field, const WireField &wire);
    bool text(std::string_view text);
    bool time(std::string_view message, bool isMicro);
    bool quantity(std::string_view message);
    bool intOrString(std::string_view message);
    bool rawJson(std::string_view message);
    bool strings(std::string_view message);
    bool fail(const char *error, const char *at);
    bool failUnknown(const char *error, const char *at);
    // The field of a message that has no other; empty when it was not sent.
    bool onlyField(std::string_view message, std::string_view *bytes);

    const ProtobufSchema *m_schema = nullptr;
    TreeBuilder *m_builder = nullptr;
    const char *m_begin = nullptr;
    const char *m_at = nullptr; // of a fault
    const char *m_error = nullptr;
    bool m_isUnknownField = false;
    std::uint16_t m_type = 0;
    std::uint32_t m_depth = 0;
    Selection m_selection;
    LastMessage m_last;
    DocumentReader m_json; // for what is JSON within
};

} // namespace davit::priv::pool
