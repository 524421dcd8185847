#include "objectshape.h"
#include "microtime.h"

#include <QtCore/qbytearray.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <support/gotext.h>

namespace davit::testing::apiserver {
namespace {

enum class Shape : unsigned char {
    Text,
    Time, // a text to the decoder; it reads itself
    Integer,
    Bool,
    Struct,
    Texts,
    TextMap,
    Bytes, // a map of them
    Structs
};

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
    {"creationTimestamp", Shape::Time, "string"}, {"deletionTimestamp", Shape::Time, "string"},
    {"deletionGracePeriodSeconds", Shape::Integer, "int64"}, {"labels", Shape::TextMap, "string"},
    {"annotations", Shape::TextMap, "string"},
    {"ownerReferences", Shape::Structs, "v1.OwnerReference"},
    {"finalizers", Shape::Texts, "string"},
    {"managedFields", Shape::Structs, "v1.ManagedFieldsEntry"}};
constexpr Member kOwner[] = {{"apiVersion", Shape::Text, "string"}, {"kind", Shape::Text, "string"},
    {"name", Shape::Text, "string"}, {"uid", Shape::Text, "types.UID"},
    {"controller", Shape::Bool, "bool"}, {"blockOwnerDeletion", Shape::Bool, "bool"}};
constexpr Member kType[] = {{"kind", Shape::Text, "string"}, {"apiVersion", Shape::Text, "string"}};
constexpr Member kConfigMap[] = {{"immutable", Shape::Bool, "bool"},
    {"data", Shape::TextMap, "string"}, {"binaryData", Shape::Bytes, "[]uint8"}};
constexpr Member kSecret[] = {{"immutable", Shape::Bool, "bool"}, {"data", Shape::Bytes, "[]uint8"},
    {"stringData", Shape::TextMap, "string"}, {"type", Shape::Text, "v1.SecretType"}};

bool isBase64(const Json &value)
{
    return bool(QByteArray::fromBase64Encoding(QByteArray::fromStdString(value.get<std::string>()),
        QByteArray::AbortOnBase64DecodingErrors));
}

constexpr char kNoBase64[] = "illegal base64 data at input byte 0";

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
            return kNoBase64;
    }
    return {};
}

std::string wrongMember(const Json &value, const Member &member, const std::string &field)
{
    switch (member.shape) {
    case Shape::Text:
    case Shape::Time:
        return value.is_string() ? std::string() : cannotUnmarshal(value, field, member.type);
    case Shape::Integer:
        if (value.is_number_float())
            return "json: cannot unmarshal number " + value.dump() + " into Go struct field "
                + field + " of type " + member.type;
        return value.is_number() ? std::string() : cannotUnmarshal(value, field, member.type);
    case Shape::Bool:
        return value.is_boolean() ? std::string() : cannotUnmarshal(value, field, member.type);
    case Shape::Struct:
    case Shape::Texts:
    case Shape::TextMap:
    case Shape::Bytes:
    case Shape::Structs:
        break;
    }
    return wrongElement(value, member, field);
}

std::string unconvertible(const Json &value, Shape shape, const char *type);

std::string unconvertibleElement(const Json &value, const Member &member)
{
    const bool isList = member.shape == Shape::Texts || member.shape == Shape::Structs;
    if (isList ? !value.is_array() : !value.is_object())
        return std::string("cannot restore ") + (isList ? "slice" : "map") + " from "
            + support::goKind(value);
    for (const Json &element : value) {
        std::string wrong;
        if (member.shape == Shape::Structs)
            wrong = unconvertible(element, Shape::Struct, member.type);
        else if (member.shape != Shape::Bytes)
            wrong = unconvertible(element, Shape::Text, member.type);
        else if (!element.is_string() && !element.is_null())
            wrong = std::string("cannot restore slice from ") + support::goKind(element);
        else if (element.is_string() && !isBase64(element))
            wrong = std::string("error decoding from json: ") + kNoBase64;
        if (!wrong.empty())
            return wrong;
    }
    return {};
}

// The words of runtime.DefaultUnstructuredConverter, which knows no fields.
std::string unconvertible(const Json &value, Shape shape, const char *type)
{
    const std::string kind = support::goKind(value);
    if (value.is_null())
        return {};
    switch (shape) {
    case Shape::Text:
        if (value.is_string())
            return {};
        return kind == "int64" ? "cannot convert int64 to " + std::string(type)
                               : std::string("unrecognized type: string");
    case Shape::Time:
        return value.is_string() ? std::string() : support::noGoValue(value, "string");
    case Shape::Integer:
        if (!value.is_number())
            return std::string("unrecognized type: ") + type;
        return kind == "int64" || std::trunc(value.get<double>()) == value.get<double>()
            ? std::string()
            : "cannot convert float64 to " + std::string(type);
    case Shape::Bool:
        return value.is_boolean() ? std::string() : "unrecognized type: bool";
    case Shape::Struct:
        return value.is_object() ? std::string() : "cannot restore struct from: " + kind;
    case Shape::Texts:
    case Shape::TextMap:
    case Shape::Bytes:
    case Shape::Structs:
        break;
    }
    return unconvertibleElement(value, {nullptr, shape, type});
}

// `path` is "ObjectMeta.metadata.": the struct, and where the object lies; empty for the converter.
template <std::size_t N>
std::string wrongIn(const Json &object, const Member (&members)[N], const std::string &path)
{
    for (const Member &member : members) {
        const auto found = object.find(member.name);
        if (found == object.end() || found->is_null())
            continue;
        if (std::string wrong = path.empty() ? unconvertible(*found, member.shape, member.type)
                                             : wrongMember(*found, member, path + member.name);
            !wrong.empty())
            return wrong;
    }
    return {};
}

bool isCore(const Kind &kind, const char *name)
{
    return kind.isBuiltIn && kind.group.empty() && kind.kind == name;
}

template <std::size_t N>
void dropFrom(Json &object, const Member (&members)[N], const std::string &path,
    std::vector<std::string> *dropped)
{
    for (auto entry = object.begin(); entry != object.end();) {
        const std::string &name = entry.key();
        const bool isKnown = std::any_of(std::begin(members), std::end(members),
                                 [&](const Member &member) { return name == member.name; })
            || (path.empty() && (name == "apiVersion" || name == "kind" || name == "metadata"));
        if (!isKnown)
            dropped->push_back(path + name);
        entry = isKnown ? std::next(entry) : object.erase(entry);
    }
}

} // namespace

std::string cannotUnmarshal(const Json &value, const std::string &field, const std::string &type)
{
    const std::string name = value.is_boolean() ? "bool" : value.type_name();
    return "json: cannot unmarshal " + name + " into Go struct field " + field + " of type " + type;
}

std::string wrongShape(const Kind &kind, const Json &object, Reader reader)
{
    const bool isConverter = reader == Reader::Converter;
    const auto in
        = [isConverter](const std::string &path) { return isConverter ? std::string() : path; };
    std::string wrong = isConverter ? wrongIn(object, kType, {}) : std::string();
    const Json &metadata = object.at("metadata");
    if (wrong.empty() && !metadata.is_object())
        wrong = isConverter ? unconvertible(metadata, Shape::Struct, "")
                            : cannotUnmarshal(metadata, kind.kind + ".metadata", "v1.ObjectMeta");
    if (wrong.empty())
        wrong = wrongIn(metadata, kMetadata, in("ObjectMeta.metadata."));
    for (const Json &owner : support::itemsOf(metadata, "ownerReferences"))
        if (wrong.empty() && owner.is_object())
            wrong = wrongIn(owner, kOwner, in("OwnerReference.metadata.ownerReferences."));
    if (!wrong.empty())
        return wrong;
    if (isCore(kind, "ConfigMap"))
        return wrongIn(object, kConfigMap, in("ConfigMap."));
    if (isCore(kind, "Secret"))
        return wrongIn(object, kSecret, in("Secret."));
    const auto spec = object.find("spec");
    if (!kind.isBuiltIn || spec == object.end() || spec->is_null() || spec->is_object())
        return wrongMicroTime(kind, object, reader);
    return isConverter ? unconvertible(*spec, Shape::Struct, "")
                       : cannotUnmarshal(*spec, kind.kind + ".spec", "v1." + kind.kind + "Spec");
}

std::vector<std::string> dropUnknownFields(const Kind &kind, Json &object)
{
    std::vector<std::string> dropped;
    if (const auto metadata = object.find("metadata");
        metadata != object.end() && metadata->is_object())
        dropFrom(*metadata, kMetadata, "metadata.", &dropped);
    if (isCore(kind, "ConfigMap"))
        dropFrom(object, kConfigMap, "", &dropped);
    else if (isCore(kind, "Secret"))
        dropFrom(object, kSecret, "", &dropped);
    return dropped;
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
