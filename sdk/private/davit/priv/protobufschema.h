// What a protobuf message of Kubernetes says as JSON: of each field its number, its JSON name, and
// what the API server writes of a value that is not there. Read from a text by
// codec/kubernetesschema.h; used by ObjectDecoder. Plain data. [thread-safe] once it is filled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace davit::priv {

struct ProtobufField
{
    enum class Kind : std::uint8_t {
        String,
        Bytes, // JSON: base64
        Bool,
        Int,
        UInt,
        Double,
        Message,
        Inline, // a message whose members stand beside the others
        Time, // of metav1, whole seconds; empty: null
        MicroTime,
        Quantity,
        IntOrString,
        RawJson, // FieldsV1, RawExtension
        Strings // a message that is a list
    };
    enum class Form : std::uint8_t { Single, List, Map };
    // A field that was not sent.
    enum class Absent : std::uint8_t { Nothing, Null, Zero };

    std::uint16_t number = 0;
    std::uint16_t message = 0; // index, of kinds Message and Inline
    std::uint32_t nameBegin = 0; // in ProtobufSchema::names
    std::uint8_t nameSize = 0;
    Kind kind = Kind::String;
    Form form = Form::Single;
    Absent absent = Absent::Nothing;
    bool omitsEmpty = false; // a zero value that was sent is not written
};

struct ProtobufMessage
{
    std::uint32_t firstField = 0; // in ProtobufSchema::fields, ascending by number
    std::uint32_t fieldCount = 0;
};

struct ProtobufSchema
{
    std::string_view nameOf(const ProtobufField &field) const noexcept
    {
        return {names.data() + field.nameBegin, field.nameSize};
    }

    std::vector<ProtobufMessage> messages;
    std::vector<ProtobufField> fields;
    std::string names;
};

} // namespace davit::priv
