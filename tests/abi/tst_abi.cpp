// The binary interface: the symbols and types of libDavitSdk against what is committed, that a
// broken header is noticed, and that a plugin built from the headers of 1.0 still runs. Types are
// compared on Debian 12 only, whose compiler the description was made with.
#include "../plugins/fakeservices.h"

#include "pluginhost/eventloopexecutor.h"
#include "pluginhost/guardedapplication.h"
#include "pluginhost/pluginmanager.h"

#include <QTest>
#include <QtCore/qdir.h>
#include <QtCore/qprocess.h>
#include <QtCore/qregularexpression.h>
#include <QtCore/qtemporarydir.h>

using namespace davit;
using namespace davit::pluginhost;

namespace {

const QString kSource = QStringLiteral(DAVIT_SOURCE_DIR);
const QString kBuild = QStringLiteral(DAVIT_BUILD_DIR);
const QString kTool = kSource + QLatin1StringView("/sdk/abi/abi");
const QString kLibrary = kBuild + QLatin1StringView("/lib/libDavitSdk.so");

struct Ran
{
    int exitCode = -1;
    QByteArray output; // both streams
};

Ran run(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, arguments);
    if (!process.waitForFinished(300'000))
        return {-1, program.toUtf8() + ": " + process.errorString().toUtf8()};
    return {process.exitCode(), process.readAll()};
}

QByteArray contents(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// Whether types can be compared: the committed description is of Debian 12's compiler.
bool isReferenceSystem()
{
    const QByteArray os = contents(QStringLiteral("/etc/os-release"));
    return os.contains("\nID=debian\n") && os.contains("\nVERSION_ID=\"12\"\n");
}

QStringList lines(const QByteArray &text)
{
    return QString::fromUtf8(text).split(u'\n', Qt::SkipEmptyParts);
}

} // namespace

class tst_Abi : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void symbols();
    void types();
    void brokenHeader_data();
    void brokenHeader();
    void frozenHeadersAreThoseOf10();
    void frozenPluginRuns();

private:
    QString buildCopy(const QString &change, const QString &replacement, const QString &header,
        const QString &source);

    QTemporaryDir m_dir;
    QHash<QString, QString> m_goodCopies; // by source
};

void tst_Abi::symbols()
{
    const Ran now = run(kTool, {QStringLiteral("symbols"), kLibrary});
    QCOMPARE(now.exitCode, 0);
    const QStringList committed
        = lines(contents(kSource + QStringLiteral("/sdk/abi/symbols-1.txt")));
    const QStringList found = lines(now.output);
    QVERIFY(found.size() > 100);
    QStringList changes;
    for (const QString &symbol : committed)
        if (!found.contains(symbol))
            changes.append(QStringLiteral("- ") + symbol);
    for (const QString &symbol : found)
        if (!committed.contains(symbol))
            changes.append(QStringLiteral("+ ") + symbol);
    QVERIFY2(changes.isEmpty(),
        qPrintable(
            QStringLiteral("exported symbols changed; if that is meant, run sdk/abi/update:\n")
            + changes.join(u'\n')));
}

void tst_Abi::types()
{
    if (!isReferenceSystem()) {
        qInfo(
            "not Debian 12: only the symbol list was compared, since other compilers describe the "
            "library in other words");
        return;
    }
    const Ran diff = run(kTool,
        {QStringLiteral("compare"), kSource + QStringLiteral("/sdk/abi/davit-sdk-1.abi.xml"),
            kLibrary, kSource + QStringLiteral("/sdk/include")});
    QVERIFY2(diff.exitCode == 0,
        ("types changed; if that is meant, run sdk/abi/update:\n" + diff.output).constData());
}

void tst_Abi::brokenHeader_data()
{
    QTest::addColumn<QString>("header");
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("change"); // a regular expression
    QTest::addColumn<QString>("replacement"); // empty: nothing is changed, and nothing is found
    const QString names = QStringLiteral("names.cpp");
    const QString error = QStringLiteral("error.cpp");
    QTest::newRow("unchanged") << QStringLiteral("objectkey.h") << names << QString() << QString();
    QTest::newRow("a member is added to a frozen struct")
        << QStringLiteral("objectkey.h") << names << QStringLiteral("(QString name;)\n")
        << QStringLiteral("\\1\n    int added = 0;\n");
    QTest::newRow("an enumerator is inserted")
        << QStringLiteral("error.h") << error << QStringLiteral("(    Conflict, )")
        << QStringLiteral("    Inserted,\n\\1");
}

// A library of one source, with the header changed, against a description of the unchanged one.
void tst_Abi::brokenHeader()
{
    QFETCH(const QString, header);
    QFETCH(const QString, source);
    QFETCH(const QString, change);
    QFETCH(const QString, replacement);
    QString &good = m_goodCopies[source]; // built once
    if (good.isEmpty())
        good = buildCopy(QString(), QString(), header, source);
    const QString bad = change.isEmpty() ? good : buildCopy(change, replacement, header, source);
    QVERIFY(!good.isEmpty() && !bad.isEmpty());
    const QString description = good + QStringLiteral("/abi.xml");
    const Ran described = run(kTool,
        {QStringLiteral("describe"), good + QStringLiteral("/lib.so"),
            good + QStringLiteral("/include"), description});
    QVERIFY2(described.exitCode == 0, described.output.constData());
    const Ran compared = run(kTool,
        {QStringLiteral("compare"), description, bad + QStringLiteral("/lib.so"),
            bad + QStringLiteral("/include")});
    QVERIFY2(compared.exitCode == (change.isEmpty() ? 0 : 1), compared.output.constData());
}

// The folder with include/ and lib.so; empty when it could not be built.
QString tst_Abi::buildCopy(
    const QString &change, const QString &replacement, const QString &header, const QString &source)
{
    static int count = 0;
    const QString folder = m_dir.filePath(QString::number(++count));
    const QString headers = folder + QStringLiteral("/include/davit/");
    QDir().mkpath(headers);
    const QDir original(kSource + QStringLiteral("/sdk/include/davit"));
    const QStringList names = original.entryList(QDir::Files);
    for (const QString &name : names)
        QFile::copy(original.filePath(name), headers + name);
    if (!change.isEmpty()) {
        QString text = QString::fromUtf8(contents(headers + header));
        const QString before = text;
        text.replace(QRegularExpression(change), replacement);
        QFile file(headers + header);
        if (text == before || !file.open(QIODevice::WriteOnly))
            return {};
        file.write(text.toUtf8());
    }
    QStringList arguments = {QStringLiteral("-std=c++20"), QStringLiteral("-g"),
        QStringLiteral("-fPIC"), QStringLiteral("-shared"), QStringLiteral("-DDAVIT_SDK_BUILD"),
        // errorCodeName's table does not fit an inserted enumerator: that is not what is tested.
        QStringLiteral("-Dstatic_assert(...)="),
        QStringLiteral("-I") + folder + QStringLiteral("/include"),
        QStringLiteral("-I") + kSource + QStringLiteral("/sdk/private")};
    const QStringList qtFolders = QStringLiteral(DAVIT_QT_INCLUDES).split(u'|');
    for (const QString &qtFolder : qtFolders)
        arguments << QStringLiteral("-isystem") << qtFolder;
    arguments << kSource + QStringLiteral("/sdk/src/") + source << QStringLiteral("-o")
              << folder + QStringLiteral("/lib.so") << QStringLiteral("-lQt6Core");
    const Ran built = run(QStringLiteral(DAVIT_COMPILER), arguments);
    if (built.exitCode != 0)
        qWarning("%s", built.output.constData());
    return built.exitCode == 0 ? folder : QString();
}

void tst_Abi::frozenHeadersAreThoseOf10()
{
    // Until the first release the frozen headers follow the living ones, by sdk/abi/update.
    const QDir frozen(kSource + QStringLiteral("/tests/abi/frozen-1.0/include/davit"));
    const QDir living(kSource + QStringLiteral("/sdk/include/davit"));
    const QStringList names = frozen.entryList(QDir::Files);
    QVERIFY(names.contains(QStringLiteral("controllerplugin.h")));
    for (const QString &name : names)
        QVERIFY2(QFile::exists(living.filePath(name)),
            qPrintable(
                name + QStringLiteral(" is gone: a plugin that includes it no longer builds")));
}

void tst_Abi::frozenPluginRuns()
{
    static EventLoopExecutor *const executor = new EventLoopExecutor; // as long as the process
    static FakeServices *const services = new FakeServices;
    PluginHostSettings settings;
    settings.stateDir = m_dir.path();
    PluginManager manager(*services, *executor, support::systemTimeSource(), settings);
    QVERIFY(manager.scan({kBuild + QStringLiteral("/tests/frozen-plugins/frozen.so")}).isOk());
    manager.start();
    QTRY_VERIFY(manager.isSettled());
    const PluginSpec &frozen = *manager.specs().at(0);
    QVERIFY2(frozen.state() == PluginState::Running, qPrintable(frozen.reason()));
    QCOMPARE(services->controllers, QStringList{QStringLiteral("frozen/frozen")});
    bool isStopped = false;
    manager.stop(std::chrono::seconds(5), [&](const QStringList &) { isStopped = true; });
    QTRY_VERIFY(isStopped);
    QCOMPARE(frozen.state(), PluginState::Retired);
}

int main(int argc, char **argv)
{
    qputenv("QTEST_FUNCTION_TIMEOUT", "1200000"); // it compiles: two slow cores need minutes
    GuardedApplication app(argc, argv);
    tst_Abi test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_abi.moc"
