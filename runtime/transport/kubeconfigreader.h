// Reads the members of one kubeconfig entry and collects what is wrong with it. Private to the
// layer. Test: tst_kubeconfig.
#pragma once

#include "kubeconfigfiles.h"

#include <QtCore/qstringlist.h>
#include <optional>

namespace davit::transport {

class KubeconfigReader
{
public:
    // `what` is "user \"alice\""; `faults` and the entry are borrowed.
    KubeconfigReader(const KubeconfigEntry &entry, const QString &what, QStringList &faults);

    // Empty when the member is absent. NUL is a fault: a path or an argument would end there.
    QString text(const char *member);
    bool flag(const char *member);
    // A list of texts; empty when the member is absent.
    QStringList texts(const char *member);
    // Absolute; empty when absent.
    QString path(const char *member);
    // The bytes of `dataMember` (base64), or of the file that `fileMember` names, whose path is
    // then in `file`. Both is a fault.
    QByteArray bytes(const char *dataMember, const char *fileMember, QString *file);
    // Nothing, and a fault, when the file that `member` names cannot be read.
    std::optional<QByteArray> fileContents(const char *member, const QString &path);
    // A list of maps, empty when the member is absent; `form` is how one is written.
    QList<support::Json> maps(const char *member, const char *form);
    QString absolute(const QString &path) const;
    bool has(const char *member) const;
    QString file() const { return m_entry.file; }
    const support::Json &value() const { return m_entry.value; }
    // Says what is wrong and what to do, without "; ": that stands between faults. It joins the one
    // before it where that is of the same entry; the same one is told once.
    void fault(const QString &what);
    QString prefix() const { return m_prefix; }

private:
    QString textOf(const support::Json &value, const QString &what);

    const KubeconfigEntry &m_entry;
    const QString m_prefix; // "kubeconfig /home/a/.kube/config: user \"alice\": "
    QStringList &m_faults;
};

} // namespace davit::transport
