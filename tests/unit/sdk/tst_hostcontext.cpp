// HostContext and the small classes that it hands out: Cluster, Client, Clock, Logger, Metrics,
// EventRecorder; and the registration of their types.
#include "fakebackends.h"

#include <davit/priv/metatypes.h>

#include <QTest>

using namespace davit;
using namespace std::chrono_literals;

namespace {

const Gvk kSecret{QString(), QStringLiteral("v1"), QStringLiteral("Secret")};
const ObjectKey kKey{QStringLiteral("a"), QStringLiteral("b")};

} // namespace

class tst_HostContext : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void informers();
    void refusals();
    void clusters();
    void clientCalls();
    void clientOfNobody();
    void clocks();
    void logs();
    void metricsAndEvents();
    void bothNames_data();
    void bothNames();
};

void tst_HostContext::informers()
{
    fake::Host host;
    HostContext context(host);
    QCOMPARE(context.pluginId(), QStringLiteral("demo"));
    QCOMPARE(context.config().value(QStringLiteral("a")).toInt(), 1);
    const Result<Informer *> made = context.informer(kSecret);
    QVERIFY(made.isOk());
    QCOMPARE(made.value()->parent(), &host.parent);
    QCOMPARE(&made.value()->backend(), static_cast<priv::InformerBackend *>(host.view));
    const Lister lister = context.lister(kSecret);
    QVERIFY(lister.gvk() == kSecret);
}

void tst_HostContext::refusals()
{
    fake::Host host;
    host.answer
        = Status(ErrorCode::UndeclaredResource, QStringLiteral("v1 Secret: not in the metadata"));
    HostContext context(host);
    const Result<Informer *> made = context.informer(kSecret);
    QCOMPARE(made.error().code(), ErrorCode::UndeclaredResource);
    QVERIFY(!context.lister(kSecret).hasSynced());
    QCOMPARE(host.lines.seen,
        QStringList{QStringLiteral(
            "1|plugin.demo|lister was refused|error=v1 Secret: not in the metadata")});
}

void tst_HostContext::clusters()
{
    fake::Host host;
    HostContext context(host);
    Result<Cluster> own = context.cluster();
    QVERIFY(own.isOk());
    Cluster cluster = own.value();
    QCOMPARE(cluster.name(), QString());
    Informer *informer = nullptr;
    QVERIFY(cluster.informer(kSecret, &informer).isOk());
    QCOMPARE(informer->parent(), &host.parent);
    QCOMPARE(
        context.cluster(QStringLiteral("edge-1")).error().code(), ErrorCode::InvalidConfiguration);
    Cluster none;
    QCOMPARE(none.informer(kSecret, &informer).error().code(), ErrorCode::InvalidArgument);
    QVERIFY(!informer);
    QVERIFY(!none.lister(kSecret).hasSynced());
    QCOMPARE(none.client().get(kSecret, kKey).result().error().code(), ErrorCode::Unsupported);
}

void tst_HostContext::clientCalls()
{
    fake::Host host;
    const Client client = HostContext(host).client();
    client.get(kSecret, kKey);
    client.patch(
        kSecret, kKey, Patch::merge("{}"), RequestOptions().subresource(QStringLiteral("scale")));
    client.remove(kSecret, kKey);
    client.updateStatus(Object());
    const ListReply page = client.list(kSecret, RequestOptions().limit(5)).result();
    QCOMPARE(host.calls.seen,
        QStringList({QStringLiteral("0|v1 Secret|a/b||-"),
            QStringLiteral("4|v1 Secret|a/b|scale|{}"), QStringLiteral("5|v1 Secret|a/b||-"),
            QStringLiteral("3| ||status|-"), QStringLiteral("list|5")}));
    QCOMPARE(page.continueToken(), QStringLiteral("more"));
    QCOMPARE(page.remainingItemCount(), qint64(5));
    const Result<Object> waited = client.blocking().get(kSecret, kKey);
    QCOMPARE(waited.error().code(), ErrorCode::NotFound);
    QVERIFY(client.blocking().list(kSecret).isOk());
}

void tst_HostContext::clientOfNobody()
{
    const Client client;
    QCOMPARE(client.get(kSecret, kKey).result().error().code(), ErrorCode::Unsupported);
    QCOMPARE(client.list(kSecret).result().error().code(), ErrorCode::Unsupported);
    fake::Host host;
    const Client bound = HostContext(host).client();
    const Patch impossible = Patch::difference(Object(), Object());
    QCOMPARE(impossible.type(), PatchType::Unset);
    QCOMPARE(
        bound.patch(kSecret, kKey, impossible).result().error().code(), ErrorCode::InvalidArgument);
    QVERIFY(host.calls.seen.isEmpty());
}

void tst_HostContext::clocks()
{
    fake::Host host;
    const Clock manual = HostContext(host).clock();
    QCOMPARE(manual.monotonic(), 5s);
    QCOMPARE(
        manual.utcNow().toString(Qt::ISODateWithMs), QStringLiteral("1970-01-01T00:00:01.500Z"));
    const Clock machine;
    QVERIFY(machine.monotonic() > 0ns);
    QVERIFY(machine.utcNow().date().year() >= 2024);
}

void tst_HostContext::logs()
{
    fake::Host host;
    const Logger log = HostContext(host).log();
    log.info("copied", {{"namespace", QStringLiteral("a")}});
    log.debug("not written");
    const Logger more = log.with("controller", QStringLiteral("c")).with("try", 2);
    more.error("failed", {{"name", QStringLiteral("b")}});
    QVERIFY(!log.isEnabled(LogLevel::Debug));
    QCOMPARE(host.lines.seen,
        QStringList({QStringLiteral("3|plugin.demo|copied|namespace=a"),
            QStringLiteral("1|plugin.demo|failed|controller=c|try=2|name=b")}));
    const Logger dropped;
    QVERIFY(!dropped.with("a", 1).isEnabled(LogLevel::Error));
    dropped.error("nobody hears this");
}

void tst_HostContext::metricsAndEvents()
{
    fake::Host host;
    HostContext context(host);
    const Counter counter
        = context.metrics().counter(QStringLiteral("copied_total"), QStringLiteral("Copies"));
    counter.increment();
    counter.increment(2);
    counter.increment(-5); // counters only grow
    QCOMPARE(host.registry.shared.value, 3.0);
    context.metrics().gauge(QStringLiteral("depth"), QString()).set(9);
    QCOMPARE(host.registry.shared.value, 9.0);
    context.metrics().histogram(QStringLiteral("seconds"), QString(), {1, 2}).observe(1.5);
    QCOMPARE(host.registry.shared.observed, QList<double>{1.5});
    context.metrics().counter(QStringLiteral("wrong name"), QString()).increment();
    Metrics().gauge(QStringLiteral("x"), QString()).add(1);
    QCOMPARE(host.registry.asked.value(0), QStringLiteral("0|demo|copied_total"));
    context.events().record(Object(), EventSeverity::Warning, QStringLiteral("TargetNotOurs"),
        QStringLiteral("it belongs to someone else"));
    EventRecorder().record(Object(), EventSeverity::Normal, QString(), QString());
    Object source;
    QVERIFY(Object::fromJson(
        R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"key","namespace":"a"}})", &source)
                .isOk());
    context.events().record(source, Object(), EventSeverity::Normal, QStringLiteral("Copied"),
        QStringLiteral("Copying"), QStringLiteral("to b"));
    EventRecorder().record(source, source, EventSeverity::Normal, QString(), QString(), QString());
    QCOMPARE(host.eventsSeen.seen,
        QStringList({QStringLiteral("2|TargetNotOurs|it belongs to someone else"),
            QStringLiteral("key||1|Copied|Copying|to b")}));
}

void tst_HostContext::bothNames_data()
{
    QTest::addColumn<QByteArray>("name");
    for (const char *name : {"Object", "Value", "ObjectKey", "Gvk", "Error", "Status",
             "ObjectReply", "ListReply", "ReconcileResult"})
        QTest::newRow(name) << QByteArray(name);
}

void tst_HostContext::bothNames()
{
    QFETCH(const QByteArray, name);
    priv::registerMetatypes();
    priv::registerMetatypes(); // free to repeat
    const QMetaType byShort = QMetaType::fromName("davit::" + name);
    const QMetaType byFull = QMetaType::fromName("davit::v1::" + name);
    QVERIFY(byShort.isValid());
    QVERIFY(byShort == byFull);
    QVERIFY(byShort.sizeOf() > 0);
}

QTEST_GUILESS_MAIN(tst_HostContext)
#include "tst_hostcontext.moc"
