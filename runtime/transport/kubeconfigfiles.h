// One or more kubeconfig files, merged: entries by name, each with the file that it came from.
// Private to the layer. Source: BEHAVIOURS.md C-52 to C-58, case B08. Test: tst_kubeconfig.
#pragma once

#include <davit/result.h>
#include <support/json.h>

#include <QtCore/qstringlist.h>

#include <map>

namespace davit::transport {

struct KubeconfigEntry
{
    support::Json value; // an object: the "cluster", "user" or "context" of the entry
    QString file; // relative paths are relative to its folder
};

struct KubeconfigFiles
{
    using Entries = std::map<QString, KubeconfigEntry>;

    Entries clusters;
    Entries users;
    Entries contexts;
    QString currentContext;
    QStringList files; // that were read
    QStringList missing; // that do not exist and were skipped

    bool isEmpty() const
    {
        return clusters.empty() && users.empty() && contexts.empty() && currentContext.isEmpty();
    }
};

enum class MissingFiles : quint8 { AreFaults, AreSkipped };

// The first file that has an entry of a name wins with the whole entry. InvalidConfiguration with a
// sentence for each file that cannot be read or parsed. [thread-safe]
Result<KubeconfigFiles> readKubeconfigFiles(const QStringList &paths, MissingFiles missing);

} // namespace davit::transport
