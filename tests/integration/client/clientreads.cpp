// The rows of the client contract about reading what was written: a real client and a real
// informer, whose answers from the server are held on the way until the row has seen that the cache
// is stale.
#include "clientfixture.h"

#include <cache/sharedinformerfactory.h>
#include <davit/finalizers.h>
#include <davit/lister.h>
#include <davit/priv/plugincall.h>
#include <davit/writes.h>
#include <testing/faultproxy.h>

#include <QTest>
#include <future>
#include <map>

using namespace davit;
using namespace std::chrono_literals;

namespace {

const Gvk kAccount{QString(), QStringLiteral("v1"), QStringLiteral("ServiceAccount")};
const QString kHold = QStringLiteral("davit.dev/hold");

// Lists and watches one kind by way of a proxy, for the plugin whose writes `own` has.
class Cached
{
public:
    Cached(const transport::ClusterConfig &cluster, const Gvk &gvk,
        const std::shared_ptr<const cache::OwnWrites> &own, const QString &labels = {})
        : m_proxy(QStringLiteral("127.0.0.1"), quint16(cluster.server.port()))
    {
        const Status up = m_proxy.start();
        Q_ASSERT(up.isOk());
        transport::ClusterConfig proxied = cluster;
        proxied.server.setPort(m_proxy.port());
        m_transport = transport::makeTransport(proxied);
        m_factory = std::make_unique<cache::SharedInformerFactory>(
            *m_transport, m_pool, support::systemTimeSource());
        m_factory->start();
        const transport::Resource resource{gvk, gvk.kind.toLower() + u's', true};
        InformerRequest request(gvk);
        request.inNamespaces({QStringLiteral("default")}).withLabels(labels);
        priv::ListerBackend *backend = nullptr;
        const Status made = m_factory->makeLister(resource, request, &backend, own);
        Q_ASSERT(made.isOk());
        m_lister = Lister(*backend);
    }
    ~Cached()
    {
        m_lister = Lister();
        m_factory->shutdown();
    }
    Q_DISABLE_COPY_MOVE(Cached)

    const Lister &lister() const { return m_lister; }
    void hold() { m_proxy.setMode(testing::FaultProxy::Mode::HoldFromServer); }
    void release() { m_proxy.setMode(testing::FaultProxy::Mode::Pass); }

private:
    testing::FaultProxy m_proxy;
    QThreadPool m_pool;
    std::unique_ptr<transport::Transport> m_transport;
    std::unique_ptr<cache::SharedInformerFactory> m_factory;
    Lister m_lister;
};

// "absent", "ending", or the one thing that the rows change.
QString stateOf(const Object &object)
{
    if (object.isNull())
        return QStringLiteral("absent");
    if (object.isBeingDeleted())
        return QStringLiteral("ending");
    if (object.gvk() == kDeployment)
        return QStringLiteral("%1/%2")
            .arg(replicasIn(object, "spec"))
            .arg(replicasIn(object, "status"));
    return object.gvk() == kConfigMap ? dataOf(object, "a") : QStringLiteral("there");
}

struct Row
{
    const Gvk &gvk;
    std::function<Status(const Client::Blocking &, const QByteArray &name)> before;
    std::function<Status(const Client::Blocking &, const QByteArray &name)> write;
    const char *stale;
    const char *fresh;
};

Status nothing(const Client::Blocking &, const QByteArray &)
{
    return Status::ok();
}

Status created(const Client::Blocking &client, const QByteArray &name)
{
    return client.create(configMap(name)).status();
}

Status createdDeployment(const Client::Blocking &client, const QByteArray &name)
{
    return client.create(deployment(name)).status();
}

Status createdAccount(const Client::Blocking &client, const QByteArray &name)
{
    return client.create(ObjectBuilder(kAccount, key(name)).build()).status();
}

Status createdHeld(const Client::Blocking &client, const QByteArray &name)
{
    Object object = configMap(name);
    addFinalizer(&object, kHold);
    return client.create(object).status();
}

Status removed(const Client::Blocking &client, const QByteArray &name)
{
    return client.remove(kConfigMap, key(name)).status();
}

Status createdAndRemovedHeld(const Client::Blocking &client, const QByteArray &name)
{
    const Status status = createdHeld(client, name);
    return status.isOk() ? removed(client, name) : status;
}

using B = Client::Blocking;
using N = QByteArray;

const std::map<QByteArray, Row> kRows{
    {"create", {kConfigMap, nothing, created, "absent", "1"}},
    {"update",
        {kConfigMap, created,
            [](const B &c, const N &n) {
                const Result<Object> now = c.get(kConfigMap, key(n));
                return now.isOk() ? c.update(ObjectBuilder(now.value())
                                                 .set({QStringLiteral("data"), QStringLiteral("a")},
                                                     QStringLiteral("2"))
                                                 .build())
                                        .status()
                                  : now.status();
            },
            "1", "2"}},
    {"patch",
        {kConfigMap, created,
            [](const B &c, const N &n) {
                return c.patch(kConfigMap, key(n), Patch::merge(R"({"data":{"a":"2"}})")).status();
            },
            "1", "2"}},
    {"apply",
        {kConfigMap, created,
            [](const B &c, const N &n) {
                return c.apply(configMap(n, "2"), RequestOptions().force()).status();
            },
            "1", "2"}},
    {"create-or-update",
        {kConfigMap, created,
            [](const B &c, const N &n) {
                return createOrUpdate(c, kConfigMap, key(n), [&](const Object &) {
                    return configMap(n, "2");
                }).status();
            },
            "1", "2"}},
    {"status",
        {kDeployment, createdDeployment,
            [](const B &c, const N &n) {
                return c
                    .patch(kDeployment, key(n), Patch::merge(R"({"status":{"replicas":6}})"),
                        RequestOptions().subresource(QStringLiteral("status")))
                    .status();
            },
            "1/0", "1/6"}},
    {"scale",
        {kDeployment, createdDeployment,
            [](const B &c, const N &n) {
                return c.patchScale(kDeployment, key(n), Patch::merge(R"({"spec":{"replicas":3}})"))
                    .status();
            },
            "1/0", "3/0"}},
    {"remove", {kConfigMap, created, removed, "1", "absent"}},
    {"remove-answered-with-the-object",
        {kAccount, createdAccount,
            [](const B &c, const N &n) { return c.remove(kAccount, key(n)).status(); }, "there",
            "absent"}},
    {"remove-kept-by-a-finalizer", {kConfigMap, createdHeld, removed, "1", "ending"}},
    {"last-finalizer",
        {kConfigMap, createdAndRemovedHeld,
            [](const B &c, const N &n) {
                return c
                    .patch(kConfigMap, key(n), Patch::merge(R"({"metadata":{"finalizers":null}})"))
                    .status();
            },
            "ending", "absent"}},
    {"remove-a-collection",
        {kConfigMap, created,
            [](const B &c, const N &n) {
                return c.removeCollection(kConfigMap,
                    RequestOptions()
                        .inNamespace(QStringLiteral("default"))
                        .fieldSelector(QStringLiteral("metadata.name=") + QString::fromLatin1(n)));
            },
            "1", "absent"}},
    {"remove-and-create",
        {kConfigMap, created,
            [](const B &c, const N &n) {
                const Status status = removed(c, n);
                return status.isOk() ? c.create(configMap(n, "2")).status() : status;
            },
            "1", "2"}},
};

Consistency patient()
{
    return Consistency::ownWrites().timeout(60s);
}

} // namespace

void ClientContract::ownWrites_data()
{
    QTest::addColumn<QByteArray>("row");
    for (const auto &[name, row] : kRows)
        QTest::newRow(name) << name;
}

void ClientContract::ownWrites() // M-39
{
    QFETCH(const QByteArray, row);
    const Row &r = kRows.at(row);
    const QByteArray name = "own-" + row;
    DAVIT_VERIFY_STATUS(r.before(client(), name));
    Cached cached(m_fixture->cluster, r.gvk, m_fixture->own);
    const Lister lister = cached.lister();
    DAVIT_VERIFY_STATUS(lister.waitFor(patient())); // the first list, too
    cached.hold();
    DAVIT_VERIFY_STATUS(r.write(client(), name));
    QCOMPARE(stateOf(lister.find(key(name))), QString::fromLatin1(r.stale));
    const Result<Object> bounded = lister.find(key(name), Consistency::ownWrites().timeout(100ms));
    QCOMPARE(bounded.status().error().code(), ErrorCode::StaleCache);
    std::future<Result<Object>> read
        = std::async(std::launch::async, [=] { return lister.find(key(name), patient()); });
    cached.release();
    const Result<Object> found = read.get();
    DAVIT_VERIFY_OK(found);
    QCOMPARE(stateOf(found.value()), QString::fromLatin1(r.fresh));
}

void ClientContract::notOlderThan()
{
    DAVIT_VERIFY_STATUS(created(client(), "version"));
    Cached cached(m_fixture->cluster, kConfigMap, nullptr);
    DAVIT_VERIFY_STATUS(cached.lister().waitFor(patient()));
    cached.hold();
    const Result<Object> written
        = client().patch(kConfigMap, key("version"), Patch::merge(R"({"data":{"a":"2"}})"));
    DAVIT_VERIFY_OK(written);
    const Consistency wanted = Consistency::notOlderThan(written.value().resourceVersion());
    QCOMPARE(cached.lister().waitFor(Consistency(wanted).timeout(100ms)).error().code(),
        ErrorCode::StaleCache);
    cached.release();
    const Result<Object> found
        = cached.lister().find(key("version"), Consistency(wanted).timeout(60s));
    DAVIT_VERIFY_OK(found);
    QCOMPARE(dataOf(found.value(), "a"), QStringLiteral("2"));
}

// What the watch does not select will not come: nobody waits for it.
void ClientContract::writesBeyondTheView()
{
    Cached cached(
        m_fixture->cluster, kConfigMap, m_fixture->own, QStringLiteral("row=beyond-the-view"));
    DAVIT_VERIFY_STATUS(cached.lister().waitFor(patient()));
    cached.hold();
    DAVIT_VERIFY_STATUS(created(client(), "beyond"));
    DAVIT_VERIFY_STATUS(cached.lister().waitFor(Consistency::ownWrites().timeout(0ms)));
    DAVIT_VERIFY_OK(
        client().create(ObjectBuilder(configMap("within"))
                            .setLabel(QStringLiteral("row"), QStringLiteral("beyond-the-view"))
                            .build()));
    QVERIFY(!cached.lister().waitFor(Consistency::ownWrites().timeout(0ms)).isOk());
    cached.release();
    DAVIT_VERIFY_STATUS(cached.lister().waitFor(patient()));
    QCOMPARE(cached.lister().count(), qsizetype(1));
}

void ClientContract::versionMatch() // C-23
{
    const Result<Object> created = client().create(configMap("match"));
    DAVIT_VERIFY_OK(created);
    DAVIT_VERIFY_OK(client().remove(kConfigMap, key("match")));
    const auto listed = [&](const QString &version, ResourceVersionMatch match) {
        const Result<ListReply> list = client().list(kConfigMap,
            RequestOptions()
                .inNamespace(QStringLiteral("default"))
                .fieldSelector(QStringLiteral("metadata.name=match"))
                .resourceVersion(version)
                .resourceVersionMatch(match));
        return list.isOk() ? QString::number(list.value().objects().size())
                           : list.error().message();
    };
    const QString before = created.value().resourceVersion();
    QCOMPARE(listed(before, ResourceVersionMatch::Exact), QStringLiteral("1"));
    const Result<ListReply> now = client().list(kConfigMap);
    DAVIT_VERIFY_OK(now);
    QCOMPARE(listed(now.value().resourceVersion(), ResourceVersionMatch::NotOlderThan),
        QStringLiteral("0"));
    QVERIFY(listed(QString(), ResourceVersionMatch::Exact)
                .contains(QStringLiteral("forbidden unless resourceVersion is provided")));
}
