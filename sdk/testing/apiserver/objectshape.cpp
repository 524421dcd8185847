#include "objectshape.h"

#include <QtCore/qbytearray.h>
#include <array>

namespace davit::testing::apiserver {
namespace {

enum class Shape : unsigned char { Text, Integer, Bool, Texts, TextMap, Bytes, Structs };

struct Member
{
    const char *name;
    Shape shape;
    const char *type; // in words of Go; of a list or map, of its elements
};

constexpr Member kMetadata[] = {{"name", Shape::Text, "string"},
    {"generateName", Shape::Text, "string"}, {"namespace", Shape::Text, "string"},
    {"selfLink", Shape::Text, "string"}, {"uid", Shape::Text, "types.UID"},
    {"resourceVersion", Shape::Text, "string"}, {"generation", Shape::Integer, "int64"},
    {"creationTimestamp", Shape::Text, "string"}, {"deletionTimestamp", Shape::Text, "string"},
    {"deletionGracePeriodSeconds", Shape::Integer, "int64"}, {"labels", Shape::TextMap, "string"},
    {"annotations", Shape::TextMap, "string"},
    {"ownerReferences", Shape::Structs, "v1.OwnerReference"},
    {"finalizers", Shape::Texts, "string"},
    {"managedFields", Shape::Structs, "v1.ManagedFieldsEntry"}};
constexpr Member kOwner[] = {{"apiVersion", Shape::Text, "string"}, {"kind", Shape::Text, "string"},
    {"name", Shape::Text, "string"}, {"uid", Shape::Text, "types.UID"},
    {"controller", Shape::Bool, "bool"}, {"blockOwnerDeletion", Shape::Bool, "bool"}};
constexpr Member kConfigMap[] = {{"data", Shape::TextMap, "string"},
    {"binaryData", Shape::Bytes, "[]uint8"}, {"immutable", Shape::Bool, "bool"}};
constexpr Member kSecret[]
    = {{"data", Shape::Bytes, "[]uint8"}, {"stringData", Shape::TextMap, "string"},
        {"type", Shape::Text, "v1.SecretType"}, {"immutable", Shape::Bool, "bool"}};

bool isBase64(const Json &value)
{
    return bool(QByteArray::fromBase64Encoding(QByteArray::fromStdString(value.get<std::string>()),
        QByteArray::AbortOnBase64DecodingErrors));
}

std::string wrongElement(const Json &value, const Member &member, const std::string &field)
{
    const bool isList = member.shape == Shape::Texts || member.shape == Shape::Structs;
    if (isList ? !value.is_array() : !value.is_object())
        return cannotUnmarshal(
            value, field, (isList ? "[]" : "map[string]") + std::string(member.type));
    for (const Json &element : value) {
        const bool isRight
            = member.shape == Shape::Structs ? element.is_object() : element.is_string();
        if (!isRight && !element.is_null())
            return cannotUnmarshal(element, field, member.type);
        if (member.shape == Shape::Bytes && element.is_string() && !isBase64(element))
            return "illegal base64 data at input byte 0";
    }
    return {};
}

std::string wrongMember(const Json &value, const Member &member, const std::string &field)
{
    switch (member.shape) {
    case Shape::Text:
        return value.is_string() ? std::string() : cannotUnmarshal(value, field, member.type);
    case Shape::Integer:
        if (value.is_number_float())
            return "json: cannot unmarshal number " + value.dump() + " into Go struct field "
                + field + " of type " + member.type;
        return value.is_number() ? std::string() : cannotUnmarshal(value, field, member.type);
    case Shape::Bool:
        return value.is_boolean() ? std::string() : cannotUnmarshal(value, field, member.type);
    case Shape::Texts:
    case Shape::TextMap:
    case Shape::Bytes:
    case Shape::Structs:
        break;
    }
    return wrongElement(value, member, field);
}

// `path` is "ObjectMeta.metadata.": the struct, and where the object lies.
template <std::size_t N>
std::string wrongIn(const Json &object, const Member (&members)[N], const std::string &path)
{
    for (const Member &member : members) {
        const auto found = object.find(member.name);
        if (found == object.end() || found->is_null())
            continue;
        if (std::string wrong = wrongMember(*found, member, path + member.name); !wrong.empty())
            return wrong;
    }
    return {};
}

bool isCore(const Kind &kind, const char *name)
{
    return kind.isBuiltIn && kind.group.empty() && kind.kind == name;
}

} // namespace

std::string cannotUnmarshal(const Json &value, const std::string &field, const std::string &type)
{
    const std::string name = value.is_boolean() ? "bool" : value.type_name();
    return "json: cannot unmarshal " + name + " into Go struct field " + field + " of type " + type;
}

std::string wrongShape(const Kind &kind, const Json &object)
{
    const Json &metadata = object.at("metadata");
    if (!metadata.is_object())
        return cannotUnmarshal(metadata, kind.kind + ".metadata", "v1.ObjectMeta");
    std::string wrong = wrongIn(metadata, kMetadata, "ObjectMeta.metadata.");
    for (const Json &owner : support::itemsOf(metadata, "ownerReferences"))
        if (wrong.empty() && owner.is_object())
            wrong = wrongIn(owner, kOwner, "OwnerReference.metadata.ownerReferences.");
    if (!wrong.empty())
        return wrong;
    if (isCore(kind, "ConfigMap"))
        return wrongIn(object, kConfigMap, "ConfigMap.");
    if (isCore(kind, "Secret"))
        return wrongIn(object, kSecret, "Secret.");
    const auto spec = object.find("spec");
    if (kind.isBuiltIn && spec != object.end() && !spec->is_null() && !spec->is_object())
        return cannotUnmarshal(*spec, kind.kind + ".spec", "v1." + kind.kind + "Spec");
    return {};
}

void fillNullTexts(const Kind &kind, Json &object)
{
    const auto fill = [](Json &owner, const char *name) {
        const auto found = owner.find(name);
        if (found == owner.end() || !found->is_object())
            return;
        for (Json &value : *found)
            if (value.is_null())
                value = "";
    };
    for (const char *name : {"labels", "annotations"})
        fill(object["metadata"], name);
    if (isCore(kind, "ConfigMap") || isCore(kind, "Secret"))
        for (const char *name : {"data", "stringData"})
            fill(object, name);
}

} // namespace davit::testing::apiserver
