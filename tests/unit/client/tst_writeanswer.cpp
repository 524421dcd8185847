// What is told of a plugin's writes: of which objects, in which state, and when.
#include "clientrig.h"

#include <QTest>

using namespace davit;
using namespace davit::client;
using namespace clientrig;
using Outcome = priv::OwnWrite::Outcome;

namespace {

const Gvk kNamespace{QString(), QStringLiteral("v1"), QStringLiteral("Namespace")};

// A ConfigMap as the server answers; `more` goes into its metadata.
QByteArray answered(const char *more = "")
{
    return QByteArray(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x",)")
        + R"("namespace":"team-a","uid":"u1","resourceVersion":"12")" + more + "}}";
}

// "stands v1 ConfigMap team-a/x @12 #u1 whole": outcome, kind, key, version, uid, and whether its
// labels are known.
QString line(const priv::OwnWrite &write)
{
    const char *const outcome = write.outcome == Outcome::Stands ? "stands"
        : write.outcome == Outcome::Gone                         ? "gone"
                                                                 : "gone or terminating";
    return QStringLiteral("%1 %2 %3 @%4 #%5%6")
        .arg(QLatin1StringView(outcome), toString(write.gvk), toString(write.key),
            write.resourceVersion, write.uid,
            write.object.isNull() ? QString() : QStringLiteral(" whole"));
}

// A client that tells what it writes.
struct Telling : Fixture
{
    QStringList lines;
    QFuture<ObjectReply> *reply = nullptr; // seen when a write is told
    bool wasFinished = false;

    Telling()
    {
        ClientIdentity identity{QStringLiteral("p"), QStringLiteral("1.2.0"),
            Rbac({{{QStringLiteral("*")}, {QStringLiteral("*")}, {}, {QStringLiteral("*")}}})};
        identity.onWritten = [this](const priv::OwnWrite &write) {
            lines += line(write);
            wasFinished |= reply && reply->isFinished();
        };
        client = Client(*new PluginClient(std::move(identity), rest, mapper));
    }
};

using Act = std::function<QFuture<ObjectReply>(const Client &)>;

Object parsed(const QByteArray &json)
{
    Object object;
    const Status status = Object::fromJson(json, &object);
    return status.isOk() ? object : Object();
}

// The verbs, as the rows name them.
const std::map<QString, Act> kActs{
    {QStringLiteral("get"), [](const Client &c) { return c.get(kConfigMap, kX); }},
    {QStringLiteral("create"), [](const Client &c) { return c.create(parsed(kJson)); }},
    {QStringLiteral("create, dry"),
        [](const Client &c) { return c.create(parsed(kJson), RequestOptions().dryRun()); }},
    {QStringLiteral("update"), [](const Client &c) { return c.update(parsed(kJson)); }},
    {QStringLiteral("status"), [](const Client &c) { return c.updateStatus(parsed(kJson)); }},
    {QStringLiteral("apply"), [](const Client &c) { return c.apply(parsed(kJson)); }},
    {QStringLiteral("patch"),
        [](const Client &c) { return c.patch(kConfigMap, kX, Patch::merge("{}")); }},
    {QStringLiteral("patch a namespace"),
        [](const Client &c) {
            return c.patch(kNamespace, {QString(), QStringLiteral("team-a")}, Patch::merge("{}"));
        }},
    {QStringLiteral("scale"),
        [](const Client &c) { return c.patchScale(kConfigMap, kX, Patch::merge("{}")); }},
    {QStringLiteral("evict"),
        [](const Client &c) {
            return c.createSubresource(kConfigMap, kX, QStringLiteral("eviction"), parsed(kJson));
        }},
    {QStringLiteral("remove"), [](const Client &c) { return c.remove(kConfigMap, kX); }},
    {QStringLiteral("remove, dry"),
        [](const Client &c) { return c.remove(kConfigMap, kX, RequestOptions().dryRun()); }},
    {QStringLiteral("remove at 11"),
        [](const Client &c) {
            return c.remove(kConfigMap, kX,
                RequestOptions()
                    .preconditionResourceVersion(QStringLiteral("11"))
                    .preconditionUid(QStringLiteral("u1")));
        }},
    {QStringLiteral("remove all"),
        [](const Client &c) {
            return c.removeCollection(
                kConfigMap, RequestOptions().inNamespace(QStringLiteral("team-a")));
        }},
    {QStringLiteral("remove all, dry"),
        [](const Client &c) {
            return c.removeCollection(
                kConfigMap, RequestOptions().inNamespace(QStringLiteral("team-a")).dryRun());
        }},
};

} // namespace

class tst_WriteAnswer : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void told_data();
    void told();
    void unansweredWrite();
};

// NOLINTNEXTLINE(readability-function-size): one table
void tst_WriteAnswer::told_data()
{
    QTest::addColumn<QString>("act");
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QStringList>("lines");
    const auto row = [](const char *name, const char *act, int status, const QByteArray &body,
                         std::initializer_list<const char *> lines) {
        QStringList texts;
        for (const char *text : lines)
            texts += QString::fromLatin1(text);
        QTest::newRow(name) << QString::fromLatin1(act) << status << body << texts;
    };
    const char *const stands = "stands v1 ConfigMap team-a/x @12 #u1 whole";
    const char *const gone = "gone v1 ConfigMap team-a/x @12 #u1 whole";
    row("a read", "get", 200, answered(), {});
    row("create", "create", 201, answered(), {stands});
    row("a dry run", "create, dry", 201, answered(), {});
    row("a refusal", "create", 409, "", {});
    row("update", "update", 200, answered(), {stands});
    row("a conflict", "update", 409, "", {});
    row("update of the status", "status", 200, answered(), {stands});
    row("apply", "apply", 200, answered(), {stands});
    row("patch", "patch", 200, answered(), {stands});
    row("an answer without a version", "patch", 200, kJson,
        {"stands v1 ConfigMap team-a/x @ # whole"});
    row("a scale has its parent's version", "scale", 200,
        R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"x",)"
        R"("namespace":"team-a","uid":"u1","resourceVersion":"12"},"spec":{"replicas":2}})",
        {"stands v1 ConfigMap team-a/x @12 #u1"});
    row("an eviction", "evict", 201, R"({"apiVersion":"v1","kind":"Status","status":"Success"})",
        {});
    row("finalizers left", "patch", 200,
        answered(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b"])"), {stands});
    row("the last finalizer taken off", "patch", 200,
        answered(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0)"),
        {gone});
    row("a grace period that runs", "patch", 200,
        answered(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30)"),
        {stands});
    row("a namespace that ends", "patch a namespace", 200,
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-a","uid":"u2",)"
        R"("resourceVersion":"13","deletionTimestamp":"2026-01-01T00:00:00Z"},)"
        R"("spec":{"finalizers":["kubernetes"]}})",
        {"stands v1 Namespace team-a @13 #u2 whole"});
    row("remove", "remove", 200,
        R"({"apiVersion":"v1","kind":"Status","status":"Success","details":{"uid":"u1"}})",
        {"gone v1 ConfigMap team-a/x @ #u1"});
    row("a dry removal", "remove, dry", 200,
        R"({"apiVersion":"v1","kind":"Status","status":"Success","details":{"uid":"u1"}})", {});
    row("remove with preconditions", "remove at 11", 200,
        R"({"apiVersion":"v1","kind":"Status","status":"Success"})",
        {"gone v1 ConfigMap team-a/x @11 #u1"});
    row("nothing to remove", "remove", 404, "", {});
    row("finalizers keep it", "remove", 200,
        answered(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b"])"), {stands});
    row("answered with what was there", "remove", 200, answered(), {gone});
    const QByteArray list = R"({"apiVersion":"v1","kind":"ConfigMapList","metadata":)"
                            R"({"resourceVersion":"20"},"items":[{"metadata":{"name":"x",)"
                            R"("namespace":"team-a","uid":"u1","resourceVersion":"12"}},)"
                            R"({"metadata":{"name":"y","namespace":"team-a","uid":"u2",)"
                            R"("resourceVersion":"13"}}]})";
    row("remove a collection", "remove all", 200, list,
        {"gone or terminating v1 ConfigMap team-a/x @12 #u1 whole",
            "gone or terminating v1 ConfigMap team-a/y @13 #u2 whole"});
    row("a dry removal of a collection", "remove all, dry", 200, list, {});
    row("a collection that is not listed", "remove all", 200,
        R"({"apiVersion":"v1","kind":"Status","status":"Success"})", {});
}

void tst_WriteAnswer::told()
{
    QFETCH(const QString, act);
    QFETCH(const int, status);
    QFETCH(const QByteArray, body);
    Telling t;
    QFuture<ObjectReply> reply = kActs.at(act)(t.client);
    t.reply = &reply;
    t.discover();
    t.server.answer(1, status, body);
    t.executor.runAll();
    QVERIFY(reply.isFinished());
    QCOMPARE(reply.result().isOk(), status < 300);
    QTEST(t.lines, "lines");
    QVERIFY(!t.wasFinished); // a wait that begins with the answer finds it
}

void tst_WriteAnswer::unansweredWrite()
{
    Telling t;
    const QFuture<ObjectReply> reply = t.client.update(parsed(kJson));
    t.discover();
    t.server.fail(1, Error(ErrorCode::OutcomeUnknown, QStringLiteral("the connection broke")));
    t.executor.runAll();
    QCOMPARE(reply.result().error().code(), ErrorCode::OutcomeUnknown);
    QCOMPARE(t.lines, QStringList());
}

QTEST_GUILESS_MAIN(tst_WriteAnswer)
#include "tst_writeanswer.moc"
