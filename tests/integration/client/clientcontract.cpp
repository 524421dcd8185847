#include "clientfixture.h"

#include <davit/listwalk.h>

#include <QTest>

using namespace davit;
using namespace std::chrono_literals;

namespace {

const Gvk kEvent{QString(), QStringLiteral("v1"), QStringLiteral("Event")};
const Gvk kSeriesEvent{
    QStringLiteral("events.k8s.io"), QStringLiteral("v1"), QStringLiteral("Event")};

} // namespace

ClientContract::ClientContract() = default;
ClientContract::~ClientContract() = default;

Client::Blocking ClientContract::client() const
{
    return m_fixture->contract.blocking();
}

void ClientContract::initTestCase()
{
    const QString kubeconfig = startServer();
    QVERIFY2(!kubeconfig.isEmpty(), "the server did not start");
    const Result<transport::ClusterConfig> cluster
        = transport::loadClusterConfig({kubeconfig, QString()});
    DAVIT_VERIFY_OK(cluster);
    m_fixture = std::make_unique<ClientFixture>(cluster.value());
}

void ClientContract::cleanupTestCase()
{
    m_fixture.reset();
}

void ClientContract::lifeOfAnObject()
{
    const Result<Object> created = client().create(configMap("life"));
    DAVIT_VERIFY_OK(created);
    QVERIFY(!created.value().uid().isEmpty());

    const Result<Object> again = client().create(configMap("life"));
    QCOMPARE(again.status().error().code(), ErrorCode::AlreadyExists);

    const Result<Object> got = client().get(kConfigMap, key("life"));
    DAVIT_VERIFY_OK(got);
    QCOMPARE(got.value().resourceVersion(), created.value().resourceVersion());

    const Object changed
        = ObjectBuilder(got.value())
              .set({QStringLiteral("data"), QStringLiteral("a")}, QStringLiteral("2"))
              .build();
    const Result<Object> updated = client().update(changed);
    DAVIT_VERIFY_OK(updated);
    QCOMPARE(dataOf(updated.value(), "a"), QStringLiteral("2"));
    QVERIFY(updated.value().resourceVersion() != got.value().resourceVersion());

    DAVIT_VERIFY_OK(client().remove(kConfigMap, key("life")));
    const Result<Object> gone = client().get(kConfigMap, key("life"));
    QCOMPARE(gone.status().error().code(), ErrorCode::NotFound);
    QCOMPARE(gone.status().error().httpStatus(), 404);
    QCOMPARE(gone.status().error().reason(), QStringLiteral("NotFound"));
    const Result<Object> twice = client().remove(kConfigMap, key("life"));
    QCOMPARE(twice.status().error().code(), ErrorCode::NotFound);
}

void ClientContract::generatedName()
{
    const Object object = ObjectBuilder(kConfigMap, key(""))
                              .remove({QStringLiteral("metadata"), QStringLiteral("name")})
                              .set({QStringLiteral("metadata"), QStringLiteral("generateName")},
                                  QStringLiteral("gen-"))
                              .build();
    const Result<Object> created = client().create(object);
    DAVIT_VERIFY_OK(created);
    QVERIFY(created.value().name().startsWith(QStringLiteral("gen-")));
    QVERIFY(created.value().name().size() > 4);
}

void ClientContract::staleUpdate()
{
    const Result<Object> first = client().create(configMap("stale"));
    DAVIT_VERIFY_OK(first);
    const Object second
        = ObjectBuilder(first.value())
              .set({QStringLiteral("data"), QStringLiteral("a")}, QStringLiteral("2"))
              .build();
    DAVIT_VERIFY_OK(client().update(second));
    const Result<Object> stale = client().update(
        ObjectBuilder(first.value())
            .set({QStringLiteral("data"), QStringLiteral("a")}, QStringLiteral("3"))
            .build());
    QCOMPARE(stale.status().error().code(), ErrorCode::Conflict);
    QVERIFY(stale.status().error().isRetryable());

    // E-29: a difference with an optimistic lock fails in the same way, one without does not.
    const Object third
        = ObjectBuilder(first.value())
              .set({QStringLiteral("data"), QStringLiteral("b")}, QStringLiteral("x"))
              .build();
    const Result<Object> locked
        = client().patch(kConfigMap, key("stale"), Patch::difference(first.value(), third, true));
    QCOMPARE(locked.status().error().code(), ErrorCode::Conflict);
    const Result<Object> merged
        = client().patch(kConfigMap, key("stale"), Patch::difference(first.value(), third));
    DAVIT_VERIFY_OK(merged);
    QCOMPARE(dataOf(merged.value(), "a"), QStringLiteral("2"));
    QCOMPARE(dataOf(merged.value(), "b"), QStringLiteral("x"));
}

void ClientContract::patches_data() // C-29
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("type");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    const auto row = [](const char *name, PatchType type, const char *body, const char *a,
                         const char *b) {
        QTest::newRow(name) << QStringLiteral("patch-") + QString::fromLatin1(name) << int(type)
                            << QByteArray(body) << QString::fromLatin1(a) << QString::fromLatin1(b);
    };
    row("merge", PatchType::Merge, R"({"data":{"a":null,"b":"2"}})", "", "2");
    row("json", PatchType::Json, R"([{"op":"add","path":"/data/b","value":"3"}])", "1", "3");
    row("strategic", PatchType::StrategicMerge, R"({"data":{"b":"4"}})", "1", "4");
}

void ClientContract::patches()
{
    QFETCH(const QString, name);
    QFETCH(const int, type);
    QFETCH(const QByteArray, body);
    const Patch patch = PatchType(type) == PatchType::Merge ? Patch::merge(body)
        : PatchType(type) == PatchType::Json                ? Patch::json(body)
                                                            : Patch::strategicMerge(body);
    DAVIT_VERIFY_OK(client().create(configMap(name.toLatin1())));
    const Result<Object> patched = client().patch(kConfigMap, key(name.toLatin1()), patch);
    DAVIT_VERIFY_OK(patched);
    QTEST(dataOf(patched.value(), "a"), "a");
    QTEST(dataOf(patched.value(), "b"), "b");
}

void ClientContract::statusIsApart()
{
    const Result<Object> created = client().create(deployment("web"));
    DAVIT_VERIFY_OK(created);
    const Object changed = ObjectBuilder(created.value())
                               .set({QStringLiteral("status"), QStringLiteral("replicas")}, 5)
                               .set({QStringLiteral("spec"), QStringLiteral("replicas")}, 9)
                               .build();
    const Result<Object> status = client().updateStatus(changed);
    DAVIT_VERIFY_OK(status);
    QCOMPARE(replicasIn(status.value(), "status"), 5);
    QCOMPARE(replicasIn(status.value(), "spec"), 1); // the spec is not the status's business
    const Result<Object> patched
        = client().patch(kDeployment, key("web"), Patch::merge(R"({"status":{"replicas":6}})"),
            RequestOptions().subresource(QStringLiteral("status")));
    DAVIT_VERIFY_OK(patched);
    QCOMPARE(replicasIn(patched.value(), "status"), 6);
    const Result<Object> scale = client().get(
        kDeployment, key("web"), RequestOptions().subresource(QStringLiteral("scale")));
    DAVIT_VERIFY_OK(scale);
    QCOMPARE(scale.value().gvk().kind, QStringLiteral("Scale"));
    QCOMPARE(replicasIn(scale.value(), "spec"), 1);
}

void ClientContract::applyConflicts() // E-31, E-32
{
    const Result<Object> mine = client().apply(configMap("applied", "mine"));
    DAVIT_VERIFY_OK(mine);
    const Value managers
        = mine.value()[QLatin1StringView("metadata")][QLatin1StringView("managedFields")];
    QCOMPARE(
        managers.at(0)[QLatin1StringView("manager")].toString(), QStringLiteral("davit/contract"));
    QCOMPARE(managers.at(0)[QLatin1StringView("operation")].toString(), QStringLiteral("Apply"));

    RequestOptions other;
    other.fieldManager(QStringLiteral("someone-else"));
    const Result<Object> refused = client().apply(configMap("applied", "theirs"), other);
    QCOMPARE(refused.status().error().code(), ErrorCode::Conflict);
    const QList<ErrorCause> causes = refused.status().error().causes();
    QCOMPARE(causes.size(), 1);
    QCOMPARE(causes[0].field, QStringLiteral(".data.a"));
    QCOMPARE(causes[0].reason, QStringLiteral("FieldManagerConflict"));
    QCOMPARE(conflictingManager(causes[0]), QStringLiteral("davit/contract"));
    const Result<Object> forced = client().apply(configMap("applied", "theirs"), other.force());
    DAVIT_VERIFY_OK(forced);
    QCOMPARE(dataOf(forced.value(), "a"), QStringLiteral("theirs"));
    // B55: what was read may be sent back: what only the server writes is left out.
    const Result<Object> again = client().apply(forced.value(), other);
    DAVIT_VERIFY_OK(again);
    QCOMPARE(again.value().resourceVersion(), forced.value().resourceVersion());
}

void ClientContract::finalizersKeep()
{
    const Object object = ObjectBuilder(configMap("kept"))
                              .set({QStringLiteral("metadata"), QStringLiteral("finalizers")},
                                  QStringList{QStringLiteral("davit.dev/test")})
                              .build();
    DAVIT_VERIFY_OK(client().create(object));
    const Result<Object> removed = client().remove(kConfigMap, key("kept"));
    DAVIT_VERIFY_OK(removed);
    const Result<Object> still = client().get(kConfigMap, key("kept"));
    DAVIT_VERIFY_OK(still);
    QVERIFY(still.value().isBeingDeleted());
    DAVIT_VERIFY_OK(client().patch(
        kConfigMap, key("kept"), Patch::merge(R"({"metadata":{"finalizers":null}})")));
    QCOMPARE(client().get(kConfigMap, key("kept")).status().error().code(), ErrorCode::NotFound);
}

void ClientContract::preconditions() // E-34
{
    const Result<Object> created = client().create(configMap("guarded"));
    DAVIT_VERIFY_OK(created);
    const Result<Object> refused = client().remove(
        kConfigMap, key("guarded"), RequestOptions().preconditionUid(QStringLiteral("another")));
    QCOMPARE(refused.status().error().code(), ErrorCode::Conflict);
    const Result<Object> stale = client().remove(kConfigMap, key("guarded"),
        RequestOptions().preconditionResourceVersion(QStringLiteral("1")));
    QCOMPARE(stale.status().error().code(), ErrorCode::Conflict);
    DAVIT_VERIFY_OK(client().remove(kConfigMap, key("guarded"),
        RequestOptions()
            .preconditionUid(created.value().uid())
            .preconditionResourceVersion(created.value().resourceVersion())
            .propagation(Propagation::Background)));
}

void ClientContract::pages()
{
    for (int i = 0; i < 5; ++i) {
        const QByteArray name = "page-" + QByteArray::number(i);
        DAVIT_VERIFY_OK(
            client().create(ObjectBuilder(configMap(name))
                                .setLabel(QStringLiteral("row"), QStringLiteral("pages"))
                                .build()));
    }
    RequestOptions options;
    options.inNamespace(QStringLiteral("default"))
        .labelSelector(QStringLiteral("row in (pages, other)"))
        .limit(2);
    QStringList names;
    for (int page = 0; page < 3; ++page) {
        const Result<ListReply> list = client().list(kConfigMap, options);
        DAVIT_VERIFY_OK(list);
        for (const Object &object : list.value().objects()) {
            names += object.name();
            QVERIFY(object.gvk() == kConfigMap);
        }
        options.continueToken(list.value().continueToken());
        QCOMPARE(list.value().continueToken().isEmpty(), page == 2);
        QVERIFY(!list.value().resourceVersion().isEmpty());
    }
    QCOMPARE(names,
        (QStringList{QStringLiteral("page-0"), QStringLiteral("page-1"), QStringLiteral("page-2"),
            QStringLiteral("page-3"), QStringLiteral("page-4")}));
    QStringList walked;
    const Status status = eachListItem(m_fixture->contract, kConfigMap, options.continueToken({}),
        [&walked](const Object &object) {
            walked += object.name();
            return Status();
        });
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QCOMPARE(walked, names);
}

void ClientContract::dryRun()
{
    const RequestOptions dry = RequestOptions().dryRun();
    DAVIT_VERIFY_OK(client().create(configMap("dry"), dry));
    QCOMPARE(client().get(kConfigMap, key("dry")).status().error().code(), ErrorCode::NotFound);
    const Result<Object> created = client().create(configMap("dry"));
    DAVIT_VERIFY_OK(created);
    const Object changed
        = ObjectBuilder(created.value())
              .set({QStringLiteral("data"), QStringLiteral("a")}, QStringLiteral("2"))
              .build();
    const Result<Object> updated = client().update(changed, dry);
    DAVIT_VERIFY_OK(updated);
    QCOMPARE(dataOf(updated.value(), "a"), QStringLiteral("2")); // as it would be
    DAVIT_VERIFY_OK(
        client().patch(kConfigMap, key("dry"), Patch::merge(R"({"data":{"a":"3"}})"), dry));
    DAVIT_VERIFY_OK(client().apply(configMap("dry", "4"), RequestOptions(dry).force()));
    DAVIT_VERIFY_OK(client().remove(kConfigMap, key("dry"), dry));
    const Result<Object> kept = client().get(kConfigMap, key("dry"));
    DAVIT_VERIFY_OK(kept);
    QCOMPARE(kept.value().resourceVersion(), created.value().resourceVersion());
}

void ClientContract::refusals_data()
{
    QTest::addColumn<QByteArray>("object");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("a name that is none") << QByteArray(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"No_Name","namespace":"default"}})")
                                         << ErrorCode::Invalid;
    QTest::newRow("a namespace that is not there") << QByteArray(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"nowhere"}})")
                                                   << ErrorCode::NotFound;
    QTest::newRow("a kind that is not there") << QByteArray(
        R"({"apiVersion":"v1","kind":"Widget","metadata":{"name":"x","namespace":"default"}})")
                                              << ErrorCode::KindNotServed;
    QTest::newRow("a group that is not there") << QByteArray(
        R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"x","namespace":"default"}})")
                                               << ErrorCode::KindNotServed;
    QTest::newRow("no namespace") << QByteArray(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}})")
                                  << ErrorCode::InvalidArgument;
}

void ClientContract::refusals()
{
    QFETCH(const QByteArray, object);
    const Result<Object> refused = client().create(parsed(object));
    QTEST(refused.status().error().code(), "code");
    QVERIFY(refused.status().error().message().startsWith(QStringLiteral("create ")));
}

void ClientContract::rightsAreChecked()
{
    const Client::Blocking limited = m_fixture->limited.blocking();
    DAVIT_VERIFY_OK(client().create(configMap("rights")));
    DAVIT_VERIFY_OK(limited.get(kConfigMap, key("rights")));
    QCOMPARE(
        limited.remove(kConfigMap, key("rights")).status().error().code(), ErrorCode::MissingRbac);
    DAVIT_VERIFY_OK(client().get(kConfigMap, key("rights")));
}

void ClientContract::eventsAreCounted()
{
    const Result<Object> object = client().create(configMap("told"));
    DAVIT_VERIFY_OK(object);
    for (int i = 0; i < 3; ++i)
        m_fixture->recorder.record(object.value(), EventSeverity::Warning,
            QStringLiteral("TargetNotOurs"), QStringLiteral("it belongs to someone else"));
    RequestOptions options;
    options.inNamespace(QStringLiteral("default"))
        .fieldSelector(QStringLiteral("involvedObject.name=told"));
    const auto count = [&]() -> qint64 {
        const Result<ListReply> list = client().list(kEvent, options);
        if (!list.isOk() || list.value().objects().size() != 1)
            return -1;
        return list.value().objects()[0][QLatin1StringView("count")].toInt();
    };
    QTRY_COMPARE_WITH_TIMEOUT(count(), 3, 20000); // written by and by
    const Object event = client().list(kEvent, options).value().objects()[0];
    QCOMPARE(event[QLatin1StringView("involvedObject")][QLatin1StringView("uid")].toString(),
        object.value().uid());
    QCOMPARE(event[QLatin1StringView("type")].toString(), QStringLiteral("Warning"));
    QCOMPARE(event[QLatin1StringView("source")][QLatin1StringView("component")].toString(),
        QStringLiteral("contract"));
}

void ClientContract::eventsAreASeries() // E-11 to E-14
{
    const Result<Object> object = client().create(configMap("repeated"));
    DAVIT_VERIFY_OK(object);
    const Result<Object> related = client().create(configMap("related"));
    DAVIT_VERIFY_OK(related);
    for (int i = 0; i < 2; ++i)
        m_fixture->recorder.record(object.value(), related.value(), EventSeverity::Warning,
            QStringLiteral("TargetNotOurs"), QStringLiteral("Copying"),
            QString(1025, QLatin1Char('x')));
    RequestOptions options;
    options.inNamespace(QStringLiteral("default"))
        .fieldSelector(QStringLiteral("regarding.name=repeated"));
    const auto count = [&]() -> qint64 {
        const Result<ListReply> list = client().list(kSeriesEvent, options);
        if (!list.isOk() || list.value().objects().size() != 1)
            return -1;
        return list.value()
            .objects()[0][QLatin1StringView("series")][QLatin1StringView("count")]
            .toInt();
    };
    QTRY_COMPARE_WITH_TIMEOUT(count(), 2, 20000); // written by and by
    const Object event = client().list(kSeriesEvent, options).value().objects()[0];
    const auto text = [](const Object &of, const char *member, const char *inside = nullptr) {
        const Value value = of[QLatin1StringView(member)];
        return inside ? value[QLatin1StringView(inside)].toString() : value.toString();
    };
    QCOMPARE(text(event, "regarding", "uid"), object.value().uid());
    QCOMPARE(text(event, "related", "uid"), related.value().uid());
    QCOMPARE(text(event, "type"), QStringLiteral("Warning"));
    QCOMPARE(text(event, "action"), QStringLiteral("Copying"));
    QCOMPARE(text(event, "reportingController"), QStringLiteral("contract"));
    QVERIFY(text(event, "reportingInstance").startsWith(QStringLiteral("contract-")));
    QVERIFY(text(event, "note").endsWith(QChar(0x2026)));

    // kubectl describe reads it as one of core/v1.
    const Result<Object> classic = client().get(kEvent, key(event.name().toLatin1()));
    DAVIT_VERIFY_OK(classic);
    QCOMPARE(text(classic.value(), "involvedObject", "name"), QStringLiteral("repeated"));
    QCOMPARE(text(classic.value(), "message"), text(event, "note"));
    QCOMPARE(classic.value()[QLatin1StringView("series")][QLatin1StringView("count")].toInt(), 2);
    QCOMPARE(text(classic.value(), "reportingComponent"), QStringLiteral("contract"));
}

void ClientContract::sideBySide()
{
    constexpr int kCalls = 60;
    QList<QFuture<ObjectReply>> replies;
    for (int i = 0; i < kCalls; ++i)
        replies += m_fixture->contract.create(configMap("many-" + QByteArray::number(i)));
    QSet<QString> uids;
    for (QFuture<ObjectReply> &reply : replies) {
        QVERIFY2(reply.result().isOk(), qPrintable(reply.result().error().message()));
        uids.insert(reply.result().object().uid());
    }
    QCOMPARE(uids.size(), kCalls);
}
