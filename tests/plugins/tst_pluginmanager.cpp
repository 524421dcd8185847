// The plugin host on services that do nothing: which state each fixture ends in, and the order of
// starting and stopping. Real plugins, real threads, real time with short limits.
#include "fakeservices.h"

#include "pluginhost/guardedapplication.h"
#include "pluginhost/pluginmanager.h"
#include "pluginhost/trialload.h"

#include <QTest>
#include <QtCore/qtemporarydir.h>
#include <sys/stat.h>
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

QString fixture(const char *name)
{
    return kFixtures + QString::fromLatin1(name) + QLatin1StringView(".so");
}

} // namespace

class tst_PluginManager : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();
    void endStates_data();
    void endStates();
    void badLoads_data();
    void badLoads();
    void stopDuringTrial();
    void goodRunsBesideAll();
    void duplicates();
    void sameFileTwice();
    void waitsForItsKinds_data();
    void waitsForItsKinds();
    void optionalKindKeepsNobodyWaiting();
    void stopWhileWaiting();
    void hangingInitialize();
    void stopDuringInitialize();
    void slowStop();
    void abandonedReconciles();
    void unfinishedIsNamed();
    void callsAreClosedAtTheEnd();
    void throwingTimer();
    void throwingSlots();
    void folderPlugin();
    void directories();
    void brokenFiles();
    void noRegularFiles();

private:
    PluginSpec &spec(const QString &id) const;
    void start(const QStringList &places, PluginHostSettings settings = {});
    QStringList stop(std::chrono::nanoseconds limit = 2s);

    QTemporaryDir m_state;
    EventLoopExecutor *m_executor = nullptr;
    FakeServices *m_services = nullptr;
    std::unique_ptr<PluginManager> m_manager;
    QStringList m_changes; // "id State"
};

void tst_PluginManager::init()
{
    // What plugin code that comes back late still uses lives as long as the process.
    static auto &executors = *new std::vector<std::unique_ptr<EventLoopExecutor>>;
    static auto &services = *new std::vector<std::unique_ptr<FakeServices>>;
    m_executor = executors.emplace_back(std::make_unique<EventLoopExecutor>()).get();
    m_services = services.emplace_back(std::make_unique<FakeServices>()).get();
    m_changes.clear();
}

void tst_PluginManager::cleanup()
{
    m_manager.reset();
}

void tst_PluginManager::start(const QStringList &places, PluginHostSettings settings)
{
    settings.stateDir = m_state.path();
    settings.trialProgram = trialProgram();
    m_manager = std::make_unique<PluginManager>(
        *m_services, *m_executor, support::systemTimeSource(), settings);
    m_manager->setOnChanged([this](const PluginSpec &changed) {
        m_changes.append(changed.id() + u' ' + QString(pluginStateName(changed.state())));
    });
    const Status status = m_manager->scan(places);
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    m_manager->start();
}

QStringList tst_PluginManager::stop(std::chrono::nanoseconds limit)
{
    bool isDone = false;
    QStringList abandoned;
    m_manager->stop(limit, [&](const QStringList &left) {
        abandoned = left;
        isDone = true;
    });
    [&] { QTRY_VERIFY(isDone); }();
    return abandoned;
}

PluginSpec &tst_PluginManager::spec(const QString &id) const
{
    for (const auto &spec : m_manager->specs())
        if (spec->id() == id)
            return *spec;
    qFatal("no plugin %s", qUtf8Printable(id));
}

void tst_PluginManager::endStates_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("state");
    QTest::addColumn<QString>("reason"); // after "FILE: "
    const auto row = [](const char *file, const char *state, const char *reason) {
        QTest::newRow(file) << fixture(file) << QString::fromLatin1(state)
                            << QString::fromLatin1(reason);
    };
    row("good", "Running", "");
    row("badmetadata", "Refused", "metadata field Version must be a string");
    row("wrongiid", "Refused",
        "its IID is \"org.example.SomethingElse/1\", not \"dev.davit.ControllerPlugin/1\"; use "
        "DAVIT_CONTROLLER_PLUGIN_IID in Q_PLUGIN_METADATA");
    row("newersdk", "Refused",
        "it was built for SDK ABI 2, this host has 1; update davit, or build the plugin with an "
        "older SDK");
    row("norights", "Refused",
        "Resources has v1 ConfigMap, but Rbac does not grant \"watch\" on \"configmaps\" of group "
        "\"\"; add the rule to the metadata");
    row("misfit", "Refused",
        "its configuration does not fit its ConfigSchema: n is missing; change plugins.misfit in "
        "the file of --config");
    row("circulara", "Refused",
        "it depends on \"circular-b\" 1.0.0, which is not here; add that plugin");
    row("missingsymbol", "Refused", "undefined symbol: _Z24fixtureThatNobodyDefinesv");
    row("undeclaredresource", "Faulted",
        "initialize failed: plugin \"undeclared-resource\" asked for v1 Secret: its metadata does "
        "not declare this kind; add it to Resources");
    row("failinginitialize", "Faulted", "initialize failed: the fixture has no database");
    row("throwinginitialize", "Faulted", "initialize threw: the fixture threw in initialize");
}

void tst_PluginManager::endStates()
{
    QFETCH(const QString, file);
    QFETCH(const QString, state);
    QFETCH(const QString, reason);
    start({file});
    QTRY_VERIFY(m_manager->isSettled());
    const PluginSpec &only = *m_manager->specs().at(0);
    QCOMPARE(QString(pluginStateName(only.state())), state);
    const QString said = only.reason();
    QVERIFY2(reason.isEmpty() ? said.isEmpty() : said.startsWith(file + QLatin1StringView(": ")),
        qPrintable(said));
    QVERIFY2(said.contains(reason), qPrintable(said));
    stop();
    QCOMPARE(QString(pluginStateName(only.state())),
        state == u"Running" ? QStringLiteral("Retired") : state);
    QCOMPARE(said, state == u"Running" ? QString() : only.reason());
}

void tst_PluginManager::badLoads_data()
{
    QTest::addColumn<QByteArray>("how");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char *how, const char *fault) {
        QTest::newRow(how) << QByteArray(how) << QString::fromLatin1(fault);
    };
    row("throw", "threw: the fixture threw in a static constructor");
    row("exit", "ended the process (exit code 0)");
    row("kill", "crashed (signal 9)");
#ifndef __SANITIZE_ADDRESS__ // which ends a process of that signal itself
    row("bus", "crashed (signal 7) or the file is damaged");
#endif
    row("hang", "have not returned for 3000 ms");
}

// Each is refused, and what comes after it can still be loaded, on other threads too.
void tst_PluginManager::badLoads()
{
    QFETCH(const QByteArray, how);
    QFETCH(const QString, fault);
    qputenv("FIXTURE_LOAD", how);
    PluginHostSettings settings;
    settings.loadLimit = 3s;
    start({fixture("badload")}, settings);
    QTRY_VERIFY_WITH_TIMEOUT(m_manager->isSettled(), 20000);
    const PluginSpec &bad = *m_manager->specs().at(0);
    QCOMPARE(bad.state(), PluginState::Refused);
    QCOMPARE(bad.reason(),
        QStringLiteral("%1: its static constructors %2; mend what it does before initialize")
            .arg(fixture("badload"), fault));
    stop();
    qunsetenv("FIXTURE_LOAD");
    start({fixture("good")});
    QTRY_COMPARE_WITH_TIMEOUT(spec(QStringLiteral("good")).state(), PluginState::Running, 20000);
    stop();
}

void tst_PluginManager::stopDuringTrial()
{
    qputenv("FIXTURE_LOAD", "hang");
    const auto copies = [this] {
        return QDir(QStringLiteral("%1/plugin-copies/%2/bad-load")
                        .arg(m_state.path())
                        .arg(QCoreApplication::applicationPid()))
            .entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    };
    const QStringList before = copies();
    start({fixture("badload")});
    QTRY_VERIFY(copies() != before); // which is what is tried
    QVERIFY(stop().isEmpty());
    qunsetenv("FIXTURE_LOAD");
    QCOMPARE(m_manager->specs().at(0)->state(), PluginState::Retired);
}

void tst_PluginManager::goodRunsBesideAll()
{
    start({kFixtures});
    QTRY_VERIFY_WITH_TIMEOUT(spec(QStringLiteral("good")).state() == PluginState::Running, 10000);
    QTRY_VERIFY_WITH_TIMEOUT(m_manager->isSettled(), 20000);
    QVERIFY(m_services->controllers.contains(QStringLiteral("good/labeller")));
    QCOMPARE(spec(QStringLiteral("circular-a")).reason(),
        fixture("circulara")
            + QStringLiteral(": its dependencies form a circle (circular-a -> circular-b -> "
                             "circular-a); cut it in the metadata of one"));
    QCOMPARE(spec(QStringLiteral("circular-b")).state(), PluginState::Refused);
    QCOMPARE(spec(QStringLiteral("dependant")).reason(),
        fixture("dependant")
            + QStringLiteral(": it depends on \"failing-initialize\", which is faulted (")
            + spec(QStringLiteral("failing-initialize")).reason() + u')');
    QCOMPARE(spec(QStringLiteral("good")).state(), PluginState::Running);
    stop(8s);
    QCOMPARE(spec(QStringLiteral("good")).state(), PluginState::Retired);
    QVERIFY(m_services->forgotten.contains(QStringLiteral("good")));
}

void tst_PluginManager::duplicates()
{
    QTemporaryDir other;
    const QString copy = other.filePath(QStringLiteral("zzz.so"));
    QVERIFY(QFile::copy(fixture("good"), copy));
    start({fixture("good"), copy});
    QTRY_VERIFY(m_manager->isSettled());
    QCOMPARE(m_manager->specs().at(0)->state(), PluginState::Running);
    QCOMPARE(m_manager->specs().at(1)->reason(),
        copy
            + QStringLiteral(": Id \"good\" is taken by %1; remove one of the two files")
                  .arg(fixture("good")));
    stop();
}

// A directory given twice, or by a link: nothing to remove there.
void tst_PluginManager::sameFileTwice()
{
    const QTemporaryDir other;
    QVERIFY(QDir(other.path()).mkdir(QStringLiteral("a")));
    const QString dir = other.filePath(QStringLiteral("a"));
    const QString link = other.filePath(QStringLiteral("link"));
    QVERIFY(QFile::copy(fixture("good"), dir + QStringLiteral("/good.so")));
    QVERIFY(QFile::link(dir, link));
    start({dir, dir, link, link + QStringLiteral("/good.so")});
    QTRY_VERIFY(m_manager->isSettled());
    QCOMPARE(m_manager->specs().size(), size_t(1));
    QCOMPARE(m_manager->specs().at(0)->state(), PluginState::Running);
    stop();
}

void tst_PluginManager::waitsForItsKinds_data()
{
    QTest::addColumn<QString>("reason"); // in the words of discovery
    QTest::newRow("bare") << QStringLiteral("the cluster does not serve it");
    QTest::newRow("that names the kind itself")
        << QStringLiteral("v1 ConfigMap: the cluster does not serve it");
}

void tst_PluginManager::waitsForItsKinds()
{
    QFETCH(const QString, reason);
    m_services->areKindsMissing = true;
    m_services->missingReason = reason;
    start({fixture("good")});
    PluginSpec &good = spec(QStringLiteral("good"));
    QTRY_COMPARE(
        good.reason(), QStringLiteral("waits for v1 ConfigMap: the cluster does not serve it"));
    QCOMPARE(good.state(), PluginState::Checked);
    QVERIFY(!m_manager->isSettled());
    const QString line = QStringLiteral("2|pluginhost|plugin state|plugin=good|state=Checked|file=")
        + fixture("good")
        + QStringLiteral("|reason=waits for v1 ConfigMap: the cluster does not serve it");
    QCOMPARE(m_services->linesSeen().count(line), 1);
    m_services->serveKinds();
    QTRY_COMPARE(good.state(), PluginState::Running);
    QCOMPARE(m_changes.mid(m_changes.size() - 3),
        QStringList({QStringLiteral("good Loaded"), QStringLiteral("good Initialized"),
            QStringLiteral("good Running")}));
    stop();
    QCOMPARE(m_changes.mid(m_changes.size() - 2),
        QStringList({QStringLiteral("good Draining"), QStringLiteral("good Retired")}));
}

void tst_PluginManager::optionalKindKeepsNobodyWaiting()
{
    m_services->areKindsMissing = true;
    start({fixture("good"), fixture("optionalkind")});
    QTRY_COMPARE(spec(QStringLiteral("optional-kind")).state(), PluginState::Running);
    QCOMPARE(spec(QStringLiteral("optional-kind")).reason(), QString());
    QCOMPARE(spec(QStringLiteral("good")).state(), PluginState::Checked); // its kind is no option
    stop();
}

void tst_PluginManager::stopWhileWaiting()
{
    m_services->areKindsMissing = true;
    start({fixture("good")});
    QTRY_VERIFY(!spec(QStringLiteral("good")).reason().isEmpty());
    QVERIFY(stop().isEmpty());
    QCOMPARE(spec(QStringLiteral("good")).state(), PluginState::Retired);
    m_services->serveKinds(); // too late: nothing is loaded any more
    bool hasRun = false; // after all that the line above has posted
    m_executor->post([&hasRun] { hasRun = true; });
    QTRY_VERIFY(hasRun);
    QVERIFY(!m_changes.contains(QStringLiteral("good Loaded")));
    QCOMPARE(spec(QStringLiteral("good")).state(), PluginState::Retired);
}

void tst_PluginManager::hangingInitialize()
{
    PluginHostSettings settings;
    settings.initializeLimit = 1s;
    start({fixture("good"), fixture("hanginginitialize")}, settings);
    PluginSpec &hanging = spec(QStringLiteral("hanging-initialize"));
    QTRY_COMPARE(hanging.state(), PluginState::Faulted);
    QCOMPARE(hanging.reason(),
        fixture("hanginginitialize") + QStringLiteral(": initialize has not returned for 1000 ms"));
    QTRY_COMPARE(spec(QStringLiteral("good")).state(), PluginState::Running);
    // When it does come back it is taken down, and stays Faulted.
    QTRY_VERIFY_WITH_TIMEOUT(
        m_services->forgotten.contains(QStringLiteral("hanging-initialize")), 10000);
    QCOMPARE(hanging.state(), PluginState::Faulted);
    stop();
}

void tst_PluginManager::stopDuringInitialize()
{
    start({fixture("hanginginitialize")});
    PluginSpec &hanging = spec(QStringLiteral("hanging-initialize"));
    QTRY_COMPARE(hanging.state(), PluginState::Loaded);
    QVERIFY(stop(200ms).isEmpty());
    QVERIFY2(hanging.reason().startsWith(fixture("hanginginitialize")
                 + QStringLiteral(": initialize has not returned for ")),
        qPrintable(hanging.reason()));
    QTRY_VERIFY_WITH_TIMEOUT(
        m_services->forgotten.contains(QStringLiteral("hanging-initialize")), 10000);
}

void tst_PluginManager::slowStop()
{
    start({fixture("good"), fixture("slowstop")});
    QTRY_VERIFY(m_manager->isSettled());
    QVERIFY(stop(500ms).isEmpty());
    // Told before its shutdown returned: stop() has not waited for it.
    QCOMPARE(spec(QStringLiteral("slow-stop")).state(), PluginState::Faulted);
    QVERIFY2(spec(QStringLiteral("slow-stop"))
                 .reason()
                 .contains(QStringLiteral("ms: shutdown (slow-stop) has not returned")),
        qPrintable(spec(QStringLiteral("slow-stop")).reason()));
    QCOMPARE(spec(QStringLiteral("good")).state(), PluginState::Retired);
    QTest::qWait(2300); // its thread ends before the library's static objects do
    // Once, and when no worker can be in the plugin's code any more.
    const QStringList told = m_services->errorsAndStops();
    const QString shutdown = QStringLiteral("fixture shuts down");
    QCOMPARE(told.count(shutdown), 1);
    QVERIFY2(told.indexOf(QStringLiteral("stop controllers of slow-stop")) >= 0
            && told.indexOf(QStringLiteral("stop controllers of slow-stop"))
                < told.indexOf(shutdown),
        qPrintable(told.join(u'\n')));
}

void tst_PluginManager::abandonedReconciles()
{
    start({fixture("good")});
    QTRY_VERIFY(m_manager->isSettled());
    m_services->abandoned.insert(QStringLiteral("good"), {QStringLiteral("labeller team-a/one")});
    QCOMPARE(stop(), QStringList{QStringLiteral("good labeller team-a/one")});
    QCOMPARE(spec(QStringLiteral("good")).state(), PluginState::Faulted);
    QCOMPARE(spec(QStringLiteral("good")).reason(),
        QStringLiteral("reconciles were abandoned: labeller team-a/one"));
    QVERIFY(m_services->forgotten.isEmpty()); // its code runs on: nothing of it is destroyed
}

// A plugin whose end never comes: what the host says when its patience ends.
void tst_PluginManager::unfinishedIsNamed()
{
    start({fixture("good"), fixture("slowstop")});
    QTRY_VERIFY(m_manager->isSettled());
    m_services->areStopsLost = true;
    m_services->abandoned.insert(QStringLiteral("good"),
        {QStringLiteral("controller labeller: team-a/one"),
            QStringLiteral("controller labeller: team-a/two")});
    m_manager->stop(1s, [](const QStringList &) {});
    QCOMPARE(m_manager->unfinished(),
        QStringList({QStringLiteral("good controller labeller: team-a/one"),
            QStringLiteral("good controller labeller: team-a/two"),
            QStringLiteral("slow-stop (its thread)")}));
}

void tst_PluginManager::callsAreClosedAtTheEnd()
{
    start({fixture("good"), fixture("failinginitialize")});
    QTRY_VERIFY(m_manager->isSettled());
    QTRY_COMPARE(m_services->forgotten, QStringList{QStringLiteral("failing-initialize")});
    QCOMPARE(m_services->closed.value(0), QStringLiteral("failing-initialize 2 s"));
    QVERIFY(!m_services->closed.contains(QStringLiteral("good 2 s")));
    stop();
    QVERIFY(m_services->closed.contains(QStringLiteral("good 2 s")));
    QVERIFY(m_services->forgotten.contains(QStringLiteral("good")));
}

void tst_PluginManager::throwingTimer()
{
    start({fixture("throwingtimer")});
    PluginSpec &thrower = spec(QStringLiteral("throwing-timer"));
    QTRY_COMPARE(thrower.state(), PluginState::Faulted);
    QVERIFY2(
        thrower.reason().startsWith(QStringLiteral("10 faults within 60 s, the last in event "))
            && thrower.reason().endsWith(QStringLiteral("the fixture threw in a timer")),
        qPrintable(thrower.reason()));
    stop();
    QCOMPARE(thrower.state(), PluginState::Faulted);
}

void tst_PluginManager::throwingSlots()
{
    PluginHostSettings settings;
    settings.faults.budget = 3;
    settings.faults.window = 1500ms;
    start({fixture("throwingslot")}, settings);
    PluginSpec &thrower = spec(QStringLiteral("throwing-slot"));
    QTRY_COMPARE(thrower.state(), PluginState::Running);
    fake::View *const view = m_services->views.value(thrower.id());
    std::vector<priv::Notification> two(2);
    view->deliver(two);
    QTest::qWait(100);
    QCOMPARE(thrower.state(), PluginState::Running); // within the budget
    view->deliver(two);
    QTRY_COMPARE(thrower.state(), PluginState::Faulted);
    QCOMPARE(thrower.reason(),
        QStringLiteral("3 faults within 1 s, the last in slot added (v1 ConfigMap): the fixture "
                       "threw in a slot"));
    // It hears on, and once the faults have ceased it is Running again.
    QTRY_COMPARE(thrower.state(), PluginState::Running);
    QCOMPARE(thrower.reason(), QString());
    stop();
}

void tst_PluginManager::folderPlugin()
{
    QTemporaryDir dir;
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("good.davit/crds")));
    QVERIFY(QDir(dir.path()).mkpath(QStringLiteral("empty.davit")));
    QVERIFY(QFile::copy(fixture("good"), dir.filePath(QStringLiteral("good.davit/good.so"))));
    QFile crd(dir.filePath(QStringLiteral("good.davit/crds/thing.yaml")));
    QVERIFY(crd.open(QIODevice::WriteOnly));
    crd.close();
    start({dir.path()});
    QTRY_VERIFY(m_manager->isSettled());
    QCOMPARE(m_manager->specs().at(0)->reason(),
        dir.filePath(QStringLiteral("empty.davit"))
            + QStringLiteral(": the folder has no empty.so; name the library like the folder"));
    QCOMPARE(m_manager->specs().at(1)->state(), PluginState::Running);
    const QString copies = QStringLiteral("%1/plugin-copies/%2/good")
                               .arg(m_state.path())
                               .arg(QCoreApplication::applicationPid());
    const QStringList generations = QDir(copies).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    QVERIFY(!generations.isEmpty());
    QVERIFY(QFile::exists(copies + u'/' + generations.last() + QStringLiteral("/crds/thing.yaml")));
    stop();
}

void tst_PluginManager::directories()
{
    PluginHostSettings settings;
    settings.stateDir = m_state.path();
    PluginManager manager(*m_services, *m_executor, support::systemTimeSource(), settings);
    const QString missing = m_state.filePath(QStringLiteral("nowhere"));
    QCOMPARE(manager.scan({missing}).error().message(),
        QStringLiteral("plugin directory %1: it does not exist; name another with --plugin-dir")
            .arg(missing));
}

void tst_PluginManager::brokenFiles()
{
    QTemporaryDir dir;
    QFile text(dir.filePath(QStringLiteral("a.so")));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write("no library at all");
    text.close();
    QFile good(fixture("good"));
    QVERIFY(good.open(QIODevice::ReadOnly));
    QFile cut(dir.filePath(QStringLiteral("b.so")));
    QVERIFY(cut.open(QIODevice::WriteOnly));
    cut.write(good.read(4000));
    cut.close();
    QVERIFY(QFile::copy(QStringLiteral(DAVIT_BUILD_DIR "/lib/libDavitSdk.so"),
        dir.filePath(QStringLiteral("c.so"))));
    start({dir.path()});
    QVERIFY(m_manager->isSettled());
    for (const auto &spec : m_manager->specs()) {
        QCOMPARE(spec->state(), PluginState::Refused);
        QVERIFY2(spec->reason().contains(QStringLiteral(": it is no Qt plugin (")),
            qPrintable(spec->reason()));
    }
    stop();
}

void tst_PluginManager::noRegularFiles()
{
    const QTemporaryDir dir;
    const auto path = [&](const char *name) { return dir.filePath(QString::fromLatin1(name)); };
    QVERIFY(QFile::link(path("nowhere"), path("a.so")));
    QVERIFY(QFile::link(path("b.so"), path("b.so")));
    QCOMPARE(mkfifo(qPrintable(path("c.so")), 0600), 0);
    QVERIFY(QFile::link(path("c.so"), path("d.so")));
    QVERIFY(QDir(dir.path()).mkdir(QStringLiteral("e.so")));
    QVERIFY(QFile::link(path("nowhere"), path(".hidden.so")));
    QVERIFY(QDir(dir.path()).mkdir(QStringLiteral("f.davit")));
    QCOMPARE(mkfifo(qPrintable(path("f.davit/f.so")), 0600), 0);
    start({dir.path()});
    QVERIFY(m_manager->isSettled());
    QStringList reasons;
    for (const auto &spec : m_manager->specs()) {
        QCOMPARE(spec->state(), PluginState::Refused);
        reasons += spec->reason();
    }
    const QString nothing = QStringLiteral(": it is a link to nothing; mend it or remove it");
    const QString other
        = QStringLiteral(": it is no regular file; replace it by the library or remove it");
    QCOMPARE(reasons,
        QStringList({path("a.so") + nothing, path("b.so") + nothing, path("c.so") + other,
            path("d.so") + other, path("e.so") + other, path("f.davit/f.so") + other}));
    stop();
}

int main(int argc, char **argv)
{
    if (argc == 3 && qstrcmp(argv[1], "--try") == 0)
        ::_exit(runTrialLoad(QString::fromLocal8Bit(argv[2])));
    GuardedApplication app(argc, argv);
    tst_PluginManager test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_pluginmanager.moc"
