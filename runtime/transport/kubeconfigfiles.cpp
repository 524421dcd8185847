#include "kubeconfigfiles.h"

#include "inputfile.h"
#include "kubeconfigmembers.h"

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
QString mergeList(
    const Json &root, KubeconfigLevel level, const QString &file, KubeconfigFiles::Entries &merged)
{
    const char *const valueName = level == KubeconfigLevel::Cluster ? "cluster"
        : level == KubeconfigLevel::User                            ? "user"
                                                                    : "context";
    const std::string listName = std::string(valueName) + 's';
    const QString list = qstring(listName);
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
        if (const QStringList misplaced = misplacedMembers(item, level); !misplaced.isEmpty())
            return (misplaced.size() == 1
                    ? QStringLiteral("%1, \"%2\": %3 stands beside name, put it into %4: {...}")
                    : QStringLiteral("%1, \"%2\": %3 stand beside name, put them into %4: {...}"))
                .arg(place, name, misplaced.join(QStringLiteral(", ")), QLatin1String(valueName));
        merged.emplace(name, KubeconfigEntry{value ? *value : Json::object(), file});
    }
    return {};
}

// What stands there in place of `wanted`; empty: that, or nothing.
QString otherThan(const Json &root, const char *name, const char *wanted)
{
    const auto found = root.find(name);
    if (found == root.end() || found->is_null())
        return {};
    const QString text = found->is_string() ? qstring(found->get<std::string>())
                                            : QString::fromUtf8(support::dumpJson(*found));
    return text == QLatin1String(wanted) ? QString() : text;
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
    for (const auto &[name, wanted] :
        {std::pair("kind", "Config"), std::pair("apiVersion", "v1")}) {
        if (const QString other = otherThan(root, name, wanted); !other.isEmpty())
            return QStringLiteral("its %1 is %2, not %3; name a kubeconfig")
                .arg(QLatin1String(name), other, QLatin1String(wanted));
    }
    fault = mergeList(root, KubeconfigLevel::Cluster, file, merged.clusters);
    if (fault.isEmpty())
        fault = mergeList(root, KubeconfigLevel::User, file, merged.users);
    if (fault.isEmpty())
        fault = mergeList(root, KubeconfigLevel::Context, file, merged.contexts);
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
            merged.missing.append(file);
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
