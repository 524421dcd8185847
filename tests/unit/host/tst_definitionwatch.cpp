// News of CustomResourceDefinitions: whose groups are told, and when nothing is watched.
#include "../sdk/fakebackends.h"
#include "host/definitionwatch.h"
#include "testing/manualclock.h"

#include <davit/objectbuilder.h>
#include <pluginhost/pluginmetadata.h>

#include <QTest>

using namespace davit;
using namespace davit::host;
using namespace Qt::Literals::StringLiterals;
using namespace std::chrono_literals;
using N = priv::Notification;

namespace {

const QString kRule
    = u"3|cache|kinds that are installed or changed later are noticed 10 s late; to hear of them "
      u"at "
      "once, grant list and watch of customresourcedefinitions in apiGroup apiextensions.k8s.io: "
      "within five minutes davit asks again|error=no"_s;
const QString kWatched = u"3|cache|CustomResourceDefinitions are watched now"_s;
const QString kNoWatch = u"3|cache|kinds that are installed or changed later are noticed 10 s "
                         u"late; the server does not "
                         "let its CustomResourceDefinitions be watched|error=no"_s;

Object definition(const char *name, const char *version)
{
    Object object;
    const QByteArray json = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":)"
                            R"("CustomResourceDefinition","metadata":{"name":")"
        + QByteArray(name) + R"(","resourceVersion":")" + version + R"("}})";
    if (!Object::fromJson(json, &object).isOk())
        qFatal("%s", json.constData());
    return object;
}

N added(const char *name, bool isInInitialList)
{
    N n;
    n.kind = N::Kind::Added;
    n.object = definition(name, "1");
    n.isInInitialList = isInInitialList;
    return n;
}

N updated(const char *name, const char *before, const char *after)
{
    N n;
    n.kind = N::Kind::Updated;
    n.before = definition(name, before);
    n.object = definition(name, after);
    return n;
}

N deleted(const char *name)
{
    N n;
    n.kind = N::Kind::Deleted;
    n.object = definition(name, "2");
    return n;
}

struct Rig
{
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    fake::Lines lines;
    QList<int> answers{200}; // of the server, the last one again and again; 0: none
    int probes = 0;
    int informers = 0;
    bool isInformerDead = false;
    fake::View *view = nullptr;
    QStringList told;
    std::optional<DefinitionWatch> watch;

    Rig()
    {
        DefinitionWatch::Surroundings around;
        around.executor = &executor;
        around.time = &clock;
        around.log = Logger(lines, u"cache"_s);
        around.probe = [this](const std::function<void(const Error &)> &answered) {
            ++probes;
            const int status = answers.size() > 1 ? answers.takeFirst() : answers.first();
            answered(errorOf(status));
        };
        around.makeInformer = [this](const InformerRequest &request, priv::FaultSink &faults,
                                  std::unique_ptr<priv::InformerBackend> *backend) {
            ++informers;
            auto made = std::make_unique<fake::View>(request, faults);
            view = made.get();
            view->whenDead = &isInformerDead;
            *backend = std::move(made);
            return Status::ok();
        };
        around.onChanged = [this](const std::set<QString> &groups) {
            QStringList names;
            for (const QString &group : groups)
                names += group;
            told += names.join(u',');
        };
        watch.emplace(std::move(around));
    }
    static Error errorOf(int status)
    {
        if (status == 200)
            return {};
        return Error(status == 0 ? ErrorCode::ConnectionRefused : codeOf(status), u"no"_s)
            .withHttpStatus(status);
    }
    static ErrorCode codeOf(int status)
    {
        switch (status) {
        case 401:
            return ErrorCode::Unauthorized;
        case 403:
            return ErrorCode::Forbidden;
        case 404:
            return ErrorCode::NotFound;
        case 429:
            return ErrorCode::TooManyRequests;
        default:
            return ErrorCode::ServiceUnavailable;
        }
    }
    void want(const QString &group)
    {
        watch->want(group);
        QCoreApplication::sendPostedEvents();
    }
    void deliver(std::vector<N> news)
    {
        view->deliver(std::move(news));
        QCoreApplication::sendPostedEvents();
    }
    void pass(std::chrono::nanoseconds time)
    {
        clock.advance(time, &executor);
        executor.runAll();
        QCoreApplication::sendPostedEvents();
    }
};

} // namespace

Q_DECLARE_METATYPE(std::vector<N>)

class tst_DefinitionWatch : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void installable_data();
    void installable();
    void namedByAPlugin_data();
    void namedByAPlugin();
    void oneWatch();
    void news_data();
    void news();
    void gathered();
    void answers_data();
    void answers();
    void refusedLater_data();
    void refusedLater();
    void mayListAlone();
    void refusedToAnother();
    void askedAgain_data();
    void askedAgain();
    void leavesNoTimer();
};

void tst_DefinitionWatch::installable_data()
{
    QTest::addColumn<bool>("isOne");
    QTest::newRow("") << false;
    QTest::newRow("*") << false; // of a rule on every group
    QTest::newRow("apps") << false;
    QTest::newRow("rbac.authorization.k8s.io") << false;
    QTest::newRow("apiextensions.k8s.io") << false;
    QTest::newRow("gateway.networking.k8s.io") << true;
    QTest::newRow("metrics.k8s.io") << true;
    QTest::newRow("demo.example") << true;
    QTest::newRow("networking") << true;
}

void tst_DefinitionWatch::installable()
{
    QFETCH(const bool, isOne);
    const QString group = QString::fromLatin1(QTest::currentDataTag());
    QCOMPARE(isInstallable(group), isOne);
    Rig rig;
    rig.want(group);
    QCOMPARE(rig.probes, isOne ? 1 : 0);
    QCOMPARE(rig.informers, isOne ? 1 : 0);
}

void tst_DefinitionWatch::namedByAPlugin_data()
{
    QTest::addColumn<QString>("declared"); // group of a resource
    QTest::addColumn<QStringList>("mayReach"); // groups of a rule
    QTest::addColumn<bool>("isOne");
    QTest::newRow("built-in ones") << u"apps"_s << QStringList{QString(), u"apps"_s} << false;
    QTest::newRow("declared") << u"a.example"_s << QStringList{u"apps"_s} << true;
    QTest::newRow("by a rule alone") << u"apps"_s << QStringList{u"apps"_s, u"a.example"_s} << true;
    QTest::newRow("a rule on every group") << u"apps"_s << QStringList{u"*"_s} << false;
}

void tst_DefinitionWatch::namedByAPlugin()
{
    QFETCH(const QString, declared);
    QFETCH(const QStringList, mayReach);
    pluginhost::PluginMetadata metadata;
    metadata.resources.resize(1);
    metadata.resources.first().gvk.group = declared;
    metadata.rbac = {{mayReach, {u"widgets"_s}, {}, {u"get"_s}}};
    QTEST(namesInstallable(metadata), "isOne");
}

void tst_DefinitionWatch::oneWatch()
{
    Rig rig;
    for (const QString &group : {u"a.example"_s, u"b.example"_s, u"a.example"_s})
        rig.want(group);
    QCOMPARE(rig.informers, 1);
    QCOMPARE(rig.view->request().gvk().kind, u"CustomResourceDefinition"_s);
    QCOMPARE(rig.view->request().payload(), Payload::Metadata);
    QCOMPARE(rig.lines.seen, QStringList());
}

void tst_DefinitionWatch::news_data()
{
    QTest::addColumn<std::vector<N>>("news");
    QTest::addColumn<QStringList>("told");
    using News = std::vector<N>;
    QTest::newRow("what was there") << News{added("widgets.a.example", true)} << QStringList();
    QTest::newRow("one that comes")
        << News{added("widgets.a.example", false)} << QStringList{u"a.example"_s};
    QTest::newRow("one that changes")
        << News{updated("widgets.a.example", "1", "2")} << QStringList{u"a.example"_s};
    QTest::newRow("the same again, of a relist")
        << News{updated("widgets.a.example", "1", "1")} << QStringList();
    QTest::newRow("one that goes")
        << News{deleted("widgets.a.example")} << QStringList{u"a.example"_s};
    QTest::newRow("several: each group once") << News{added("widgets.a.example", false),
        updated("widgets.a.example", "1", "2"), deleted("gizmos.b.example")}
                                              << QStringList{u"a.example,b.example"_s};
}

void tst_DefinitionWatch::news()
{
    QFETCH(const std::vector<N>, news);
    Rig rig;
    rig.want(u"a.example"_s);
    rig.deliver(news);
    rig.pass(DefinitionWatch::kGather - 1ms);
    QCOMPARE(rig.told, QStringList()); // its kind is not served the moment that it is there
    rig.pass(1ms);
    QTEST(rig.told, "told");
    rig.pass(1min);
    QTEST(rig.told, "told");
}

void tst_DefinitionWatch::gathered()
{
    Rig rig;
    rig.want(u"a.example"_s);
    rig.deliver({added("widgets.a.example", false)});
    rig.pass(300ms);
    rig.deliver({updated("widgets.a.example", "1", "2")});
    rig.pass(200ms);
    QCOMPARE(rig.told, QStringList{u"a.example"_s});
    rig.deliver({updated("widgets.a.example", "2", "3")}); // it goes on
    rig.pass(500ms);
    QCOMPARE(rig.told, QStringList({u"a.example"_s, u"a.example"_s}));
}

void tst_DefinitionWatch::answers_data()
{
    QTest::addColumn<QList<int>>("answers");
    QTest::addColumn<int>("informers");
    QTest::addColumn<QStringList>("lines");
    using Answers = QList<int>;
    QTest::newRow("granted") << Answers{200} << 1 << QStringList();
    QTest::newRow("forbidden") << Answers{403} << 0 << QStringList{kRule};
    QTest::newRow("no such resource") << Answers{404} << 0 << QStringList{kNoWatch};
    QTest::newRow("no answer at first") << Answers{0, 0, 200} << 1 << QStringList();
    QTest::newRow("not well at first") << Answers{503, 200} << 1 << QStringList();
    QTest::newRow("busy at first") << Answers{429, 200} << 1 << QStringList();
    QTest::newRow("an old token at first") << Answers{401, 200} << 1 << QStringList();
}

void tst_DefinitionWatch::answers()
{
    QFETCH(const QList<int>, answers);
    QFETCH(const int, informers);
    Rig rig;
    rig.answers = answers;
    rig.want(u"a.example"_s);
    for (int i = 0; i < 6; ++i)
        rig.pass(DefinitionWatch::kAskAgain);
    QCOMPARE(rig.probes, int(answers.size()));
    QCOMPARE(rig.informers, informers);
    QTEST(rig.lines.seen, "lines");
}

void tst_DefinitionWatch::refusedLater_data()
{
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("status");
    QTest::addColumn<bool>("ends");
    const QString ours = u"CustomResourceDefinition"_s;
    QTest::newRow("the right was taken away") << ours << 403 << true;
    QTest::newRow("it is gone") << ours << 404 << true;
    QTest::newRow("the server is not well") << ours << 500 << false;
    QTest::newRow("R-29 its version is too old") << ours << 410 << false;
    QTest::newRow("another kind") << u"Widget"_s << 403 << false;
}

void tst_DefinitionWatch::refusedLater()
{
    QFETCH(const QString, kind);
    QFETCH(const int, status);
    QFETCH(const bool, ends);
    Rig rig;
    rig.want(u"a.example"_s);
    for (int i = 0; i < 3; ++i) { // a plugin's informer on definitions tells each round, too
        rig.watch->failed({u"apiextensions.k8s.io"_s, u"v1"_s, kind}, Rig::errorOf(status));
        QCoreApplication::sendPostedEvents();
    }
    QCOMPARE(rig.isInformerDead, ends);
    QCOMPARE(rig.lines.seen.size(), ends ? 1 : 0);
}

// A list is allowed each time, the watch is not: one line, and no word that it is watched now.
void tst_DefinitionWatch::mayListAlone()
{
    Rig rig;
    rig.want(u"a.example"_s);
    for (int i = 0; i < 3; ++i) {
        rig.watch->failed(
            {u"apiextensions.k8s.io"_s, u"v1"_s, u"CustomResourceDefinition"_s}, Rig::errorOf(403));
        QCoreApplication::sendPostedEvents();
        rig.pass(DefinitionWatch::kAskRefusedAgain);
        QCOMPARE(rig.informers, i + 2);
    }
    QCOMPARE(rig.lines.seen, QStringList{kRule});
}

// Before anybody wants to know, a refusal is that of a plugin's informer.
void tst_DefinitionWatch::refusedToAnother()
{
    Rig rig;
    rig.watch->failed(
        {u"apiextensions.k8s.io"_s, u"v1"_s, u"CustomResourceDefinition"_s}, Rig::errorOf(403));
    QCoreApplication::sendPostedEvents();
    QCOMPARE(rig.lines.seen.size(), 0);
    rig.want(u"a.example"_s);
    QVERIFY(!rig.isInformerDead);
}

void tst_DefinitionWatch::askedAgain_data()
{
    QTest::addColumn<QList<int>>("answers");
    QTest::addColumn<int>("informers");
    QTest::addColumn<QStringList>("lines");
    using Answers = QList<int>;
    QTest::newRow("the right comes") << Answers{403, 403, 200} << 1 << QStringList{kRule, kWatched};
    QTest::newRow("the server is not well when asked again")
        << Answers{403, 503, 200} << 1 << QStringList{kRule, kWatched};
    QTest::newRow("it stays refused") << Answers{403} << 0 << QStringList{kRule};
}

// Refused is not for ever, and each change is told once.
void tst_DefinitionWatch::askedAgain()
{
    QFETCH(const QList<int>, answers);
    Rig rig;
    rig.answers = answers;
    rig.want(u"a.example"_s);
    rig.pass(DefinitionWatch::kAskRefusedAgain - 1ms);
    QCOMPARE(rig.probes, 1);
    rig.pass(1ms);
    QCOMPARE(rig.probes, 2);
    for (int i = 0; i < 3; ++i)
        rig.pass(DefinitionWatch::kAskRefusedAgain);
    QTEST(rig.informers, "informers");
    QTEST(rig.lines.seen, "lines");
    QCOMPARE(rig.clock.pendingTimers(), rig.informers == 1 ? 0 : 1);
}

void tst_DefinitionWatch::leavesNoTimer()
{
    Rig rig;
    rig.answers = {503, 200};
    rig.want(u"a.example"_s);
    QCOMPARE(rig.clock.pendingTimers(), 1);
    rig.pass(DefinitionWatch::kAskAgain);
    rig.deliver({added("widgets.a.example", false)});
    QCOMPARE(rig.clock.pendingTimers(), 1);
    rig.watch.reset();
    QVERIFY(rig.isInformerDead);
    QCOMPARE(rig.clock.pendingTimers(), 0);
}

QTEST_GUILESS_MAIN(tst_DefinitionWatch)
#include "tst_definitionwatch.moc"
