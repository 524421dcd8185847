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

    // Empty when the member is absent.
    QString text(const char *member);
    bool flag(const char *member);
    // A list of texts; empty when the member is absent.
    QStringList texts(const char *member);
    // Absolute; empty when absent.
    QString path(const char *member);
    // The bytes of `dataMember` (base64), or of the file that `fileMember` names, whose path is
    // then in `file`. Both is a fault.
    QByteArray bytes(const char *dataMember, const char *fileMember, QString *file);
    // Nothing, and a fault, when it cannot be read.
    std::optional<QByteArray> fileContents(const QString &path);
    QString absolute(const QString &path) const;
    bool has(const char *member) const;
    const support::Json &value() const { return m_entry.value; }
    // Joins the fault before it where that is of the same entry; the same one is told once.
    void fault(const QString &what);
    QString prefix() const { return m_prefix; }

private:
    const KubeconfigEntry &m_entry;
    const QString m_prefix; // "kubeconfig /home/a/.kube/config: user \"alice\": "
    QStringList &m_faults;
};

} // namespace davit::transport
