// What a plugin author does: installs the SDK, and builds an operator against it in another tree.
#include <QTest>
#include <QtCore/qdir.h>
#include <QtCore/qpluginloader.h>
#include <QtCore/qprocess.h>
#include <QtCore/qtemporarydir.h>

namespace {

const QString kBuild = QStringLiteral(DAVIT_BUILD_DIR);
const QString kExample = QStringLiteral(DAVIT_SOURCE_DIR "/examples/01-log-events");

} // namespace

class tst_Install : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void headersAreWhole();
    void davitFindsWhatIsInstalled();
    void operatorBuilds();
    void exportsTwoSymbols();
    void noLazyBindingNoUniqueSymbols();
    void changedMetadataIsBuiltIn();
    void brokenMetadataFails_data();
    void brokenMetadataFails();

private:
    bool run(const QString &program, const QStringList &arguments);
    QString path(const char *name) const { return m_dir.filePath(QString::fromLatin1(name)); }

    QTemporaryDir m_dir;
    QByteArray m_output;
};

bool tst_Install::run(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, arguments);
    const bool isDone = process.waitForFinished(300'000);
    m_output = process.readAll();
    if (!isDone || process.exitCode() != 0)
        qWarning("%s: %s", qUtf8Printable(program), m_output.constData());
    return isDone && process.exitCode() == 0;
}

void tst_Install::initTestCase()
{
    for (const char *component : {"sdk", "library", "Unspecified"})
        QVERIFY(run(QStringLiteral("cmake"),
            {QStringLiteral("--install"), kBuild, QStringLiteral("--prefix"), path("prefix"),
                QStringLiteral("--component"), QString::fromLatin1(component)}));
    const QDir example(kExample);
    QVERIFY(QDir().mkpath(path("operator")));
    const QStringList files = example.entryList(QDir::Files);
    for (const QString &file : files)
        QVERIFY(QFile::copy(example.filePath(file), path("operator/") + file));
}

void tst_Install::headersAreWhole()
{
    const QStringList installed = QDir(path("prefix/include/davit")).entryList(QDir::Files);
    QCOMPARE(installed,
        QDir(QStringLiteral(DAVIT_SOURCE_DIR "/sdk/include/davit")).entryList(QDir::Files));
    QVERIFY(!QFile::exists(path("prefix/include/davit/priv")));
    QVERIFY(QFile::exists(path("prefix/share/davit/metadata.schema.json")));
}

// Wherever the prefix is: the default plugin directory lies in it, and its plugins find the SDK.
void tst_Install::davitFindsWhatIsInstalled()
{
    const QString plugins = path("prefix/lib/davit/plugins");
    QVERIFY(run(path("prefix/bin/davit"), {QStringLiteral("run"), QStringLiteral("--help")}));
    QVERIFY2(m_output.simplified().contains("[" + plugins.toUtf8() + "]"), m_output.constData());
    const QString plugin = plugins + QStringLiteral("/replicator.so");
    QVERIFY(run(
        path("prefix/bin/davit"), {QStringLiteral("plugin"), QStringLiteral("inspect"), plugin}));
    QVERIFY(run(QStringLiteral("ldd"), {plugin}));
    const qsizetype sdk = m_output.indexOf("libDavitSdk.so.1 => ");
    QVERIFY2(
        sdk >= 0 && m_output.mid(sdk, m_output.indexOf('\n', sdk) - sdk).contains("/prefix/lib"),
        m_output.constData());
    // In a build tree, which has no such folder, it is that of the distribution.
    QVERIFY(run(
        kBuild + QStringLiteral("/bin/davit"), {QStringLiteral("run"), QStringLiteral("--help")}));
    QVERIFY2(m_output.contains("[/usr/lib/davit/plugins]"), m_output.constData());
}

void tst_Install::operatorBuilds()
{
    QStringList arguments = {QStringLiteral("-G"), QStringLiteral("Ninja"), QStringLiteral("-S"),
        path("operator"), QStringLiteral("-B"), path("build"),
        QStringLiteral("-DCMAKE_PREFIX_PATH=") + path("prefix"),
        QStringLiteral("-DCMAKE_CXX_COMPILER=" DAVIT_COMPILER)};
    if (const QByteArray flags = DAVIT_SANITIZER_FLAGS; !flags.isEmpty())
        arguments << QStringLiteral("-DCMAKE_CXX_FLAGS=") + QString::fromLatin1(flags);
    QVERIFY(run(QStringLiteral("cmake"), arguments));
    QVERIFY(run(QStringLiteral("cmake"), {QStringLiteral("--build"), path("build")}));
    QVERIFY(QFile::exists(path("build/plugins/log-events.so")));
}

void tst_Install::exportsTwoSymbols()
{
    QVERIFY(run(QStringLiteral("nm"),
        {QStringLiteral("--dynamic"), QStringLiteral("--defined-only"),
            QStringLiteral("--format=just-symbols"), path("build/plugins/log-events.so")}));
    QCOMPARE(m_output, QByteArray("qt_plugin_instance\nqt_plugin_query_metadata_v2\n"));
}

void tst_Install::noLazyBindingNoUniqueSymbols()
{
    QVERIFY(run(QStringLiteral("readelf"),
        {QStringLiteral("--wide"), QStringLiteral("--dynamic"), QStringLiteral("--symbols"),
            path("build/plugins/log-events.so")}));
    QVERIFY(m_output.contains("BIND_NOW"));
    QVERIFY(!m_output.contains(" UNIQUE "));
    QVERIFY(m_output.contains("libDavitSdk.so.1"));
}

void tst_Install::changedMetadataIsBuiltIn()
{
    const QString plugin = path("build/plugins/log-events.so");
    const auto description = [&] {
        return QPluginLoader(plugin)
            .metaData()
            .value(QStringLiteral("MetaData"))
            .toObject()
            .value(QStringLiteral("Version"))
            .toString();
    };
    const QString before = description();
    QVERIFY(!before.isEmpty());
    QFile json(path("operator/log-events.json"));
    QVERIFY(json.open(QIODevice::ReadOnly));
    QByteArray text = json.readAll();
    json.close();
    text.replace('"' + before.toUtf8() + '"', "\"98.7.6\"");
    QVERIFY(json.open(QIODevice::WriteOnly));
    json.write(text);
    json.close();
    QVERIFY(run(QStringLiteral("cmake"), {QStringLiteral("--build"), path("build")}));
    QCOMPARE(description(), QStringLiteral("98.7.6"));
}

void tst_Install::brokenMetadataFails_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("fault");
    QTest::newRow("a comma is missing")
        << QByteArray(R"({ "Id": "log-events" "Version": "1.0.0" })")
        << QByteArray("failed parsing json string");
    QTest::newRow("a comma too many") << QByteArray(R"({ "Id": "log-events", })")
                                      << QByteArray("a comma before a closing bracket");
    QTest::newRow("a list") << QByteArray(R"([ "log-events" ])") << QByteArray("of type ARRAY");
    QTest::newRow("nothing") << QByteArray() << QByteArray("failed parsing json string");
}

// moc would only warn, and the plugin would have no metadata.
void tst_Install::brokenMetadataFails()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QByteArray, fault);
    QFile json(path("operator/log-events.json"));
    QVERIFY(json.open(QIODevice::WriteOnly));
    json.write(text);
    json.close();
    QVERIFY(!run(QStringLiteral("cmake"), {path("build")}));
    const QByteArray told = m_output.simplified();
    QVERIFY2(told.contains("log-events.json is no JSON object:"), told.constData());
    QVERIFY2(told.contains(fault), told.constData());
}

int main(int argc, char **argv)
{
    qputenv("QTEST_FUNCTION_TIMEOUT", "1200000"); // it compiles: two slow cores need minutes
    QCoreApplication app(argc, argv);
    tst_Install test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_install.moc"
