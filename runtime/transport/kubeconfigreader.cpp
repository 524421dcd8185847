#include "kubeconfigreader.h"

#include "inputfile.h"

#include <QtCore/qdir.h>
#include <QtCore/qfileinfo.h>

namespace davit::transport {
namespace {

const QString kBetweenFaults = QStringLiteral("; ");

} // namespace

KubeconfigReader::KubeconfigReader(
    const KubeconfigEntry &entry, const QString &what, QStringList &faults)
    : m_entry(entry)
    , m_prefix(QStringLiteral("kubeconfig %1: %2: ").arg(entry.file, what))
    , m_faults(faults)
{ }

void KubeconfigReader::fault(const QString &what)
{
    if (m_faults.isEmpty() || !m_faults.last().startsWith(m_prefix))
        m_faults.append(m_prefix + what);
    else if (!m_faults.last().mid(m_prefix.size()).split(kBetweenFaults).contains(what))
        m_faults.last() += kBetweenFaults + what;
}

bool KubeconfigReader::has(const char *member) const
{
    const auto found = m_entry.value.find(member);
    return found != m_entry.value.end() && !found->is_null()
        && !(found->is_string() && found->get_ref<const std::string &>().empty());
}

QString KubeconfigReader::text(const char *member)
{
    if (!has(member))
        return {};
    const support::Json &value = m_entry.value.at(member);
    return textOf(value, QLatin1String(member));
}

QString KubeconfigReader::textOf(const support::Json &value, const QString &what)
{
    if (!value.is_string()) {
        fault(QStringLiteral("%1 is no text, put it in quotes").arg(what));
        return {};
    }
    const QString text = QString::fromStdString(value.get<std::string>());
    if (!text.contains(QChar(0)))
        return text;
    fault(QStringLiteral("%1 holds a NUL character, remove it").arg(what));
    return {};
}

bool KubeconfigReader::flag(const char *member)
{
    if (!has(member))
        return false;
    const support::Json &value = m_entry.value.at(member);
    if (!value.is_boolean()) {
        fault(QStringLiteral("%1 is neither true nor false, write one of them without quotes")
                  .arg(QLatin1String(member)));
        return false;
    }
    return value.get<bool>();
}

QStringList KubeconfigReader::texts(const char *member)
{
    QStringList all;
    if (!has(member))
        return all;
    const QString name = QLatin1String(member);
    const support::Json &value = m_entry.value.at(member);
    if (!value.is_array()) {
        fault(QStringLiteral("%1 is no list of texts, write it as [\"a\", \"b\"]").arg(name));
        return all;
    }
    for (const support::Json &item : value)
        all << textOf(item, QStringLiteral("%1[%2]").arg(name).arg(all.size()));
    return all;
}

QList<support::Json> KubeconfigReader::maps(const char *member, const char *form)
{
    QList<support::Json> all;
    if (!has(member))
        return all;
    const support::Json &value = m_entry.value.at(member);
    for (const support::Json &item : value.is_array() ? value : support::Json::array()) {
        if (item.is_object())
            all << item;
    }
    if (!value.is_array() || size_t(all.size()) != value.size())
        fault(QStringLiteral("%1 is no list of maps, write it as [%2]")
                  .arg(QLatin1String(member), QLatin1String(form)));
    return all;
}

QString KubeconfigReader::absolute(const QString &path) const
{
    return path.isEmpty() ? QString()
                          : QDir::cleanPath(QFileInfo(m_entry.file).absoluteDir().filePath(path));
}

QString KubeconfigReader::path(const char *member)
{
    return absolute(text(member));
}

std::optional<QByteArray> KubeconfigReader::fileContents(const char *member, const QString &path)
{
    QString unreadable;
    const QByteArray contents = readInputFile(path, &unreadable);
    if (unreadable.isEmpty())
        return contents;
    fault(QStringLiteral("%1 %2 cannot be read: %3, correct the path or the file")
              .arg(QLatin1String(member), path, unreadable));
    return std::nullopt;
}

QByteArray KubeconfigReader::bytes(const char *dataMember, const char *fileMember, QString *file)
{
    const QByteArray encoded = text(dataMember).simplified().remove(u' ').toLatin1();
    *file = path(fileMember);
    if (!encoded.isEmpty() && !file->isEmpty()) {
        fault(QStringLiteral("%1 and %2 exclude each other, remove one")
                  .arg(QLatin1String(dataMember), QLatin1String(fileMember)));
        return {};
    }
    if (!file->isEmpty())
        return fileContents(fileMember, *file).value_or(QByteArray());
    const auto decoded
        = QByteArray::fromBase64Encoding(encoded, QByteArray::AbortOnBase64DecodingErrors);
    if (!decoded) {
        fault(QStringLiteral("%1 is no base64, write what base64 -w0 FILE prints, or name the file "
                             "with %2")
                  .arg(QLatin1String(dataMember), QLatin1String(fileMember)));
        return {};
    }
    return *decoded;
}

} // namespace davit::transport
