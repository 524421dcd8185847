#include "protobufbody.h"

#include <optional>

namespace davit::testing::apiserver {
namespace {

// One message, read field by field; bytes that break off end it.
class Reader
{
public:
    explicit Reader(std::string_view bytes) : m_bytes(bytes) { }

    // The next field: its number, and its bytes or value. False at the end or at a fault.
    bool next()
    {
        const auto tag = varint();
        if (!tag)
            return false;
        m_field = int(*tag >> 3);
        m_text = {};
        m_value = 0;
        switch (*tag & 7) {
        case 0: {
            const auto value = varint();
            m_value = value.value_or(0);
            return value.has_value();
        }
        case 1:
            return take(8);
        case 2: {
            const auto size = varint();
            return size && take(*size);
        }
        case 5:
            return take(4);
        default:
            return false;
        }
    }

    bool hasFault() const { return m_hasFault; }
    int field() const { return m_field; }
    std::string text() const { return std::string(m_text); }
    std::string_view bytes() const { return m_text; }
    bool isTrue() const { return m_value != 0; }

private:
    std::optional<unsigned long long> varint()
    {
        unsigned long long value = 0;
        for (int shift = 0; shift < 64 && m_at < m_bytes.size(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_bytes[m_at++]);
            value |= (unsigned long long)(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                return value;
            m_hasFault = m_at == m_bytes.size(); // a number that breaks off
        }
        return std::nullopt;
    }

    bool take(unsigned long long size)
    {
        m_hasFault = size > m_bytes.size() - m_at;
        if (m_hasFault)
            return false;
        m_text = m_bytes.substr(m_at, std::size_t(size));
        m_at += std::size_t(size);
        return true;
    }

    std::string_view m_bytes;
    std::size_t m_at = 0;
    int m_field = 0;
    std::string_view m_text;
    unsigned long long m_value = 0;
    bool m_hasFault = false;
};

std::string base64Of(const std::string &bytes)
{
    return support::toStdString(QByteArray::fromStdString(bytes).toBase64());
}

// One entry of a map<string, string> or map<string, bytes>.
void addEntry(std::string_view entry, bool isBytes, Json &map)
{
    std::string key;
    std::string value;
    for (Reader reader(entry); reader.next();)
        (reader.field() == 1 ? key : value) = reader.text();
    map[key] = isBytes ? base64Of(value) : value;
}

Json metadataOf(std::string_view bytes)
{
    Json metadata = Json::object();
    for (Reader reader(bytes); reader.next();) {
        switch (reader.field()) {
        case 1:
            metadata["name"] = reader.text();
            break;
        case 2:
            metadata["generateName"] = reader.text();
            break;
        case 3:
            metadata["namespace"] = reader.text();
            break;
        case 11:
            addEntry(reader.bytes(), false, metadata["labels"]);
            break;
        case 12:
            addEntry(reader.bytes(), false, metadata["annotations"]);
            break;
        case 14:
            metadata["finalizers"].push_back(reader.text());
            break;
        default:
            break;
        }
    }
    for (const char *name : {"generateName", "namespace"})
        if (support::stringMember(metadata, name).empty())
            metadata.erase(name);
    return metadata;
}

// data 2, binaryData 3, immutable 4
void configMapField(const Reader &reader, Json &object)
{
    if (reader.field() == 2)
        addEntry(reader.bytes(), false, object["data"]);
    else if (reader.field() == 3)
        addEntry(reader.bytes(), true, object["binaryData"]);
    else if (reader.field() == 4)
        object["immutable"] = reader.isTrue();
}

// data 2, type 3, stringData 4, immutable 5
void secretField(const Reader &reader, Json &object)
{
    if (reader.field() == 2)
        addEntry(reader.bytes(), true, object["data"]);
    else if (reader.field() == 3 && !reader.bytes().empty())
        object["type"] = reader.text();
    else if (reader.field() == 4)
        addEntry(reader.bytes(), false, object["stringData"]);
    else if (reader.field() == 5)
        object["immutable"] = reader.isTrue();
}

} // namespace

bool decodeProtobufBody(const std::string &body, Json *object)
{
    if (body.compare(0, 4, std::string("k8s\0", 4)) != 0)
        return false;
    std::string apiVersion;
    std::string kind;
    std::string_view raw;
    Reader envelope(std::string_view(body).substr(4));
    while (envelope.next()) {
        if (envelope.field() == 2)
            raw = envelope.bytes();
        else if (envelope.field() == 1)
            for (Reader type(envelope.bytes()); type.next();)
                (type.field() == 1 ? apiVersion : kind) = type.text();
    }
    const bool isConfigMap = kind == "ConfigMap";
    const bool isSecret = kind == "Secret";
    const bool isKnown = isConfigMap || isSecret || kind == "Namespace" || kind == "ServiceAccount";
    if (envelope.hasFault() || apiVersion != "v1" || !isKnown)
        return false;
    *object = {{"apiVersion", apiVersion}, {"kind", kind}};
    Reader reader(raw);
    while (reader.next()) {
        if (reader.field() == 1)
            (*object)["metadata"] = metadataOf(reader.bytes());
        else if (isConfigMap)
            configMapField(reader, *object);
        else if (isSecret)
            secretField(reader, *object);
    }
    return !reader.hasFault();
}

} // namespace davit::testing::apiserver
