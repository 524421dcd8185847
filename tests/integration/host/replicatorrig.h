// What every row of the replicator's test needs: a server (the embedded one, or, with
// DAVIT_REAL_KUBECONFIG, whatever cluster that file names), a davit process with the replicator on
// it, and short names for what a row makes and looks at. Every row uses namespaces of its own.
#pragma once

#include "apidriver.h"
#include "hostprocess.h"

#include <testing/embeddedapiserver.h>

#include <QMap>
#include <QTest>

// Waits for a condition and shows the host's log when it does not come.
#define WAIT_FOR(condition) QTRY_VERIFY2_WITH_TIMEOUT(condition, qPrintable(lastFault()), 15000)
#define MUST(condition) QVERIFY2(condition, qPrintable(lastFault()))

// The marks of a copy, as its users see them.
inline const QString kToNamespaces = QStringLiteral("replicator.davit.dev/to-namespaces");
inline const QString kCopyLabel = QStringLiteral("replicator.davit.dev/copy");
inline const QString kCopiedFrom = QStringLiteral("replicator.davit.dev/copied-from");
inline const QString kCopiedTo = QStringLiteral("replicator.davit.dev/copied-to");
inline const QString kSourceUid = QStringLiteral("replicator.davit.dev/source-uid");

class ReplicatorRig
{
public:
    // Texts of labels or annotations; null ones are removed by editMarks().
    using Texts = QMap<QString, QString>;

    // Starts the server, and makes the client. False: see lastFault.
    bool startServer();
    // Starts davit with the replicator; `configuration` is the text of the file for --config.
    // True once the plugin is in that state.
    bool startHost(
        const QByteArray &configuration = {}, const QString &state = QStringLiteral("Running"));
    bool stopHost(); // true: it left well
    // It runs, without a configuration.
    bool isHostPlain() const { return m_isHostPlain; }
    // Begins a row: a new prefix, Secrets.
    void beginRow();
    void useKind(const QString &kind); // "Secret" or "ConfigMap"

    // The row's namespace of that suffix.
    QString ns(const char *suffix) const { return m_prefix + QString::fromUtf8(suffix); }
    bool makeNamespaces(std::initializer_list<const char *> suffixes);
    // Members of `rest` replace those made from the other arguments.
    QJsonObject object(const QString &name, const QString &to, const QString &content,
        const QJsonObject &rest = {}) const;
    // An object with these labels and annotations, and "key": content.
    QJsonObject marked(const QString &name, const QString &content, const Texts &marks) const;
    bool create(const char *suffix, const QJsonObject &object);
    bool createSource(const char *suffix, const QString &name, const QString &to,
        const QString &content, const QJsonObject &rest = {});
    bool patch(const char *suffix, const QString &name, const QJsonObject &change);
    bool setContent(const char *suffix, const QString &name, const QString &content);
    // Sets or removes label and annotations.
    bool editMarks(const char *suffix, const QString &name, const Texts &marks);
    bool remove(const char *suffix, const QString &name);

    QJsonObject find(const char *suffix, const QString &name);
    // What the object's "key" says; empty when there is no object, or none of that key.
    QString contentOf(const char *suffix, const QString &name);
    QString uidOf(const char *suffix, const QString &name);
    Texts marksOf(const char *suffix, const QString &name);
    // The marks of a copy of src/name in `suffix`.
    Texts goodMarks(const char *suffix, const QString &name);
    // "Warning TargetNotOurs" and the like, of the Events about an object.
    bool hasEvent(const char *suffix, const QString &name, const char *typeAndReason);
    QStringList eventNotes(const char *suffix, const QString &name, const char *typeAndReason);

    // The client's last error and the end of the host's log: a test's message holds 1 KiB or so.
    QString lastFault() const
    {
        return api->lastError.right(300) + u'\n' + QString::fromUtf8(host->errorText().right(1500));
    }

    std::unique_ptr<ApiDriver> api;
    std::unique_ptr<HostProcess> host;

private:
    QJsonObject metadataOf(const QString &name, const Texts &marks) const;

    std::unique_ptr<davit::testing::EmbeddedApiServer> m_server;
    QTemporaryDir m_dir;
    QString m_kubeconfig;
    QString m_run;
    int m_row = 0;
    bool m_isHostPlain = false;
    QString m_prefix;
    QString m_kind;
    QString m_plural;
};
