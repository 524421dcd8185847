// The mutable JSON tree behind patches, YAML and the embedded server: nlohmann's ordered_json, so
// that members keep their order. Included by .cpp files and by the server's private headers only:
// it is slow to compile. Test: tst_patch.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qstring.h>
#include <nlohmann/json.hpp>

namespace davit::support {

using Json = nlohmann::ordered_json;

// Deeper documents are refused: trees are walked by recursion.
inline constexpr int kMaxJsonDepth = 512;

// Fills `tree`, or answers false and says in `error` at which byte the text is no JSON. Of
// duplicate members the last wins. [thread-safe]
bool parseJson(QByteArrayView text, Json *tree, QString *error);
// One line without spaces; bytes that are no UTF-8 become U+FFFD. [thread-safe]
QByteArray dumpJson(const Json &tree);

inline std::string toStdString(QByteArrayView text)
{
    return std::string(text.data(), std::size_t(text.size()));
}

inline QByteArray toByteArray(const std::string &text)
{
    return QByteArray(text.data(), qsizetype(text.size()));
}

// The text of a string member, or empty when it is absent or no string. [thread-safe]
std::string stringMember(const Json &object, const char *name);
// A member that is true or false, or a whole number; `ifAbsent` or 0 when it is anything else.
// [thread-safe]
bool boolMember(const Json &object, const char *name, bool ifAbsent);
int intMember(const Json &object, const char *name);
// A member that is an object, or nullptr. [thread-safe]
const Json *objectMember(const Json &object, const char *name);
const Json *arrayMember(const Json &object, const char *name);
// Equal as JSON: the order of members does not count, 1 and 1.0 are one number. [thread-safe]
bool isSameJson(const Json &a, const Json &b);
// For loops: the object or list of that name, or an empty one. [thread-safe]
const Json &membersOf(const Json &object, const char *name);
const Json &itemsOf(const Json &object, const char *name);

} // namespace davit::support
