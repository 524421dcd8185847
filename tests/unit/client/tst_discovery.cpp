#include "client/restmapper.h"
#include "scriptedtransport.h"
#include "testing/manualclock.h"

#include <QTest>

using namespace davit;
using namespace davit::client;
using namespace std::chrono_literals;

namespace {

// Two groups; widgets are in two versions, v1 preferred, and "wd" is short for two resources.
const QByteArray kGroups
    = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
 {"metadata":{"name":"demo.example"},"versions":[
  {"version":"v1","freshness":"Current","resources":[
   {"resource":"widgets","scope":"Namespaced","singularResource":"widget","verbs":["get","list"],
    "shortNames":["wd"],"categories":["all","demo"],
    "responseKind":{"group":"demo.example","version":"v1","kind":"Widget"},
    "subresources":[{"subresource":"status","verbs":["get"]},{"subresource":"scale","verbs":["get"]}]},
   {"subresources":[{"subresource":"lonely"}]}]},
  {"version":"v1beta1","freshness":"Current","resources":[
   {"resource":"widgets","scope":"Namespaced","singularResource":"widget","shortNames":["wd"],
    "categories":["all"],"responseKind":{"group":"demo.example","version":"v1beta1","kind":"Widget"}},
   {"resource":"gadgets","scope":"Cluster","singularResource":"gadget",
    "responseKind":{"group":"demo.example","version":"v1beta1","kind":"Gadget"}}]}]},
 {"metadata":{"name":"other.example"},"versions":[
  {"version":"v1","freshness":"Current","resources":[
   {"resource":"widgets","scope":"Cluster","singularResource":"widget",
    "responseKind":{"group":"other.example","version":"v1","kind":"Widget"}},
   {"resource":"words","scope":"Cluster","singularResource":"word","shortNames":["wd"],
    "categories":["demo"],"responseKind":{"group":"other.example","version":"v1","kind":"Word"}}]}]},
 {"metadata":{"name":"away.example"},"versions":[{"version":"v1","freshness":"Stale"}]}]})";
const QByteArray kCore = R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[
  {"version":"v1","resources":[
   {"resource":"pods","scope":"Namespaced","singularResource":"pod","shortNames":["po"],
    "categories":["all"],"responseKind":{"kind":"Pod"}},
   {"resource":"words","scope":"Namespaced","singularResource":"word",
    "responseKind":{"kind":"CoreWord"}}]}]}]})";

const char kWidgetList[]
    = R"({"kind":"APIResourceList","groupVersion":"demo.example/v1","resources":[
  {"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","shortNames":["wd"],
   "categories":["all"],"verbs":["get"]},
  {"name":"widgets/status","singularName":"","namespaced":true,"kind":"Widget","verbs":["get"]}]})";

// "widgets.v1.demo.example"
QString shown(const ApiResource &entry)
{
    const Gvk &gvk = entry.resource.gvk;
    return entry.resource.plural + QLatin1Char('.') + gvk.version
        + (gvk.group.isEmpty() ? QString() : QLatin1Char('.') + gvk.group);
}

QString shown(const Result<std::vector<ApiResource>> &result)
{
    if (!result.isOk())
        return errorCodeName(result.error().code());
    QStringList names;
    for (const ApiResource &entry : result.value())
        names += shown(entry);
    return names.join(QLatin1Char(' '));
}

Gvk gvk(const char *version, const char *kind)
{
    return gvkFrom(QString::fromLatin1(version), QString::fromLatin1(kind));
}

struct Fixture
{
    testing::ManualClock clock;
    testing::ManualExecutor executor;
    ScriptedTransport server;
    RestClient rest{server, executor, clock};
    RestMapper mapper{rest, clock};
    size_t answered = 0;

    ~Fixture()
    {
        rest.close();
        executor.runAll();
    }
    // Serves what was asked by a table of paths; 404 for all others. Gives the paths.
    QStringList serve(const QMap<QByteArray, QByteArray> &documents)
    {
        QStringList asked;
        executor.runAll();
        for (; answered < server.exchanges.size(); ++answered) {
            const QByteArray target = server.exchanges[answered]->request.target;
            asked += QString::fromLatin1(target);
            const QByteArray body = documents.value(target);
            server.answer(answered, body.isEmpty() ? 404 : 200, body);
            executor.runAll();
        }
        return asked;
    }
    QString find(const char *name, const QMap<QByteArray, QByteArray> &documents)
    {
        QString found;
        mapper.find(QString::fromLatin1(name), [&](const auto &result) { found = shown(result); });
        asked = serve(documents);
        return found;
    }
    // The path prefix of a kind, or the error.
    QString resolve(const Gvk &kind, const QMap<QByteArray, QByteArray> &documents)
    {
        QString found = QStringLiteral("no answer");
        mapper.resolve(kind, [&](const Result<transport::Resource> &result) {
            found = result.isOk() ? result.value().plural
                    + (result.value().isNamespaced ? QStringLiteral(" namespaced") : QString())
                                  : QString(errorCodeName(result.error().code()));
        });
        asked = serve(documents);
        return found;
    }
    QStringList asked;
};

const QMap<QByteArray, QByteArray> kAggregated{{"/api", kCore}, {"/apis", kGroups}};
const QMap<QByteArray, QByteArray> kLists{{"/api", R"({"kind":"APIVersions","versions":["v1"]})"},
    {"/apis",
        R"({"kind":"APIGroupList","groups":[{"name":"demo.example","versions":[{"version":"v1beta1"},{"version":"v1"}],"preferredVersion":{"version":"v1"}}]})"},
    {"/api/v1",
        R"({"kind":"APIResourceList","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","shortNames":["po"]}]})"},
    {"/apis/demo.example/v1", kWidgetList}, {"/apis/demo.example/v1beta1", kWidgetList}};

} // namespace

class tst_Discovery : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aggregated();
    void lists();
    void noDocument();
    void find_data();
    void find();
    void findOnOldServers();
    void categories();
    void laterCrd();
    void resolvesFromOneDocument();
    void fallsBack_data();
    void fallsBack();
    void staleGroup();
    void unreachable();
    void forgottenGroup();
    void forgottenOnTheWay_data();
    void forgottenOnTheWay();
};

void tst_Discovery::aggregated()
{
    std::vector<ApiGroup> groups;
    QVERIFY(readAggregated(kGroups, &groups));
    QCOMPARE(groups.size(), size_t(3));
    QCOMPARE(groups[0].name, QStringLiteral("demo.example"));
    QCOMPARE(groups[0].versions[0].name, QStringLiteral("v1")); // the preferred one
    QCOMPARE(groups[0].versions[0].resources.size(), size_t(1)); // one without a parent is none
    const ApiResource widgets = groups[0].versions[0].resources[0];
    QVERIFY(widgets.resource.gvk == gvk("demo.example/v1", "Widget"));
    QVERIFY(widgets.resource.isNamespaced);
    QCOMPARE(widgets.singular, QStringLiteral("widget"));
    QCOMPARE(widgets.shortNames, QStringList{QStringLiteral("wd")});
    QCOMPARE(widgets.categories, (QStringList{QStringLiteral("all"), QStringLiteral("demo")}));
    QCOMPARE(widgets.verbs, (QStringList{QStringLiteral("get"), QStringLiteral("list")}));
    QCOMPARE(
        widgets.subresources, (QStringList{QStringLiteral("status"), QStringLiteral("scale")}));
    QVERIFY(!groups[1].versions[0].resources[0].resource.isNamespaced);
    QVERIFY(groups[2].versions[0].isStale);
}

void tst_Discovery::lists()
{
    std::vector<ApiGroup> groups;
    QVERIFY(readGroups(kLists["/api"], &groups));
    QVERIFY(readGroups(kLists["/apis"], &groups));
    QCOMPARE(groups.size(), size_t(2));
    QVERIFY(groups[0].name.isEmpty());
    QCOMPARE(groups[1].versions[0].name, QStringLiteral("v1")); // though it was listed second
    std::vector<ApiResource> resources;
    QCOMPARE(readResources(kWidgetList, gvk("demo.example/v1", ""), &resources), QString());
    QCOMPARE(resources.size(), size_t(1));
    QCOMPARE(resources[0].subresources, QStringList{QStringLiteral("status")});
    QCOMPARE(shown(resources[0]), QStringLiteral("widgets.v1.demo.example"));
}

void tst_Discovery::noDocument()
{
    std::vector<ApiGroup> groups;
    std::vector<ApiResource> resources;
    for (const QByteArray &body : {QByteArray(), QByteArray("<html>"), QByteArray("[]"),
             QByteArray(R"({"kind":"Status"})"), QByteArray(R"({"groups":7,"resources":7})")}) {
        QVERIFY(!readAggregated(body, &groups));
        QVERIFY(!readGroups(body, &groups));
        QVERIFY(!readResources(body, {}, &resources).isEmpty());
    }
    QVERIFY(groups.empty() && resources.empty());
}

void tst_Discovery::find_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QString>("found");
    const auto row = [](const char *name, const char *found) {
        QTest::newRow(name) << QByteArray(name) << QString::fromLatin1(found);
    };
    row("pods", "pods.v1");
    row("pod", "pods.v1");
    row("Pod", "pods.v1");
    row("PODS", "pods.v1");
    row("po", "pods.v1");
    row("pods.v1", "pods.v1");
    row("widgets", "widgets.v1.demo.example widgets.v1.other.example"); // the preferred versions
    row("widgets.demo.example", "widgets.v1.demo.example");
    row("widgets.v1beta1.demo.example", "widgets.v1beta1.demo.example");
    row("widgets.v2.demo.example", "KindNotServed");
    row("Widget.other.example", "widgets.v1.other.example");
    row("gadget", "gadgets.v1beta1.demo.example"); // in no other version
    row("wd", "widgets.v1.demo.example words.v1.other.example");
    row("words", "words.v1 words.v1.other.example"); // the core group first
    row("wid", "KindNotServed");
    row("widgets.", "KindNotServed");
    row("", "KindNotServed");
}

void tst_Discovery::find()
{
    QFETCH(const QByteArray, name);
    Fixture f;
    QTEST(f.find(name.constData(), kAggregated), "found");
    QCOMPARE(f.asked, (QStringList{QStringLiteral("/api"), QStringLiteral("/apis")}));
    QTEST(f.find(name.constData(), kAggregated), "found");
    QVERIFY(f.asked.isEmpty()); // kept; even a "no", for a while
}

void tst_Discovery::findOnOldServers()
{
    Fixture f;
    QCOMPARE(f.find("wd", kLists), QStringLiteral("widgets.v1.demo.example"));
    QCOMPARE(f.asked,
        (QStringList{QStringLiteral("/api"), QStringLiteral("/apis"), QStringLiteral("/api/v1"),
            QStringLiteral("/apis/demo.example/v1"),
            QStringLiteral("/apis/demo.example/v1beta1")}));
    QCOMPARE(f.find("pods", kLists), QStringLiteral("pods.v1"));
    QVERIFY(f.asked.isEmpty());
    QCOMPARE(f.find("gadgets", kLists), QStringLiteral("KindNotServed"));
    QVERIFY(f.asked.isEmpty());
    f.clock.advance(10s);
    QMap<QByteArray, QByteArray> later = kLists;
    later["/apis/demo.example/v1"].replace("widget", "gadget").replace("Widget", "Gadget");
    QCOMPARE(f.find("gadgets", later), QStringLiteral("gadgets.v1.demo.example"));
}

void tst_Discovery::categories()
{
    Fixture f;
    const auto category = [&](const char *name) {
        QString found;
        f.mapper.category(
            QString::fromLatin1(name), [&](const auto &result) { found = shown(result); });
        f.serve(kAggregated);
        return found;
    };
    QCOMPARE(category("all"), QStringLiteral("pods.v1 widgets.v1.demo.example"));
    QCOMPARE(category("demo"), QStringLiteral("widgets.v1.demo.example words.v1.other.example"));
    QCOMPARE(category("none"), QString());
}

void tst_Discovery::laterCrd() // a kind that appears later is found
{
    Fixture f;
    const QMap<QByteArray, QByteArray> before{
        {"/api", kCore}, {"/apis", R"({"kind":"APIGroupDiscoveryList","items":[]})"}};
    QCOMPARE(f.find("widgets", before), QStringLiteral("KindNotServed"));
    QCOMPARE(f.find("widgets", kAggregated), QStringLiteral("KindNotServed")); // not asked yet
    QVERIFY(f.asked.isEmpty());
    f.clock.advance(10s);
    QCOMPARE(
        f.find("widgets.demo.example", kAggregated), QStringLiteral("widgets.v1.demo.example"));
    QCOMPARE(f.asked, (QStringList{QStringLiteral("/api"), QStringLiteral("/apis")}));
    // What was found is good for resolve() as well.
    QCOMPARE(f.resolve(gvk("other.example/v1", "Word"), kAggregated), QStringLiteral("words"));
    QVERIFY(f.asked.isEmpty());
}

void tst_Discovery::resolvesFromOneDocument()
{
    Fixture f;
    QCOMPARE(f.resolve(gvk("demo.example/v1", "Widget"), kAggregated),
        QStringLiteral("widgets namespaced"));
    QCOMPARE(f.asked, QStringList{QStringLiteral("/apis")});
    QCOMPARE(f.resolve(gvk("other.example/v1", "Widget"), kAggregated), QStringLiteral("widgets"));
    QCOMPARE(
        f.resolve(gvk("demo.example/v1beta1", "Gadget"), kAggregated), QStringLiteral("gadgets"));
    QVERIFY(f.asked.isEmpty());
    QCOMPARE(
        f.resolve(gvk("demo.example/v1", "Gadget"), kAggregated), QStringLiteral("KindNotServed"));
    QVERIFY(f.asked.isEmpty());
    f.clock.advance(10s); // the unknown one is asked for again, by its group and version alone
    QCOMPARE(
        f.resolve(gvk("demo.example/v1", "Gadget"), kAggregated), QStringLiteral("KindNotServed"));
    QCOMPARE(f.asked, QStringList{QStringLiteral("/apis/demo.example/v1")});
}

void tst_Discovery::fallsBack_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    QTest::newRow("a server before aggregated discovery") << 200 << kLists["/apis"];
    QTest::newRow("no right to the root") << 403 << QByteArray();
    QTest::newRow("no such path") << 404 << QByteArray();
    QTest::newRow("not acceptable") << 406 << QByteArray();
    QTest::newRow("no JSON") << 200 << QByteArray("<html>");
}

void tst_Discovery::fallsBack()
{
    QFETCH(const int, status);
    QFETCH(const QByteArray, body);
    Fixture f;
    QString found;
    f.mapper.resolve(
        gvk("demo.example/v1", "Widget"), [&](const Result<transport::Resource> &result) {
            found = result.isOk() ? result.value().plural : result.error().message();
        });
    f.executor.runAll();
    f.server.answer(0, status, body);
    f.executor.runAll();
    f.answered = 1;
    QCOMPARE(f.serve(kLists), QStringList{QStringLiteral("/apis/demo.example/v1")});
    QCOMPARE(found, QStringLiteral("widgets"));
}

void tst_Discovery::staleGroup() // its server is away: who needs it hears that, not "no such kind"
{
    Fixture f;
    f.mapper.resolve(gvk("demo.example/v1", "Widget"), [](const auto &) {});
    f.serve(kAggregated);
    ErrorCode code = ErrorCode::Unset;
    f.mapper.resolve(gvk("away.example/v1", "Thing"),
        [&](const Result<transport::Resource> &result) { code = result.status().error().code(); });
    f.executor.runAll();
    QCOMPARE(f.server.exchanges[1]->request.target, QByteArray("/apis/away.example/v1"));
    f.server.answer(1, 503, "service unavailable");
    f.executor.runAll();
    QCOMPARE(code, ErrorCode::ServiceUnavailable);
}

void tst_Discovery::unreachable()
{
    Fixture f;
    QStringList codes;
    const auto note = [&](const auto &result) {
        codes += QString(errorCodeName(result.status().error().code()));
    };
    f.mapper.resolve(gvk("v1", "Pod"), note);
    f.mapper.find(QStringLiteral("pods"), note);
    f.executor.runAll();
    QCOMPARE(f.server.exchanges.size(), size_t(2)); // /api serves both
    for (size_t i = 0; i < 2; ++i)
        f.server.fail(i, Error(ErrorCode::ConnectionRefused, QStringLiteral("nothing listens")));
    f.executor.runAll();
    QCOMPARE(codes,
        (QStringList{QStringLiteral("ConnectionRefused"), QStringLiteral("ConnectionRefused")}));
    f.answered = 2;
    QCOMPARE(f.find("pods", kAggregated), QStringLiteral("pods.v1")); // a failure is not kept
}

void tst_Discovery::forgottenGroup()
{
    Fixture f;
    f.find("widgets", kAggregated);
    f.mapper.forgetGroup(QStringLiteral("demo.example"));
    f.resolve(gvk("demo.example/v1", "Widget"), kLists);
    QCOMPARE(f.asked, QStringList{QStringLiteral("/apis/demo.example/v1")});
    f.resolve(gvk("other.example/v1", "Word"), kLists); // the others are known
    QVERIFY(f.asked.isEmpty());
    f.find("widgets", kAggregated); // versions that nobody has heard of come with the root
    QCOMPARE(f.asked, QStringList{QStringLiteral("/apis")});
}

void tst_Discovery::forgottenOnTheWay_data()
{
    QTest::addColumn<bool>("isRootKnown");
    QTest::addColumn<QString>("forgotten"); // a group, or "GROUP/KIND"
    QTest::addColumn<QStringList>("asked");
    QTest::addColumn<QString>("found");
    const QString ours = QStringLiteral("demo.example");
    const QString other = QStringLiteral("other.example");
    const QString root = QStringLiteral("/apis");
    const QString list = QStringLiteral("/apis/demo.example/v1");
    const QString widgets = QStringLiteral("widgets namespaced");
    const QString none = QStringLiteral("KindNotServed");
    QTest::newRow("M-9 the kind, by the root")
        << false << QStringLiteral("demo.example/Widget") << QStringList{root, root} << widgets;
    QTest::newRow("M-9 the kind, by its group")
        << true << QStringLiteral("demo.example/Widget") << QStringList{list, list} << widgets;
    QTest::newRow("M-9 the root") << false << ours << QStringList{root, root} << widgets;
    QTest::newRow("M-9 the group") << true << ours << QStringList{list, list} << widgets;
    QTest::newRow("another group") << true << other << QStringList{list} << none;
}

// Who asked before the news hears what is true after it.
void tst_Discovery::forgottenOnTheWay()
{
    QFETCH(const bool, isRootKnown);
    QFETCH(const QString, forgotten);
    const QMap<QByteArray, QByteArray> before{
        {"/api", kCore}, {"/apis", R"({"kind":"APIGroupDiscoveryList","items":[]})"}};
    const QMap<QByteArray, QByteArray> after{
        {"/apis", kGroups}, {"/apis/demo.example/v1", kWidgetList}};
    Fixture f;
    if (isRootKnown) {
        f.find("pods", before);
        f.clock.advance(RestMapper::kUnknownLife);
    }
    QString found;
    f.mapper.resolve(
        gvk("demo.example/v1", "Widget"), [&](const Result<transport::Resource> &result) {
            found = result.isOk() ? result.value().plural + QStringLiteral(" namespaced")
                                  : QString(errorCodeName(result.error().code()));
        });
    f.executor.runAll();
    if (forgotten.contains(u'/'))
        f.mapper.forget(gvk("demo.example/v1", "Widget"));
    else
        f.mapper.forgetGroup(forgotten);
    const size_t first = f.answered++;
    const QString asked = QString::fromLatin1(f.server.exchanges[first]->request.target);
    f.server.answer(first, isRootKnown ? 404 : 200, before[asked.toLatin1()]);
    const QStringList again = f.serve(after);
    QTEST(QStringList{asked} + again, "asked");
    QTEST(found, "found");
}

QTEST_GUILESS_MAIN(tst_Discovery)
#include "tst_discovery.moc"
