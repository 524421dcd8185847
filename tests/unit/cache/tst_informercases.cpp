// Cases from the field, each with its given input, played from the bytes of the server's answers to
// what a handler hears: transport, codec, reflector, queue, store. Rows are named by the case.
#include "scenario.h"

#include <cache/restlisterwatcher.h>

#include <QtCore/qfile.h>
#include <unistd.h>

using namespace fakes;
using namespace davit::cache;

namespace {

const transport::Resource kWidgets{kWidget, u"widgets"_s, true};
const transport::Resource kSecrets{{QString(), u"v1"_s, u"Secret"_s}, u"secrets"_s, true};

double residentMiB()
{
    QFile file(u"/proc/self/statm"_s);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no /proc");
    return file.readAll().split(' ').at(1).toDouble() * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class Listener final : public InformerListener
{
public:
    RecordingListener lines;
    std::vector<InformerEvent> events;
    void onEvents(const std::vector<InformerEvent> &more, bool wantsSync) override
    {
        lines.onEvents(more, wantsSync);
        events.insert(events.end(), more.begin(), more.end());
    }
    void onSynced() override { lines.onSynced(); }
};

struct Rig
{
    fake::Lines lines;
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScenarioTransport transport;
    std::vector<std::unique_ptr<SharedInformer>> informers;
    std::shared_ptr<Listener> listener = std::make_shared<Listener>(); // of the first one
    int roundErrors = 0;

    explicit Rig(const QJsonArray &steps, const QList<transport::Resource> &resources = {kWidgets})
        : transport(steps, clock)
    {
        for (const transport::Resource &resource : resources) {
            SharedInformerOptions options;
            options.reflector.name = toString(resource.gvk);
            options.reflector.expectedGvk = resource.gvk;
            options.reflector.log = Logger(lines, u"cache"_s);
            options.reflector.initialSync = InitialSync::List;
            options.reflector.random = [] { return 0.0; };
            options.reflector.onRoundError = [this](const Error &) { ++roundErrors; };
            RestCollection collection;
            collection.resource = resource;
            informers.push_back(std::make_unique<SharedInformer>(
                std::make_unique<RestListerWatcher>(transport, collection, options.reflector.log),
                executor, clock, options));
        }
        QVERIFY(informers.front()->addListener(listener).isOk());
        for (const auto &informer : informers)
            informer->start();
        executor.runAll();
    }
    ~Rig()
    {
        for (const auto &informer : informers)
            informer->stop();
        executor.runAll();
    }
    void advance(std::chrono::nanoseconds span)
    {
        clock.advance(span, &executor);
        executor.runAll();
    }
    QStringList heard() const { return listener->lines.heard; }
    QStringList kept() const { return stored(*informers.front()->store()); }
    // Nothing was asked that the scenario does not know, and all of it was asked.
    void checkPlayed() const
    {
        QCOMPARE(transport.unexpected, QStringList());
        QCOMPARE(transport.traps, QStringList());
        QCOMPARE(transport.unplayed(), 0);
    }
};

QJsonArray stepsOf(const char *file)
{
    return caseJson(QLatin1StringView(file))[u"steps"_s].toArray();
}
QJsonObject step(const char *verb, const QString &version, const QJsonObject &reply)
{
    QJsonObject on{{u"verb"_s, QLatin1StringView(verb)}};
    if (!version.isNull())
        on[u"resourceVersion"_s] = version;
    return {{u"on"_s, on}, {u"reply"_s, reply}};
}
QJsonObject holdAt(const QString &version)
{
    return step("watch", version, {{u"status"_s, 200}, {u"then"_s, u"hold"_s}});
}
QJsonObject watchOfFile(const QString &version, const char *file, const char *then)
{
    return step("watch", version,
        {{u"status"_s, 200}, {u"eventsFile"_s, QLatin1StringView(file)},
            {u"then"_s, QLatin1StringView(then)}});
}
// A list of apps/a@90, at version 100.
QJsonObject listOfOne()
{
    return stepsOf("B11-scenario.json").first().toObject();
}

using Story = void (*)();

void b11_blackHole()
{
    Rig rig(stepsOf("B11-scenario.json"));
    rig.advance(10min);
    rig.checkPlayed();
    QCOMPARE(rig.transport.lines(),
        L({"list widgets rv=0", "watch widgets rv=100", "watch widgets rv=101"})); // no relist
    QCOMPARE(rig.heard(), L({"+apps/a@90!", "+apps/b@101", "+apps/c@102"}));
    QVERIFY(rig.transport.asked[2].at - rig.transport.asked[1].at <= 90s);
    QVERIFY(!*rig.transport.asked[1].isAlive); // the dead exchange was given up
    QCOMPARE(rig.roundErrors, 0);
    QCOMPARE(rig.transport.questions, 1); // of the server behind the second watch
}

void playB12(const char *file, const QJsonArray &after, const QStringList &lines)
{
    QJsonArray steps{listOfOne(), watchOfFile(u"100"_s, file, "close")};
    for (const QJsonValue &more : after)
        steps.append(more);
    Rig rig(steps);
    rig.advance(1min);
    rig.checkPlayed();
    QCOMPARE(rig.lines.seen.filter(u"a watch sent an error"_s).size(), 1);
    QCOMPARE(rig.transport.lines(), lines);
    QCOMPARE(rig.heard(), L({"+apps/a@90!", "~apps/a@90>apps/a@101"}));
    QCOMPARE(rig.kept(), L({"apps/a@101"}));
    QCOMPARE(rig.roundErrors, 0);
}

void b12_withoutKind()
{
    playB12("B12-error-no-kind.ndjson", {holdAt(u"101"_s)},
        L({"list widgets rv=0", "watch widgets rv=100", "watch widgets rv=101"}));
}

void b12_null()
{
    playB12("B12-error-null.ndjson", {holdAt(u"101"_s)},
        L({"list widgets rv=0", "watch widgets rv=100", "watch widgets rv=101"}));
}

void b12_expired()
{
    QJsonObject list = listOfOne();
    QJsonObject reply = list[u"reply"_s].toObject();
    QByteArray json = QJsonDocument(reply[u"json"_s].toObject()).toJson();
    json.replace("\"90\"", "\"101\"").replace("\"100\"", "\"150\"");
    reply[u"json"_s] = QJsonDocument::fromJson(json).object();
    Rig rig({listOfOne(), watchOfFile(u"100"_s, "B12-error-events.ndjson", "close"),
        step("list", u"101"_s, reply), holdAt(u"150"_s)});
    rig.advance(1min);
    rig.checkPlayed();
    QCOMPARE(
        rig.heard(), L({"+apps/a@90!", "~apps/a@90>apps/a@101", "~apps/a@101>apps/a@101"})); // T65
    QCOMPARE(rig.roundErrors, 0);
}

// Which of the two spellings of the lagging server is played.
void playB14(int left)
{
    QJsonArray steps = stepsOf("B14-scenario.json");
    steps.removeAt(left);
    steps.append(holdAt(u"5100"_s));
    Rig rig(steps);
    rig.advance(1min);
    rig.checkPlayed(); // never asks with 0 again: that is the trap
    QCOMPARE(rig.transport.lines(),
        L({"list widgets rv=0", "watch widgets rv=5000", "watch widgets rv=5000",
            "list widgets rv=5000", "list widgets rv=", "watch widgets rv=5100"}));
    QVERIFY(rig.transport.asked[4].at - rig.transport.asked[3].at >= 1s); // as it was told
    QCOMPARE(rig.kept(), L({"apps/a@4990", "apps/n@5050"}));
    for (const InformerEvent &event : rig.listener->events)
        QVERIFY(event.object["spec"_L1]["size"_L1].toInt() != 1 || event.object.name() != u"a");
}

void b14_causes()
{
    playB14(4);
}
void b14_messageAlone()
{
    playB14(3);
}

void b16_deletedUnseen()
{
    Rig rig(stepsOf("B16-scenario.json"));
    rig.advance(1min);
    rig.checkPlayed();
    QStringList unseen = rig.heard().mid(2, 3);
    unseen.sort();
    QCOMPARE(unseen, L({"+apps/a@320", "-apps/a@90?", "-apps/b@91?"}));
    QVERIFY(rig.heard().indexOf(u"-apps/a@90?"_s) < rig.heard().indexOf(u"+apps/a@320"_s));
    QCOMPARE(rig.heard().last(), u"-apps/a@401"_s);
    QCOMPARE(rig.heard().size(), 6);
    for (const InformerEvent &event : rig.listener->events) {
        QVERIFY(event.kind != InformerEvent::Kind::Updated);
        // What a handler gets of a deletion it can use, seen or not.
        QCOMPARE(event.object.namespaceName(), u"apps"_s);
        QVERIFY(!event.object.name().isEmpty() && !event.object.uid().isEmpty());
    }
    QCOMPARE(rig.kept(), QStringList());
}

void b17_bookmarks()
{
    Rig rig(
        {listOfOne(), watchOfFile(u"100"_s, "B17-bookmarks.ndjson", "close"), holdAt(u"12760"_s)});
    rig.advance(1min);
    rig.checkPlayed(); // a sign of life: reopened at once, from the last bookmark
    QCOMPARE(rig.transport.asked[2].at, rig.transport.asked[1].at);
    QCOMPARE(rig.heard(), L({"+apps/a@90!"}));
    QCOMPARE(rig.kept(), L({"apps/a@90"}));
}

void b20_largeObject()
{
    Rig rig({listOfOne(), watchOfFile(u"100"_s, "B20-widget-1.5MiB.ndjson.gz", "hold")});
    rig.advance(1min);
    rig.checkPlayed();
    QCOMPARE(rig.heard(), L({"+apps/a@90!", "+apps/big@101"}));
    const Object big
        = rig.informers.front()->store()->snapshot()->objects.find({u"apps"_s, u"big"_s});
    QVERIFY(big.toJson().size() > 1'400'000);
    QVERIFY(big["metadata"_L1]["annotations"_L1]["k"_L1].toUtf8().size() > 200'000);
    QCOMPARE(rig.informers.front()->lastSyncResourceVersion(), u"101"_s);
}

// Beyond the limit: an error that names resource and size, and the stream goes on.
void b20_tooLarge()
{
    const QString next
        = u"\n{\"type\":\"ADDED\",\"object\":{\"apiVersion\":\"demo.example/v1\","
          "\"kind\":\"Widget\",\"metadata\":{\"name\":\"next\",\"namespace\":\"apps\","
          "\"resourceVersion\":\"103\"}}}\n"_s;
    Rig rig({listOfOne(),
        step("watch", u"100"_s,
            {{u"status"_s, 200}, {u"filler"_s, 17'000'000}, {u"more"_s, next},
                {u"then"_s, u"hold"_s}})});
    QCOMPARE(rig.heard(), L({"+apps/a@90!", "+apps/next@103"}));
    QCOMPARE(rig.lines.seen.filter(u"|an event is left out|"_s)
                 .filter(u"an event of 17000000 bytes (unknown type"_s)
                 .filter(u"is larger than the limit of 16777216 bytes"_s)
                 .size(),
        1);
    rig.checkPlayed();
}

void b22_schemaAndTypeDisagree()
{
    const QJsonObject list
        = step("list", {}, {{u"status"_s, 200}, {u"json"_s, caseJson(u"B22-list.json"_s)}});
    Rig rig({list, watchOfFile(u"200"_s, "B22-watch.ndjson", "hold")});
    rig.checkPlayed();
    QCOMPARE(rig.heard(),
        L({"+apps/good-1@190!", "+apps/bad@191!", "+apps/good-2@192!", "+apps/good-3@201",
            "+apps/bad-2@202", "~apps/good-1@190>apps/good-1@203", "-apps/bad-2@204",
            "~apps/bad@191>apps/bad@205"}));
    QCOMPARE(rig.informers.front()->lastSyncResourceVersion(), u"205"_s);
}

void b25_toldToWait()
{
    Rig rig(stepsOf("B25-scenario.json"));
    rig.advance(5min);
    rig.checkPlayed();
    QVERIFY(rig.lines.seen.filter(u"a resource cannot be followed"_s)
                .first()
                .contains(u"watch demo.example/v1 Widget: storage is "));
    QCOMPARE(rig.transport.count(u"list widgets rv=0"_s), 1); // no relist, not after the 503 either
    QCOMPARE(rig.transport.asked.size(), 6u);
    for (std::size_t i = 2; i <= 4; ++i)
        QVERIFY(rig.transport.asked[i].at - rig.transport.asked[i - 1].at >= 3s);
    QCOMPARE(rig.heard(), L({"+apps/a@90!", "+apps/b@101"}));
    QCOMPARE(rig.roundErrors, 0); // it never stopped
}

void b32_oneRuleIsMissing()
{
    QJsonArray steps = stepsOf("B32-scenario.json");
    const QJsonObject secrets{{u"kind"_s, u"SecretList"_s}, {u"apiVersion"_s, u"v1"_s},
        {u"metadata"_s, QJsonObject{{u"resourceVersion"_s, u"300"_s}}}, {u"items"_s, QJsonArray()}};
    QJsonObject granted = step("list", {}, {{u"status"_s, 200}, {u"json"_s, secrets}});
    granted[u"on"_s] = QJsonObject{{u"verb"_s, u"list"_s}, {u"resource"_s, u"secrets"_s}};
    steps.append(granted);
    steps.append(holdAt(u"300"_s));
    Rig rig(steps, {kWidgets, kSecrets});
    SharedInformer &x = *rig.informers[0];
    SharedInformer &y = *rig.informers[1];
    rig.advance(1ms);
    QVERIFY(x.hasSynced() && !y.hasSynced());
    QCOMPARE(rig.heard(), L({"+apps/a@90!"}));
    const Error told = y.reflectorState().lastError;
    QCOMPARE(told.code(), ErrorCode::Forbidden);
    QVERIFY(told.message().startsWith(u"list v1 Secret: "));
    QVERIFY(told.message().contains(u"cannot list resource \"secrets\""));
    QVERIFY(told.message().contains(u"at the cluster scope"));
    rig.advance(10min);
    std::vector<std::chrono::nanoseconds> at;
    for (const ScenarioTransport::Asked &asked : rig.transport.asked) {
        if (asked.line.startsWith(u"list secrets"))
            at.push_back(asked.at);
    }
    QVERIFY(at.size() > 10u);
    for (std::size_t i = 1; i < at.size(); ++i) // R-3: they fall back each two minutes
        QVERIFY(at[i] - at[i - 1] >= 800ms && at[i] - at[i - 1] <= 30s);
    QVERIFY(!y.hasSynced() && x.hasSynced());
    rig.transport.isGranted = true;
    rig.advance(30s);
    QVERIFY(y.hasSynced()); // it healed by itself
    QVERIFY(!y.reflectorState().lastError.isError());
    QCOMPARE(x.reflectorState().fills, 1u);
}

// R-39: a streaming list that the server cannot serve now, and says how long.
void r39_streamingListToldToWait()
{
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    ScriptedSource source;
    RealFifo fifo((RealFifoOptions()));
    ReflectorOptions how;
    how.name = u"widgets"_s;
    how.random = [] { return 0.0; };
    Reflector tried(source, fifo, executor, clock, how);
    tried.start();
    source.end(error(ErrorCode::ServiceUnavailable).withRetryAfter(7s));
    executor.runAll();
    clock.advance(6999ms, &executor);
    QCOMPARE(source.requests(), L({"WATCHLIST rv="}));
    clock.advance(1ms, &executor);
    executor.runAll();
    QCOMPARE(source.requests(), L({"WATCHLIST rv=", "LIST rv=0 limit=500"}));
    tried.stop();
    executor.runAll();
}

} // namespace
Q_DECLARE_METATYPE(Story)

class tst_InformerCases : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void cases_data();
    void cases();
    void b26_churn();
};

void tst_InformerCases::cases_data()
{
    QTest::addColumn<Story>("story");
    QTest::newRow("B11: a black hole") << Story(b11_blackHole);
    QTest::newRow("B12: expired") << Story(b12_expired);
    QTest::newRow("B12: a Status without a kind") << Story(b12_withoutKind);
    QTest::newRow("B12: null") << Story(b12_null);
    QTest::newRow("B14: a server that lags, with causes") << Story(b14_causes);
    QTest::newRow("B14: a server that lags, the message alone") << Story(b14_messageAlone);
    QTest::newRow("B16: deleted, or deleted and made again") << Story(b16_deletedUnseen);
    QTest::newRow("B17: bookmarks are not whole objects") << Story(b17_bookmarks);
    QTest::newRow("B20: an object of 1.5 MiB") << Story(b20_largeObject);
    QTest::newRow("B20: an event beyond the limit") << Story(b20_tooLarge);
    QTest::newRow("B22: schema and type disagree") << Story(b22_schemaAndTypeDisagree);
    QTest::newRow("B25: told to wait") << Story(b25_toldToWait);
    QTest::newRow("B25: a streaming list told to wait") << Story(r39_streamingListToldToWait);
    QTest::newRow("B32: one rule is missing") << Story(b32_oneRuleIsMissing);
}

void tst_InformerCases::cases()
{
    QFETCH(const Story, story);
    story();
}

// Short-lived namespaces and owners leave nothing behind: no bucket, no string, no block.
// NOLINTNEXTLINE(readability-function-size): one story
void tst_InformerCases::b26_churn()
{
    const QJsonObject input = caseJson(u"B26-churn.json"_s);
    const int rounds = input[u"do"_s][0][u"repeat"_s].toInt();
    QCOMPARE(rounds, 100'000);
    testing::ManualExecutor executor;
    testing::ManualClock clock;
    auto *const source = new ScriptedSource;
    SharedInformerOptions options;
    options.reflector.expectedGvk = kWidget;
    options.reflector.initialSync = InitialSync::List;
    SharedInformer informer(
        std::unique_ptr<ListerWatcher>(source), executor, clock, std::move(options));
    const IndexValues byOwner = [](const Object &o) {
        return std::optional(QStringList{o["spec"_L1]["owner"_L1].toString()});
    };
    QVERIFY(informer.addIndexers({{u"spec.owner"_s, byOwner}}).isOk());
    informer.start();
    executor.runAll();
    source->answerList({}, u"1"_s);
    executor.runAll();
    source->open();
    codec::WatchDecoder decoder({});
    const auto happen = [&](const char *type, int n, int version) {
        source->send(decoder.feed(
            QStringLiteral(R"({"type":"%1","object":{"apiVersion":"demo.example/v1",)"
                           R"("kind":"Widget","metadata":{"name":"w","namespace":"ns-%2",)"
                           R"("uid":"u-%2","resourceVersion":"%3"},"spec":{"owner":"o-%2"}}})"
                           "\n")
                .arg(QLatin1StringView(type))
                .arg(n)
                .arg(version)
                .toUtf8()));
        executor.runAll();
    };
    priv::PoolStats early;
    double earlyMiB = 0;
    for (int n = 0; n < rounds; ++n) {
        happen("ADDED", n, 1000 + 2 * n);
        if (n % 1000 == 0) // there is something to be gone
            QCOMPARE(informer.store()->snapshot()->indexValues(u"spec.owner"_s),
                QStringList{u"o-%1"_s.arg(n)});
        happen("DELETED", n, 1001 + 2 * n);
        const auto snapshot = informer.store()->snapshot();
        if (!snapshot->indexValues(u"spec.owner"_s).isEmpty()
            || !snapshot->indexValues(u"namespace"_s).isEmpty() || snapshot->objects.size() != 0)
            QFAIL("a bucket or an object is left");
        if (n == 1000)
            earlyMiB = residentMiB();
        if (n == rounds / 2) // the last object, which is kept as a hint, is as large as at the end
            early = priv::poolStats();
    }
    const priv::PoolStats late = priv::poolStats();
    QCOMPARE(late.liveBlocks, early.liveBlocks);
    QCOMPARE(late.liveBytes, early.liveBytes);
    QVERIFY(late.mappedBytes <= early.mappedBytes * 105 / 100);
    QVERIFY(late.tableBytes <= early.tableBytes * 105 / 100);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // they keep what was freed
    const double lateMiB = residentMiB();
    QVERIFY2(lateMiB <= earlyMiB * 1.05,
        qPrintable(u"%1 MiB after 1000 rounds, %2 MiB in the end"_s.arg(earlyMiB).arg(lateMiB)));
#endif
    informer.stop();
    executor.runAll();
}

QTEST_GUILESS_MAIN(tst_InformerCases)
#include "tst_informercases.moc"
