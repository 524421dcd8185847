// JSON for the pool's tests: named documents that each hold one difficulty, and random ones.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <nlohmann/json.hpp>
#include <random>

namespace samples {

struct Sample
{
    const char *name;
    QByteArray json;
};

inline QByteArray nested(
    int depth, const QByteArray &open, const QByteArray &inner, const QByteArray &close)
{
    return open.repeated(depth) + inner + close.repeated(depth);
}

// Valid objects.
inline QList<Sample> valid()
{
    return {
        {"empty object", "{}"},
        {"empty members", R"({"a":{},"b":[],"c":"","d":[{}],"e":[[]]})"},
        {"empty name", R"({"":1,"a":{"":{"":"x"}}})"},
        {"white space", "\r\n\t { \"a\" :\t[ 1 , 2 ] }\n"},
        {"literals", R"({"t":true,"f":false,"n":null,"l":[true,false,null]})"},
        {"escapes", R"({"a":"\"\\\/\b\f\n\r\t\u0000\u001f\u007f","b\"\\\n":1})"},
        {"escaped letters", R"({"a":"\u00e9\u20ac\u0041\uFFFF"})"},
        {"surrogate pair", R"({"a":"\ud83d\ude00 \uD834\uDD1E","\ud83d\ude00":1})"},
        {"UTF-8", "{\"\xc3\xa9\":\"\xe2\x82\xac \xf0\x9f\x98\x80\"}"},
        {"small integers", R"({"a":[0,1,63,64,255,256,65535,65536,4294967295,4294967296]})"},
        {"negative integers", R"({"a":[-1,-64,-256,-257,-65536,-65537,-4294967296,-4294967297]})"},
        {"edges of 64 bits",
            R"({"a":[9223372036854775807,-9223372036854775808,9223372036854775808,18446744073709551615]})"},
        {"doubles",
            R"({"a":[0.1,1.5,-2.25,1e3,1E-7,1.7976931348623157e308,5e-324,3.0,-0.0,1e-400,-1E-400]})"},
        {"strings of every stored size",
            R"({"a":["0123456789a","0123456789ab","x y z 0123456789 01234567890","x y z 0123456789 0123456789 0123456789 0123456789"]})"},
        {"one member",
            R"({"a":{"b":{"c":{"d":{"e":"a text that is long enough to be shared"}}}}})"},
        {"equal parts",
            R"({"a":{"name":"some long name here","value":"another long value"},"b":{"name":"some long name here","value":"another long value"}})"},
        {"many members",
            [] {
                QByteArray json = "{";
                for (int i = 0; i < 300; ++i)
                    json += (i > 0 ? ",\"" : "\"") + QByteArray::number(i * 7919 % 1000)
                        + "\":" + QByteArray::number(i);
                return json + '}';
            }()},
        {"long array", "{\"a\":[" + QByteArray("\"item of the list\",").repeated(5000) + "1]}"},
        {"long string", "{\"a\":\"" + QByteArray("0123456789 ").repeated(200000) + "\"}"},
        {"deep arrays", "{\"a\":" + nested(1023, "[", "1", "]") + '}'},
        {"deep objects", nested(1024, "{\"a\":", "1", "}")},
    };
}

// What packs, and what comes near to it but must stay as it is.
inline QList<QByteArray> packedStrings()
{
    return {"3e0a4c1f-9f7b-4c3d-8a52-0123456789ab", "3E0a4c1f-9f7b-4c3d-8a52-0123456789ab",
        "3e0a4c1f-9f7b-4c3d-8a52-0123456789a", "3e0a4c1f-9f7b-4c3d-8a5-20123456789ab",
        "3e0a4c1f-9f7b-4c3d-8a52-0123456789-b", "2026-01-02T03:04:05Z", "1970-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z", "2105-12-31T23:59:59Z", "2106-01-01T00:00:00Z",
        "2000-02-29T12:00:00Z", "2100-02-29T12:00:00Z", "2024-02-30T12:00:00Z",
        "2026-13-02T03:04:05Z", "2026-00-02T03:04:05Z", "2026-01-02T24:04:05Z",
        "2026-01-02T03:60:05Z", "2026-01-02T03:04:60Z", "2026-01-02t03:04:05Z",
        "2026-01-02T03:04:05z", "2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.999999Z",
        "2026-01-02T03:04:05,999999Z", "2026-01-02T03:04:05.99999xZ", "0123456789abcdef",
        "0123456789abcdeF", "0123456789abcde", "deadbeef", "10.0.0.1", "255.255.255.255",
        "256.0.0.1", "10.0.0.1/32", "10.0.0.1/0", "10.0.0.1/33", "10.0.0.1/", "10.0.0.1/08",
        "255.255.255.255/32", "10.0.0.1/24/", "web-7d4b9c6f5d-x2v8z", "web-7d4b9c6f5d-x2v8",
        "kube-api-access-x2v8z", "-bcdfghjklmnp", "a-name-bcdfghjklm", "a-name-bcdfghjklmn",
        "a-name-bcdfa", "bcdfgbcdfgbcdfg", "10.00.0.1", "10.0.0.01", "1.2.3", "1.2.3.4.5", "1.2.3.",
        "1.2.3.45678", "12345", "012345", "4294967295", "4294967296", "9999999999", "99999",
        "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg",
        "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
        "a0123456789abcdef0123456789abcdef", "z0123456789abcdef0123456789abcdef0",
        QByteArray("ab").repeated(255), QByteArray("ab").repeated(256),
        "prefix:" + QByteArray("ab").repeated(300), "0.1.2.3", "0", "00000", "-0123456789"};
}

// A random JSON object, the same for the same seed.
class Random
{
public:
    explicit Random(unsigned seed) : m_engine(seed) { }

    nlohmann::ordered_json object(int depth = 0)
    {
        nlohmann::ordered_json object = nlohmann::ordered_json::object();
        for (int i = below(8); i > 0; --i)
            object[text()] = value(depth + 1);
        return object;
    }

private:
    int below(int limit) { return int(m_engine() % unsigned(limit)); }

    std::string text()
    {
        static const char *const words[] = {"", "a", "name", "metadata", "managedFields",
            "app.kubernetes.io/name", "\xc3\xa9t\xc3\xa9", "\xf0\x9f\x98\x80", "a\"b\\c",
            "line\nbreak", "2026-01-02T03:04:05Z", "10.1.2.3", "0123456789abcdef", "1234567"};
        const int kind = below(20);
        if (kind < 14)
            return words[kind];
        std::string made;
        for (int i = below(40); i > 0; --i)
            made += char(1 + below(126));
        return made;
    }

    nlohmann::ordered_json value(int depth)
    {
        switch (below(depth > 6 ? 8 : 11)) {
        case 0:
            return nullptr;
        case 1:
            return below(2) == 1;
        case 2:
            return below(1000) - 500;
        case 3:
            return std::int64_t(std::uint64_t(m_engine()) * std::uint64_t(m_engine()));
        case 4:
            return std::uint64_t(m_engine()) << 32 | m_engine();
        case 5:
            return double(std::int64_t(m_engine()) - (1LL << 31)) / double(1 + below(1000));
        case 6:
        case 7:
            return text();
        case 8: {
            nlohmann::ordered_json array = nlohmann::ordered_json::array();
            for (int i = below(6); i > 0; --i)
                array.push_back(value(depth + 1));
            return array;
        }
        default:
            return object(depth);
        }
    }

    std::mt19937 m_engine;
};

} // namespace samples
