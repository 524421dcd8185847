// All fixtures in one host, on the real cache, client and controllers, against an API server in
// memory: each ends where its row says, and the good one works before, during and after.
#include "host/inspect.h"
#include "host/runtimeservices.h"
#include "pluginhost/eventloopexecutor.h"
#include "pluginhost/guardedapplication.h"
#include "pluginhost/pluginfilewatch.h"
#include "pluginhost/pluginmanager.h"
#include "pluginhost/trialload.h"
#include "testing/embeddedapiserver.h"

#include <QAbstractEventDispatcher>
#include <QTest>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qtemporarydir.h>
#include <unistd.h>

using namespace davit;
using namespace davit::pluginhost;
using namespace std::chrono_literals;

namespace {

// This program, as main() understands it.
QStringList trialProgram()
{
    return {QStringLiteral("/proc/self/exe"), QStringLiteral("--try")};
}

const QString kFixtures = QStringLiteral(DAVIT_BUILD_DIR "/tests/fixture-plugins/");

// Keeps lines of errors, as "message|key=value|…".
class ErrorLines final : public priv::LogBackend
{
public:
    bool isEnabled(LogLevel level) const noexcept override { return level == LogLevel::Error; }
    void write(LogLevel, const QString &, const char *message, const LogField *fields,
        qsizetype count) noexcept override
    {
        QString line = QString::fromLatin1(message);
        for (qsizetype i = 0; i < count; ++i)
            line += u'|' + QString::fromLatin1(fields[i].key) + u'=' + fields[i].value.toString();
        const std::lock_guard lock(m_mutex);
        m_lines.append(line);
    }
    bool contains(const QStringList &parts) const
    {
        const std::lock_guard lock(m_mutex);
        return std::any_of(m_lines.begin(), m_lines.end(), [&](const QString &line) {
            return std::all_of(parts.begin(), parts.end(),
                [&](const QString &part) { return line.contains(part); });
        });
    }

private:
    mutable std::mutex m_mutex;
    QStringList m_lines;
};

// One host: services and plugins on an API server.
struct Host
{
    explicit Host(const testing::EmbeddedApiServer &server)
    {
        transport::ClusterConfig cluster;
        cluster.source = QStringLiteral("the test");
        cluster.server = QUrl(server.url());
        services = std::make_unique<host::RuntimeServices>(
            cluster, support::systemTimeSource(), log, metrics);
        services->start();
    }

    Status run(const QString &stateDir, const QStringList &places)
    {
        PluginHostSettings settings;
        settings.stateDir = stateDir;
        settings.trialProgram = trialProgram();
        settings.initializeLimit = 1s;
        manager = std::make_unique<PluginManager>(
            *services, executor, support::systemTimeSource(), settings);
        manager->setOnChanged([](const PluginSpec &) {});
        const Status status = manager->scan(places);
        if (status.isOk())
            manager->start();
        return status;
    }

    const PluginSpec *spec(const QString &id) const
    {
        for (const auto &spec : manager->specs())
            if (spec->id() == id)
                return spec.get();
        return nullptr;
    }

    bool stop(std::chrono::nanoseconds limit)
    {
        bool isStopped = false;
        manager->stop(limit, [&](const QStringList &) { isStopped = true; });
        const bool isInTime = QTest::qWaitFor([&] { return isStopped; }, 15000);
        services->stopInformers();
        return isInTime;
    }

    ErrorLines log;
    observability::MetricsRegistry metrics;
    EventLoopExecutor executor;
    std::unique_ptr<host::RuntimeServices> services;
    std::unique_ptr<PluginManager> manager;
};

} // namespace

class tst_PluginHost : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void inspects_data();
    void inspects();
    void endStates_data();
    void endStates();
    void goodReconcilesDuringAndAfter();
    void poisonedKeysBackOff();
    void throwingSlotHearsOn();
    void stop();
    void loadedTwiceInBothOrders_data();
    void loadedTwiceInBothOrders();
    void changedFiles();
    void eventLoops();

private:
    void putConfigMaps(const QString &prefix, int count);
    int labelled(const QString &prefix);
    double metric(const QString &series) const;

    testing::EmbeddedApiServer m_server;
    QTemporaryDir m_state;
    Host *m_host = nullptr; // lives as long as the process
};

void tst_PluginHost::initTestCase()
{
    QVERIFY(m_server.start().isOk());
    putConfigMaps(QStringLiteral("early"), 50);
    putConfigMaps(QStringLiteral("p"), 5);
    static Host *const host = new Host(m_server); // plugin code may come back late
    m_host = host;
    const Status status = m_host->run(m_state.path(), {kFixtures});
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
}

void tst_PluginHost::putConfigMaps(const QString &prefix, int count)
{
    for (int i = 0; i < count; ++i) {
        const QString json = QStringLiteral(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"%1-%2"}})")
                                 .arg(prefix)
                                 .arg(i);
        const Status status = m_server.put(json.toUtf8());
        QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    }
}

// ConfigMaps of that prefix that the good plugin has been at.
int tst_PluginHost::labelled(const QString &prefix)
{
    const auto answer = m_server.request("GET", "/api/v1/namespaces/default/configmaps");
    const QJsonArray items
        = QJsonDocument::fromJson(answer.body).object().value(QStringLiteral("items")).toArray();
    int count = 0;
    for (const QJsonValue &item : items) {
        const QJsonObject metadata = item[QStringLiteral("metadata")].toObject();
        const QString seen = metadata[QStringLiteral("labels")][QStringLiteral("seen")].toString();
        count += metadata.value(QStringLiteral("name")).toString().startsWith(prefix + u'-')
            && seen == u"true";
    }
    return count;
}

double tst_PluginHost::metric(const QString &series) const
{
    const QList<QByteArray> lines = m_host->metrics.text().split('\n');
    for (const QByteArray &line : lines)
        if (line.startsWith(series.toUtf8() + ' '))
            return line.mid(series.size() + 1).toDouble();
    return 0;
}

void tst_PluginHost::inspects_data()
{
    QTest::addColumn<QString>("plugin");
    QTest::addColumn<bool>("isGood");
    QTest::addColumn<QStringList>("lines");
    const auto row = [](const char *name, const char *plugin, bool isGood, QStringList lines) {
        QTest::newRow(name) << QString::fromLatin1(plugin) << isGood << lines;
    };
    const QString good = QStringLiteral("  metadata     good; ");
    row("good metadata", "good", true, {QStringLiteral("  is           Labels "), good});
    row("CRDs are nobody's job yet", "good", true,
        {QStringLiteral("  CRD file     crds/thing.yaml\n"),
            QStringLiteral("  warning      davit does not install CRDs yet; ")});
    row("a kind that is installed", "optionalkind", true,
        {QStringLiteral(
            "  davit may    list, watch: customresourcedefinitions.apiextensions.k8s.io")});
    row("no promise about its symbols", "missingsymbol", true, {good});
    row("refused", "newersdk", false, {QStringLiteral("  metadata     refused: ")});
}

void tst_PluginHost::inspects()
{
    QFETCH(const QString, plugin);
    QFETCH(const bool, isGood);
    QFETCH(const QStringList, lines);
    bool isGoodNow = true;
    const QString text
        = host::inspectPlugin(kFixtures + plugin + QStringLiteral(".so"), &isGoodNow);
    QCOMPARE(isGoodNow, isGood);
    for (const QString &line : lines)
        QVERIFY2(text.contains(line), qPrintable(text));
    QVERIFY2(!text.contains(QStringLiteral("would load")), qPrintable(text));
}

void tst_PluginHost::endStates_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<QString>("state");
    QTest::addColumn<QString>("sentence"); // a part of it
    const auto row = [](const char *id, const char *state, const char *sentence) {
        QTest::newRow(id) << QString::fromLatin1(id) << QString::fromLatin1(state)
                          << QString::fromLatin1(sentence);
    };
    row("good", "Running", "");
    row("optional-kind", "Running", "");
    row("bad-metadata", "Refused", "badmetadata.so: metadata field Version must be a string");
    row("wrong-iid", "Refused", "wrongiid.so: its IID is \"org.example.SomethingElse/1\", not");
    row("newer-sdk", "Refused", "newersdk.so: it was built for SDK ABI 2, this host has 1;");
    row("missing-symbol", "Refused", "undefined symbol: _Z24fixtureThatNobodyDefinesv");
    row("bad-load", "Refused", "its static constructors threw: the fixture threw in a static");
    row("circular-a", "Refused",
        "circulara.so: its dependencies form a circle (circular-a -> circular-b -> circular-a)");
    row("circular-b", "Refused",
        "circularb.so: its dependencies form a circle (circular-b -> circular-a -> circular-b)");
    row("undeclared-resource", "Faulted",
        "asked for v1 Secret: its metadata does not declare this kind; add it to Resources");
    row("failing-initialize", "Faulted", "initialize failed: the fixture has no database");
    row("throwing-initialize", "Faulted", "initialize threw: the fixture threw in initialize");
    row("hanging-initialize", "Faulted", "initialize has not returned for 1000 ms");
    row("dependant", "Refused", "it depends on \"failing-initialize\", which is faulted");
    row("no-rights", "Refused", "Rbac does not grant \"watch\" on \"configmaps\" of group \"\"");
    row("misfit", "Refused", "its configuration does not fit its ConfigSchema: n is missing");
    row("throwing-slot", "Faulted",
        "10 faults within 60 s, the last in slot added (v1 ConfigMap): the fixture threw in a "
        "slot");
    row("throwing-timer", "Faulted", "10 faults within 60 s, the last in event (QTimer)");
    row("throwing-reconcile", "Faulted", "10 faults within 60 s, the last in reconcile (");
    row("slow-stop", "Running", "");
}

void tst_PluginHost::endStates()
{
    QFETCH(const QString, id);
    QFETCH(const QString, state);
    QFETCH(const QString, sentence);
    const PluginSpec *spec = m_host->spec(id);
    QVERIFY(spec);
    QTRY_COMPARE_WITH_TIMEOUT(QString(pluginStateName(spec->state())), state, 20000);
    QVERIFY2(sentence.isEmpty() ? spec->reason().isEmpty() : spec->reason().contains(sentence),
        qPrintable(spec->reason()));
}

void tst_PluginHost::goodReconcilesDuringAndAfter()
{
    QTRY_COMPARE_WITH_TIMEOUT(labelled(QStringLiteral("early")), 50, 20000);
    putConfigMaps(QStringLiteral("late"), 50);
    QTRY_COMPARE_WITH_TIMEOUT(labelled(QStringLiteral("late")), 50, 20000);
    QCOMPARE(m_host->spec(QStringLiteral("good"))->state(), PluginState::Running);
}

// B40
void tst_PluginHost::poisonedKeysBackOff()
{
    const auto survived = [this](const char *name) {
        return metric(
            QStringLiteral("fixture_survived_total{name=\"%1\",plugin=\"throwing-reconcile\"}")
                .arg(QLatin1StringView(name)));
    };
    QTRY_VERIFY_WITH_TIMEOUT(survived("p-0") >= 1 && survived("p-1") >= 1, 10000);
    QCOMPARE(survived("p-2") + survived("p-3") + survived("p-4"), 0.0);
    const QString plugin = QStringLiteral("plugin=throwing-reconcile");
    const QString threw = QStringLiteral("plugin code threw");
    QTRY_VERIFY(m_host->log.contains(
        {threw, plugin, QStringLiteral("default/p-2"), QStringLiteral("what=std::bad_alloc")}));
    QTRY_VERIFY(m_host->log.contains({threw, plugin, QStringLiteral("default/p-3"),
        QStringLiteral("what=something that is no std::exception")}));
    QTRY_VERIFY(m_host->log.contains({threw, plugin, QStringLiteral("default/p-4"),
        QStringLiteral("what=the fixture threw from deep inside")}));
    const Status status = m_server.put(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"p-2"},
            "data":{"cure":"yes"}})");
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QTRY_VERIFY_WITH_TIMEOUT(survived("p-2") >= 1, 10000); // no worker was lost
}

void tst_PluginHost::throwingSlotHearsOn()
{
    // 50 early, 5 p and 50 late ones, and each threw.
    QTRY_VERIFY_WITH_TIMEOUT(
        metric(QStringLiteral("fixture_heard_total{plugin=\"throwing-slot\"}")) >= 105, 10000);
}

void tst_PluginHost::stop()
{
    QVERIFY(m_host->stop(1s));
    QCOMPARE(m_host->spec(QStringLiteral("good"))->state(), PluginState::Retired);
    const PluginSpec *slow = m_host->spec(QStringLiteral("slow-stop"));
    QCOMPARE(slow->state(), PluginState::Faulted);
    QVERIFY2(slow->reason().contains(QStringLiteral("shutdown (slow-stop) has not returned")),
        qPrintable(slow->reason()));
    QTest::qWait(2500); // what comes back late finds its host
}

void tst_PluginHost::loadedTwiceInBothOrders_data()
{
    QTest::addColumn<QStringList>("names");
    const QStringList names = {QStringLiteral("good"), QStringLiteral("badload"),
        QStringLiteral("throwingslot"), QStringLiteral("throwingreconcile")};
    QTest::newRow("forth") << names;
    QTest::newRow("back") << QStringList(names.rbegin(), names.rend());
}

void tst_PluginHost::loadedTwiceInBothOrders()
{
    QFETCH(const QStringList, names);
    QStringList places;
    for (const QString &name : names)
        places.append(kFixtures + name + QLatin1StringView(".so"));
    for (int round = 0; round < 2; ++round) {
        const QString prefix = QStringLiteral("%1-%2").arg(names.first()).arg(round);
        Host host(m_server);
        QVERIFY(host.run(m_state.path(), places).isOk());
        const PluginSpec *good = host.spec(QStringLiteral("good"));
        QTRY_COMPARE_WITH_TIMEOUT(good->state(), PluginState::Running, 10000);
        putConfigMaps(prefix, 20);
        QTRY_COMPARE_WITH_TIMEOUT(labelled(prefix), 20, 20000);
        QTRY_COMPARE_WITH_TIMEOUT(
            host.spec(QStringLiteral("throwing-slot"))->state(), PluginState::Faulted, 10000);
        const PluginSpec *thrower = host.spec(QStringLiteral("throwing-reconcile"));
        QTRY_COMPARE_WITH_TIMEOUT(thrower->state(), PluginState::Faulted, 10000);
        QCOMPARE(host.spec(QStringLiteral("bad-load"))->state(), PluginState::Refused);
        const QString reason = thrower->reason();
        QVERIFY2(
            reason.startsWith(QStringLiteral("10 faults within 60 s, the last in reconcile (")),
            qPrintable(reason));
        QVERIFY(host.stop(10s));
        QCOMPARE(good->state(), PluginState::Retired);
        QCOMPARE(thrower->state(), PluginState::Faulted);
        QCOMPARE(thrower->reason(), reason);
    }
}

void tst_PluginHost::changedFiles()
{
    const QTemporaryDir dir;
    const auto path = [&](const char *name) { return dir.filePath(QString::fromLatin1(name)); };
    const auto write = [&](const char *name, const char *text) {
        QFile file(path(name));
        return file.open(QIODevice::Append) && file.write(text) > 0;
    };
    for (const char *name : {"a.so", "b.so", "c.so"})
        QVERIFY(write(name, "1"));
    PluginFileWatch watch({dir.path()});
    QStringList told;
    const auto look = [&] {
        const PluginFileChanges changes = watch.look();
        told.clear();
        for (const QString &file : changes.added)
            told << u'+' + QFileInfo(file).fileName();
        for (const QString &file : changes.replaced)
            told << u'~' + QFileInfo(file).fileName();
        for (const QString &file : changes.removed)
            told << u'-' + QFileInfo(file).fileName();
        return told.join(u' ');
    };
    QCOMPARE(look(), QString());
    QVERIFY(write("readme.txt", "no plugin"));
    QVERIFY(write("b.so", "2"));
    QVERIFY(QFile::remove(path("c.so")));
    QVERIFY(write("d.so", "1"));
    QCOMPARE(look(), QString());
    QVERIFY(write("d.so", "2")); // it was on its way
    QCOMPARE(look(), QString());
    QCOMPARE(look(), QStringLiteral("+d.so ~b.so -c.so"));
    QCOMPARE(look(), QString()); // once
    QVERIFY(QDir(dir.path()).removeRecursively());
    look();
    QCOMPARE(look(), QStringLiteral("-a.so -b.so -d.so"));
}

// GLib's loops cost a write for each posted event.
void tst_PluginHost::eventLoops()
{
    QThread thread;
    thread.start();
    QTRY_VERIFY(QAbstractEventDispatcher::instance(&thread) != nullptr);
    for (QThread *const each : {QThread::currentThread(), &thread})
        QCOMPARE(QAbstractEventDispatcher::instance(each)->metaObject()->className(),
            "QEventDispatcherUNIX");
    thread.quit();
    QVERIFY(thread.wait());
}

int main(int argc, char **argv)
{
    if (argc == 3 && qstrcmp(argv[1], "--try") == 0)
        ::_exit(runTrialLoad(QString::fromLocal8Bit(argv[2])));
    GuardedApplication app(argc, argv);
    tst_PluginHost test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_pluginhost.moc"
