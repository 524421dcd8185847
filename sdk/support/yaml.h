// YAML to JSON, by the rules that Kubernetes' own tools follow. Contract:
//   - A plain scalar is typed as kubectl types it: null and ~; yes, no, on, off, y, n, true, false
//     in their three spellings (YAML 1.1 booleans); integers in base 10, 0x, 0b, 0o and with a
//     leading 0, with _ between digits; floats. Everything else, and all that is quoted or tagged
//     !!str, is a string. A date stays a string.
//   - Anchors, aliases and merge keys (<<) are resolved. Keys that are numbers or booleans become
//     text. Of duplicate keys the last wins, unless they are to be faults.
//   - A whole number written as a float becomes an integer (1.0 is 1), as kubectl prints it.
// Source: YAML 1.1 types; compared with kubectl 1.37.2 value by value. Test: tst_yaml.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qlist.h>
#include <QtCore/qstring.h>

namespace davit::support {

struct YamlDocuments
{
    // One JSON text each, in the order of the file; documents that hold nothing are left out.
    QList<QByteArray> documents;
    // Empty, or one sentence with the line: "line 4: block sequence entries are not allowed here".
    QString error;

    bool isOk() const { return error.isEmpty(); }
};

enum class SameKeys {
    LastWins, // as kubectl has it
    AreFaults // in what is written by hand for this program: one of the two would be left out
};

// All documents of one text (UTF-8, separated by ---); nothing when there is an error. Refused:
// what is not UTF-8, or holds NUL, in whatever encoding (that error names no line); more than 512
// levels, more than a million nodes after aliases are resolved, infinity and NaN. [thread-safe]
YamlDocuments yamlToJson(QByteArrayView text, SameKeys sameKeys = SameKeys::LastWins);

} // namespace davit::support
