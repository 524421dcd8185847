// Reads every #include of sdk/ and runtime/ against runtime/layers.txt, those of plugins/ and
// examples/ against what the SDK installs, and shows on made-up includes that a wrong one is seen.
#include "layerrules.h"

#include <QDirIterator>
#include <QTest>

using namespace Qt::StringLiterals;

class tst_Layers : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void includes();
    void madeUp_data();
    void madeUp();
    void foldersAreLayers_data();
    void foldersAreLayers();
    void tree_data();
    void tree();
    void operatorIncludes_data();
    void operatorIncludes();
    void operators_data();
    void operators();

private:
    QString m_text;
};

static QByteArray readAll(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// What operators and examples may include: the SDK's public headers, Qt, std and files of their own
// folder.
static bool isForOperators(const QString &include)
{
    if (include.startsWith(u"davit/"_s))
        return QFile::exists(QStringLiteral(DAVIT_SOURCE_DIR) + u"/sdk/include/"_s + include)
            && include.count(u'/') == 1;
    return !include.contains(u'/') || include.startsWith(u"Qt"_s);
}

void tst_Layers::initTestCase()
{
    m_text
        = QString::fromUtf8(readAll(QStringLiteral(DAVIT_SOURCE_DIR) + u"/runtime/layers.txt"_s));
    QVERIFY2(!m_text.isEmpty(), "runtime/layers.txt cannot be read");
    QCOMPARE(LayerRules(m_text).unknownLines(), QStringList());
}

void tst_Layers::includes()
{
    const QByteArray source = "#pragma once\n#include \"store.h\"\n  # include <davit/object.h>\n"
                              "// #include \"commented.h\"\n#include <vector>\n";
    const QStringList want{u"store.h"_s, u"davit/object.h"_s, u"vector"_s};
    QCOMPARE(LayerRules::includesOf(source), want);
}

void tst_Layers::madeUp_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("include");
    QTest::addColumn<QString>("fault"); // empty: allowed
    const auto row = [](const char *name, const char *file, const char *include, const char *why) {
        QTest::newRow(name) << QString::fromLatin1(file) << QString::fromLatin1(include)
                            << QString::fromLatin1(why);
    };
    row("own header", "runtime/cache/store.cpp", "store.h", "");
    row("left neighbour", "runtime/cache/reflector.cpp", "codec/watchdecoder.h", "");
    row("far left", "runtime/host/main.cpp", "support/strand.h", "");
    row("Qt", "runtime/cache/store.h", "QtCore/qstring.h", "");
    row("another library", "runtime/web/server.cpp", "httplib.h", "");
    row("the SDK's private headers are the SDK", "runtime/cache/a.cpp", "davit/priv/backends.h",
        "");
    row("the host uses testing", "runtime/host/embedded.cpp", "testing/embeddedapiserver.h", "");
    row("testing uses support through the SDK", "sdk/testing/a.cpp", "support/patch.h", "");
    row("up", "runtime/codec/a.cpp", "cache/store.h",
        "runtime/codec/a.cpp (codec) includes cache/store.h (cache)");
    row("up by a relative path", "runtime/codec/a.cpp", "../cache/store.h",
        "runtime/codec/a.cpp (codec) includes ../cache/store.h (cache)");
    row("support includes the SDK", "sdk/support/a.h", "davit/object.h",
        "sdk/support/a.h (support) includes davit/object.h (sdk)");
    row("the SDK includes a runtime layer", "sdk/src/informer.cpp", "cache/store.h",
        "sdk/src/informer.cpp (sdk) includes cache/store.h (cache)");
    row("apart, against the order", "runtime/transport/a.cpp", "codec/lineframer.h",
        "runtime/transport/a.cpp (transport) includes codec/lineframer.h (codec)");
    row("apart, along the order", "runtime/client/a.cpp", "cache/store.h",
        "runtime/client/a.cpp (client) includes cache/store.h (cache)");
    row("testing includes the runtime", "sdk/testing/a.cpp", "codec/lineframer.h",
        "sdk/testing/a.cpp (testing) includes codec/lineframer.h (codec)");
    row("the runtime includes testing", "runtime/cache/a.cpp", "testing/manualclock.h",
        "runtime/cache/a.cpp (cache) includes testing/manualclock.h (testing)");
    row("a folder that no rule names", "runtime/utilities/a.cpp", "vector",
        "runtime/utilities/a.cpp lies in no layer of runtime/layers.txt");
}

void tst_Layers::madeUp()
{
    QFETCH(const QString, file);
    QFETCH(const QString, include);
    QTEST(LayerRules(m_text).fault(file, include), "fault");
}

void tst_Layers::foldersAreLayers_data()
{
    QTest::addColumn<QString>("top");
    QTest::addColumn<QStringList>("others"); // folders that hold no layer
    QTest::newRow("runtime") << u"runtime"_s << QStringList{u"docs"_s};
    QTest::newRow("sdk") << u"sdk"_s
                         << QStringList{u"abi"_s, u"cmake"_s, u"codegen"_s, u"docs"_s, u"include"_s,
                                u"private"_s, u"src"_s};
}

void tst_Layers::foldersAreLayers()
{
    QFETCH(const QString, top);
    QFETCH(const QStringList, others);
    const LayerRules rules(m_text);
    QStringList unknown;
    const auto folders = QDir(QStringLiteral(DAVIT_SOURCE_DIR) + QLatin1Char('/') + top)
                             .entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &folder : folders) {
        if (!rules.layers().contains(folder) && !others.contains(folder))
            unknown.append(folder);
    }
    QCOMPARE(unknown, QStringList());
}

void tst_Layers::tree_data()
{
    QTest::addColumn<QString>("layer");
    const auto layers = LayerRules(m_text).layers();
    for (const QString &layer : layers)
        QTest::newRow(qPrintable(layer)) << layer;
}

void tst_Layers::tree()
{
    QFETCH(const QString, layer);
    const LayerRules rules(m_text);
    const QDir root(QStringLiteral(DAVIT_SOURCE_DIR));
    QStringList faults;
    for (const char *top : {"sdk", "runtime"}) {
        QDirIterator files(root.filePath(QString::fromLatin1(top)), {u"*.h"_s, u"*.cpp"_s},
            QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const QString path = files.next();
            const QString name = root.relativeFilePath(path);
            if (rules.layerOfFile(name) != layer)
                continue;
            const QStringList includes = LayerRules::includesOf(readAll(path));
            for (const QString &include : includes) {
                const QString fault = rules.fault(name, include);
                if (!fault.isEmpty())
                    faults.append(fault);
            }
        }
    }
    QCOMPARE(faults, QStringList());
}

void tst_Layers::operatorIncludes_data()
{
    QTest::addColumn<QString>("include");
    QTest::addColumn<bool>("isAllowed");
    QTest::newRow("a public header") << u"davit/informer.h"_s << true;
    QTest::newRow("a file beside it") << u"claims.h"_s << true;
    QTest::newRow("moc") << u"replicatorplugin.moc"_s << true;
    QTest::newRow("Qt") << u"QtCore/qtimer.h"_s << true;
    QTest::newRow("std") << u"memory"_s << true;
    QTest::newRow("a private header") << u"davit/priv/backends.h"_s << false;
    QTest::newRow("a header that is not there") << u"davit/nosuch.h"_s << false;
    QTest::newRow("support") << u"support/strand.h"_s << false;
    QTest::newRow("the runtime") << u"cache/store.h"_s << false;
    QTest::newRow("by a relative path") << u"../../runtime/cache/store.h"_s << false;
    QTest::newRow("another library") << u"simdjson/simdjson.h"_s << false;
}

void tst_Layers::operatorIncludes()
{
    QFETCH(const QString, include);
    QTEST(isForOperators(include), "isAllowed");
}

void tst_Layers::operators_data()
{
    QTest::addColumn<int>("leastFiles");
    QTest::newRow("plugins") << 3;
    QTest::newRow("examples") << 2;
}

void tst_Layers::operators()
{
    QFETCH(const int, leastFiles);
    const QDir root(QStringLiteral(DAVIT_SOURCE_DIR));
    QStringList faults;
    int seen = 0;
    QDirIterator files(root.filePath(QString::fromLatin1(QTest::currentDataTag())),
        {u"*.h"_s, u"*.cpp"_s}, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        const QString path = files.next();
        ++seen;
        for (const QString &include : LayerRules::includesOf(readAll(path)))
            if (!isForOperators(include))
                faults += root.relativeFilePath(path) + u" includes "_s + include;
    }
    QCOMPARE(faults, QStringList());
    QVERIFY(seen >= leastFiles);
}

QTEST_GUILESS_MAIN(tst_Layers)
#include "tst_layers.moc"
