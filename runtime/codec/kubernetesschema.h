// How the kinds that are built into Kubernetes are written as protobuf (C-25, C-28), from a text
// that schema/main.go makes of the Go types. Lines of the text:
//   kind <apiVersion> <kind> <message>
//   message <name>, then its fields, ascending:
//   <number> <JSON name> [list|map] <kind of value> [<message>] [omitempty|null|zero]
//   <number> - inline <message>
// `omitempty`: a zero value is not written; `null`, `zero`: it is written though it was not sent.
// Test: tst_kubernetesschema.
#pragma once

#include <davit/error.h>
#include <davit/gvk.h>
#include <davit/priv/protobufschema.h>

#include <QtCore/qhash.h>

namespace davit::codec {

class KubernetesSchema
{
public:
    // That of all kinds; read at the first call, about a millisecond and 150 KB. [thread-safe]
    static const KubernetesSchema &builtIn();
    // An error names the line. O(text).
    static Error read(std::string_view text, KubernetesSchema *schema);

    // The index of the kind's message; -1 when it is not there (custom resources, newer kinds).
    int messageOf(const Gvk &gvk) const;
    const priv::ProtobufSchema &messages() const { return m_schema; }
    QList<Gvk> kinds() const { return m_messages.keys(); }

private:
    class Reader;

    priv::ProtobufSchema m_schema;
    QHash<Gvk, int> m_messages;
};

} // namespace davit::codec
