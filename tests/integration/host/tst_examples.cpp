// Each example as a user has it: built out of the tree, against the installed SDK, with CMake's
// find_package; then loaded by the real davit process, on the embedded server or, with
// DAVIT_REAL_KUBECONFIG, on the cluster that this file names.
#include "apidriver.h"
#include "hostprocess.h"

#include <testing/embeddedapiserver.h>

#include <QProcess>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

class tst_Examples : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void builds_data();
    void builds();
    void staySmall_data() { builds_data(); }
    void staySmall();
    void run01LogEvents();
    void run02ReconcileConfigMap();
    void runReadme();

private:
    // The README's plugin, file by file as it is printed there.
    void writeReadmePlugin();
    // "README", or a folder of examples/.
    QString sourceOf(const QString &folder) const;
    void createPod(const QString &name);
    // A davit process with the example that builds() left; null after a failure.
    std::unique_ptr<HostProcess> startHost(const QString &folder);
    // Runs it; the output when it fails, else empty.
    static QByteArray run(const QStringList &command);

    QTemporaryDir m_dir;
    std::unique_ptr<davit::testing::EmbeddedApiServer> m_server;
    QString m_kubeconfig;
    std::unique_ptr<ApiDriver> m_api;
    QString m_namespace;
};

QByteArray tst_Examples::run(const QStringList &command)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(command.first(), command.mid(1));
    const bool isGood = process.waitForFinished(240'000)
        && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
    return isGood ? QByteArray()
                  : command.join(QLatin1Char(' ')).toUtf8() + '\n' + process.readAll();
}

void tst_Examples::initTestCase()
{
    for (const char *component : {"library", "sdk"}) {
        const QByteArray fault = run(
            {QStringLiteral("cmake"), QStringLiteral("--install"), QStringLiteral(DAVIT_BUILD_DIR),
                QStringLiteral("--component"), QString::fromUtf8(component),
                QStringLiteral("--prefix"), m_dir.filePath(QStringLiteral("prefix"))});
        QVERIFY2(fault.isEmpty(), fault.constData());
    }
    m_kubeconfig = qEnvironmentVariable("DAVIT_REAL_KUBECONFIG");
    if (m_kubeconfig.isEmpty()) {
        m_server = std::make_unique<davit::testing::EmbeddedApiServer>();
        m_kubeconfig = m_dir.filePath(QStringLiteral("kubeconfig"));
        QVERIFY(m_server->start().isOk());
        QVERIFY(m_server->writeKubeconfig(m_kubeconfig).isOk());
    }
    m_api = std::make_unique<ApiDriver>(m_kubeconfig);
    m_namespace
        = QStringLiteral("examples-%1").arg(QRandomGenerator::global()->bounded(100'000, 999'999));
    QVERIFY2(m_api->createNamespace(m_namespace), qPrintable(m_api->lastError));
    writeReadmePlugin();
}

void tst_Examples::writeReadmePlugin()
{
    QFile readme(QStringLiteral(DAVIT_SOURCE_DIR "/README.md"));
    QVERIFY(readme.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(readme.readAll());
    const auto block = [&text](const QString &language) {
        const QRegularExpression form(QStringLiteral("^```%1\\n(.*?)^```$").arg(language),
            QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
        return form.match(text).captured(1);
    };
    const QRegularExpression names(QStringLiteral("SOURCES (\\S+) METADATA (\\S+)\\)"));
    const QRegularExpressionMatch named = names.match(block(QStringLiteral("cmake")));
    QVERIFY2(named.hasMatch(), "the README's CMake block names no files");
    const QDir dir(sourceOf(QStringLiteral("README")));
    QVERIFY(dir.mkpath(QStringLiteral(".")));
    const std::pair<QString, QString> files[] = {
        {QStringLiteral("CMakeLists.txt"), QStringLiteral("cmake")},
        {named.captured(1), QStringLiteral("cpp")}, {named.captured(2), QStringLiteral("json")}};
    for (const auto &[name, language] : files) {
        QFile file(dir.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(block(language).toUtf8());
    }
}

QString tst_Examples::sourceOf(const QString &folder) const
{
    return folder == QStringLiteral("README")
        ? m_dir.filePath(QStringLiteral("readme-source"))
        : QStringLiteral(DAVIT_SOURCE_DIR "/examples/") + folder;
}

void tst_Examples::createPod(const QString &name)
{
    const QJsonObject container{{QStringLiteral("name"), QStringLiteral("web")},
        {QStringLiteral("image"), QStringLiteral("registry.example/web:1")}};
    QVERIFY2(m_api->create(QStringLiteral("pods"), m_namespace,
                 {{QStringLiteral("apiVersion"), QStringLiteral("v1")},
                     {QStringLiteral("kind"), QStringLiteral("Pod")},
                     {QStringLiteral("metadata"), QJsonObject{{QStringLiteral("name"), name}}},
                     {QStringLiteral("spec"),
                         QJsonObject{{QStringLiteral("containers"), QJsonArray{container}}}}}),
        qPrintable(m_api->lastError));
}

std::unique_ptr<HostProcess> tst_Examples::startHost(const QString &folder)
{
    auto davit = std::make_unique<HostProcess>();
    davit->run({QStringLiteral("--plugin-dir"), m_dir.filePath(folder + QStringLiteral("/plugins")),
        QStringLiteral("--kubeconfig"), m_kubeconfig});
    if (davit->waitForLine("plugin state", "state", QStringLiteral("Running")))
        return davit;
    qWarning("%s", davit->errorText().constData());
    return {};
}

void tst_Examples::builds_data()
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("plugin");
    QTest::newRow("01-log-events")
        << QStringLiteral("01-log-events") << QStringLiteral("log-events.so");
    QTest::newRow("02-reconcile-configmap")
        << QStringLiteral("02-reconcile-configmap") << QStringLiteral("reconcile-configmap.so");
    QTest::newRow("README") << QStringLiteral("README") << QStringLiteral("pod-log.so");
}

void tst_Examples::builds()
{
    QFETCH(const QString, folder);
    QFETCH(const QString, plugin);
    const QString build = m_dir.filePath(folder);
    QByteArray fault = run({QStringLiteral("cmake"), QStringLiteral("-G"), QStringLiteral("Ninja"),
        QStringLiteral("-S"), sourceOf(folder), QStringLiteral("-B"), build,
        QStringLiteral("-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wno-psabi -Werror"),
        QStringLiteral("-DCMAKE_PREFIX_PATH=") + m_dir.filePath(QStringLiteral("prefix"))});
    QVERIFY2(fault.isEmpty(), fault.constData());
    fault = run({QStringLiteral("cmake"), QStringLiteral("--build"), build});
    QVERIFY2(fault.isEmpty(), fault.constData());
    fault = run({QStringLiteral(DAVIT_BUILD_DIR "/bin/davit"), QStringLiteral("plugin"),
        QStringLiteral("inspect"), build + QStringLiteral("/plugins/") + plugin});
    QVERIFY2(fault.isEmpty(), fault.constData());
}

// One idea each, under 100 lines, the CMake file included.
void tst_Examples::staySmall()
{
    QFETCH(const QString, folder);
    qsizetype lines = 0;
    const QDir dir(sourceOf(folder));
    for (const QString &name : dir.entryList(QDir::Files)) {
        QFile file(dir.filePath(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const qsizetype count = file.readAll().count('\n');
        if (!name.endsWith(QStringLiteral(".md")))
            lines += count;
        if (folder == QStringLiteral("README") && name.endsWith(QStringLiteral(".cpp")))
            QVERIFY2(count <= 30, qPrintable(QString::number(count))); // as its title says
    }
    QVERIFY2(lines > 10 && lines < 100, qPrintable(QString::number(lines)));
}

void tst_Examples::run01LogEvents()
{
    const std::unique_ptr<HostProcess> davit = startHost(QStringLiteral("01-log-events"));
    QVERIFY(davit);
    QVERIFY2(davit->waitForLine("all Pods are known"), davit->errorText().constData());
    const QString pod = m_namespace + QStringLiteral("/web");
    createPod(QStringLiteral("web"));
    QVERIFY2(davit->waitForLine("pod added", "pod", pod), davit->errorText().constData());
    const QJsonObject labels{{QStringLiteral("a"), QStringLiteral("b")}};
    QVERIFY(m_api->mergePatch(QStringLiteral("pods"), m_namespace, QStringLiteral("web"),
        {{QStringLiteral("metadata"), QJsonObject{{QStringLiteral("labels"), labels}}}}));
    QVERIFY2(davit->waitForLine("pod updated", "pod", pod), davit->errorText().constData());
    QVERIFY(m_api->remove(QStringLiteral("pods"), m_namespace, QStringLiteral("web")));
    QVERIFY2(davit->waitForLine("pod deleted", "pod", pod), davit->errorText().constData());
    QCOMPARE(davit->stop(), 0);
}

void tst_Examples::run02ReconcileConfigMap()
{
    const std::unique_ptr<HostProcess> davit = startHost(QStringLiteral("02-reconcile-configmap"));
    QVERIFY(davit);
    const QString configMaps = QStringLiteral("configmaps");
    const QString name = QStringLiteral("counted");
    const auto entries = [&] {
        return m_api->find(configMaps, m_namespace, name)[QLatin1StringView("metadata")]
            .toObject()[QLatin1StringView("annotations")]
            .toObject()[QLatin1StringView("example.davit.dev/entries")]
            .toString();
    };
    const QJsonObject labels{{QStringLiteral("example.davit.dev/counted"), QStringLiteral("true")}};
    QVERIFY2(
        m_api->create(configMaps, m_namespace,
            {{QStringLiteral("apiVersion"), QStringLiteral("v1")},
                {QStringLiteral("kind"), QStringLiteral("ConfigMap")},
                {QStringLiteral("metadata"),
                    QJsonObject{
                        {QStringLiteral("name"), name}, {QStringLiteral("labels"), labels}}},
                {QStringLiteral("data"), QJsonObject{{QStringLiteral("x"), QStringLiteral("1")}}}}),
        qPrintable(m_api->lastError));
    QTRY_COMPARE_WITH_TIMEOUT(entries(), QStringLiteral("1"), 15000);
    QVERIFY(m_api->mergePatch(configMaps, m_namespace, name,
        {{QStringLiteral("data"), QJsonObject{{QStringLiteral("y"), QStringLiteral("2")}}}}));
    QTRY_COMPARE_WITH_TIMEOUT(entries(), QStringLiteral("2"), 15000);
    QCOMPARE(davit->stop(), 0);
}

void tst_Examples::runReadme()
{
    const std::unique_ptr<HostProcess> davit = startHost(QStringLiteral("README"));
    QVERIFY(davit);
    createPod(QStringLiteral("readme"));
    QVERIFY2(davit->waitForLine("pod added", "pod", m_namespace + QStringLiteral("/readme")),
        davit->errorText().constData());
    QCOMPARE(davit->stop(), 0);
}

QTEST_GUILESS_MAIN(tst_Examples)
#include "tst_examples.moc"
