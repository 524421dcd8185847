#include "kubeconfigfiles.h"

#include "inputfile.h"

#include <support/yaml.h>

#include <QtCore/qfile.h>
#include <QtCore/qfileinfo.h>
#include <QtCore/qset.h>
#include <cerrno>
#include <unistd.h>

namespace davit::transport {
namespace {

using support::Json;

QString qstring(const std::string &text)
{
    return QString::fromStdString(text);
}

// Adds the entries of one list of one file. Answers a fault, or an empty text.
QString mergeList(const Json &root, const char *listName, const char *valueName,
    const QString &file, KubeconfigFiles::Entries &merged)
{
    const QString list = QLatin1String(listName);
    const auto found = root.find(listName);
    if (found == root.end() || found->is_null())
        return {};
    if (!found->is_array())
        return QStringLiteral("\"%1\" is no list; write its entries as - {name: ...}").arg(list);
    QSet<QString> seen;
    int index = 0;
    for (const Json &item : *found) {
        const QString place = QStringLiteral("%1[%2]").arg(list).arg(index++);
        if (!item.is_object())
            return QStringLiteral("%1 is no map; write it as {name: ..., %2: {...}}")
                .arg(place, QLatin1String(valueName));
        const QString name = qstring(support::stringMember(item, "name"));
        if (const auto written = item.find("name");
            written != item.end() && !written->is_null() && !written->is_string())
            return QStringLiteral("%1: name is no text; put it in quotes").arg(place);
        if (name.isEmpty())
            return QStringLiteral("%1 has no name; add one").arg(place);
        if (seen.contains(name))
            return QStringLiteral("\"%1\" has two entries named \"%2\"; rename or remove one")
                .arg(list, name);
        seen.insert(name);
        const Json *const value = support::objectMember(item, valueName);
        const auto given = item.find(valueName); // without it, it would be another identity
        if (!value && given != item.end() && !given->is_null())
            return QStringLiteral("%1, \"%2\": %3 is no map; write it as %3: {...}")
                .arg(place, name, QLatin1String(valueName));
        merged.emplace(name, KubeconfigEntry{value ? *value : Json::object(), file});
    }
    return {};
}

QString mergeText(const QByteArray &text, const QString &file, KubeconfigFiles &merged)
{
    const support::YamlDocuments yaml = support::yamlToJson(text);
    if (!yaml.isOk())
        return yaml.error.startsWith(QLatin1StringView("line "))
            ? yaml.error + QStringLiteral("; mend it there")
            : yaml.error;
    if (yaml.documents.isEmpty())
        return {}; // C-58
    if (yaml.documents.size() > 1)
        return QStringLiteral("it holds %1 documents, a kubeconfig is one; name one of "
                              "them alone")
            .arg(yaml.documents.size());
    Json root;
    QString fault;
    if (!support::parseJson(yaml.documents.first(), &root, &fault))
        return fault;
    if (root.is_null())
        return {};
    if (!root.is_object())
        return QStringLiteral("it is no map of clusters, users and contexts; name a kubeconfig");
    if (const std::string kind = support::stringMember(root, "kind");
        !kind.empty() && kind != "Config")
        return QStringLiteral("its kind is %1, not Config; name a kubeconfig").arg(qstring(kind));
    fault = mergeList(root, "clusters", "cluster", file, merged.clusters);
    if (fault.isEmpty())
        fault = mergeList(root, "users", "user", file, merged.users);
    if (fault.isEmpty())
        fault = mergeList(root, "contexts", "context", file, merged.contexts);
    if (const auto current = root.find("current-context");
        fault.isEmpty() && current != root.end() && !current->is_null() && !current->is_string())
        fault = QStringLiteral("current-context is no text, put it in quotes");
    if (merged.currentContext.isEmpty())
        merged.currentContext = qstring(support::stringMember(root, "current-context"));
    return fault;
}

// Not what lies in a folder that may not be entered: nobody knows what it holds.
bool isMissing(const QString &file)
{
    return ::access(QFile::encodeName(file).constData(), F_OK) != 0
        && (errno == ENOENT || errno == ENOTDIR);
}

} // namespace

Result<KubeconfigFiles> readKubeconfigFiles(const QStringList &paths, MissingFiles missing)
{
    KubeconfigFiles merged;
    QStringList faults;
    for (const QString &path : paths) {
        const QString file = QFileInfo(path).absoluteFilePath();
        if (isMissing(file)) {
            if (missing == MissingFiles::AreFaults)
                faults.append(
                    QStringLiteral("kubeconfig %1 does not exist; correct --kubeconfig").arg(file));
            continue;
        }
        QString unreadable;
        const QByteArray text = readInputFile(file, &unreadable);
        if (!unreadable.isEmpty()) {
            faults.append(
                QStringLiteral("kubeconfig %1 cannot be read: %2; name another file, or make "
                               "that one readable")
                    .arg(file, unreadable));
            continue;
        }
        if (const QString fault = mergeText(text, file, merged); !fault.isEmpty())
            faults.append(QStringLiteral("kubeconfig %1: %2").arg(file, fault));
        merged.files.append(file);
    }
    if (!faults.isEmpty())
        return Error(ErrorCode::InvalidConfiguration, faults.join(QStringLiteral("; ")));
    return merged;
}

} // namespace davit::transport
