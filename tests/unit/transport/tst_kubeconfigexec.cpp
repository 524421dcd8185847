#include "kubeconfigrig.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace kubeconfigrig;

// The entry that names a program.
class tst_KubeconfigExec : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void execEntries_data();
    void execEntries();
    void faults_data();
    void faults();
};

void tst_KubeconfigExec::execEntries_data()
{
    using Mode = ExecConfig::InteractiveMode;
    QTest::addColumn<QString>("context");
    QTest::addColumn<Mode>("mode"); // Unset: an error
    QTest::newRow("B01 v1 without interactiveMode") << "v1-missing" << Mode::Unset;
    QTest::newRow("B01 v1beta1 without it") << "v1beta1-missing" << Mode::IfAvailable;
    QTest::newRow("B01 never") << "v1-never" << Mode::Never;
    QTest::newRow("B01 always") << "v1-always" << Mode::Always;
    QTest::newRow("B01 if available") << "v1-ifavailable" << Mode::IfAvailable;
}

void tst_KubeconfigExec::execEntries()
{
    using Mode = ExecConfig::InteractiveMode;
    QFETCH(const QString, context);
    QFETCH(const Mode, mode);
    const auto loaded
        = loadClusterConfig({data("B01-kubeconfig.yaml"), context}, environmentOf({}));
    if (mode == Mode::Unset) {
        QVERIFY(!loaded.isOk());
        QCOMPARE(loaded.error().code(), ErrorCode::InvalidConfiguration);
        QCOMPARE(loaded.error().message(),
            QStringLiteral("kubeconfig %1: user \"v1-missing\": exec: interactiveMode is missing, "
                           "client.authentication.k8s.io/v1 wants Never, IfAvailable or Always")
                .arg(data("B01-kubeconfig.yaml")));
        return;
    }
    QVERIFY2(loaded.isOk(), qPrintable(loaded.isOk() ? QString() : loaded.error().message()));
    const ExecConfig exec = *loaded.value().exec;
    QCOMPARE(exec.interactiveMode, mode);
    QCOMPARE(exec.command, QDir::cleanPath(data("B01-exec-plugin.sh")));
    QCOMPARE(exec.environment.size(), 2);
    QCOMPARE(exec.environment[1].second, context);
}

void tst_KubeconfigExec::faults_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("sentence"); // after the file and the user
    const auto row = [&](const char *name, const QByteArray &text, const char *sentence) {
        QTest::newRow(name) << text << QString::fromLatin1(sentence);
    };
    row("exec without command",
        config(kServer, "exec: {apiVersion: client.authentication.k8s.io/v1beta1}"),
        "exec: command is missing, name the program");
    row("exec of another version",
        config(kServer, "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"),
        "exec: apiVersion \"client.authentication.k8s.io/v1alpha1\" is neither "
        "client.authentication.k8s.io/v1 nor client.authentication.k8s.io/v1beta1, write the one "
        "that the program knows");
    row("exec without a version", config(kServer, "exec: {command: x, interactiveMode: Never}"),
        "exec: apiVersion is missing, add it, like client.authentication.k8s.io/v1");
    const QByteArray exec = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, ";
    row("exec args that are no list", config(kServer, exec + "args: token}"),
        "exec: args is no list of texts, write it as [\"a\", \"b\"]");
    row("exec args with a number", config(kServer, exec + "args: [-p, 8080]}"),
        "exec: args[1] is no text, put it in quotes");
    row("exec args with NUL", config(kServer, exec + R"(args: ["a\0b"]})"),
        "exec: args[0] holds a NUL character, remove it");
    row("exec command with NUL",
        config(kServer,
            R"(exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: "x\0y"})"),
        "exec: command holds a NUL character, remove it");
    row("exec env that is a map", config(kServer, exec + "env: {A: b}}"),
        "exec: env is no list of maps, write it as [{name: A, value: b}]");
    row("exec env with a number", config(kServer, exec + "env: [{name: A, value: 1}]}"),
        "exec: env[0]: value is no text, put it in quotes");
    row("exec env with NUL", config(kServer, exec + R"(env: [{name: A, value: "a\0b"}]})"),
        "exec: env[0]: value holds a NUL character, remove it");
    row("exec env without name",
        config(kServer,
            "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, env: [{value: "
            "a}]}"),
        "exec: env[0]: name is missing, add it");
    row("exec mode",
        config(kServer,
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: "
            "Sometimes}"),
        "exec: interactiveMode \"Sometimes\" is none of Never, IfAvailable, Always, "
        "write one");
}

void tst_KubeconfigExec::faults()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, sentence);
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("config"));
    write(path, text);
    const auto loaded = loadClusterConfig({path, {}}, environmentOf({}));
    QVERIFY(!loaded.isOk());
    QCOMPARE(loaded.error().code(), ErrorCode::InvalidConfiguration);
    QCOMPARE(loaded.error().message(),
        QStringLiteral("kubeconfig %1: user \"u\": ").arg(path) + sentence);
}

QTEST_GUILESS_MAIN(tst_KubeconfigExec)
#include "tst_kubeconfigexec.moc"
