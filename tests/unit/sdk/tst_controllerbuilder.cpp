#include "fakebackends.h"

#include <davit/controllerbuilder.h>

#include <QTest>

using namespace davit;
using namespace std::chrono_literals;
using Kind = priv::SourceSpec::Kind;

namespace {

class Idle final : public Reconciler
{
public:
    ~Idle() override { ++dead; }
    ReconcileResult reconcile(const ReconcileRequest &, ReconcileContext &) override { return {}; }
    static inline int dead = 0;
};

const Gvk kConfigMap{QString(), QStringLiteral("v1"), QStringLiteral("ConfigMap")};
const Gvk kSecret{QString(), QStringLiteral("v1"), QStringLiteral("Secret")};

QList<ObjectKey> noKeys(const Object &)
{
    return {};
}

using Steps = std::function<void(ControllerBuilder &)>;

} // namespace
Q_DECLARE_METATYPE(Steps)

class tst_ControllerBuilder : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void wrongSteps_data();
    void wrongSteps();
    void gathers();
    void names_data();
    void names();
    void onlyOnce();
    void hostRefuses();
};

void tst_ControllerBuilder::wrongSteps_data()
{
    QTest::addColumn<Steps>("steps");
    QTest::addColumn<QString>("message");
    const auto row = [](const char *name, const Steps &steps, const char *fault) {
        QTest::newRow(name) << steps
                            << QStringLiteral("controller \"c\": ") + QString::fromLatin1(fault);
    };
    row(
        "no source", [](ControllerBuilder &) {}, "it has no source; call watches() or mapped()");
    row(
        "owns alone", [](ControllerBuilder &b) { b.owns(kSecret).mappedBy(kConfigMap, noKeys); },
        "owns() needs a watches() that names the owner's kind");
    row(
        "where first", [](ControllerBuilder &b) { b.where(Predicate()).watches(kSecret); },
        "where() comes after the source that it narrows");
    row(
        "no workers", [](ControllerBuilder &b) { b.watches(kSecret).workers(0); },
        "0 workers are not 1 to 64");
    row(
        "too many workers", [](ControllerBuilder &b) { b.watches(kSecret).workers(65); },
        "65 workers are not 1 to 64");
    row(
        "null mapper", [](ControllerBuilder &b) { b.mapped(kSecret, nullptr); },
        "v1 Secret: the mapper is null");
    row(
        "shrinking delays", [](ControllerBuilder &b) { b.watches(kSecret).retryDelays(2s, 1s); },
        "retry delays of 2000 ms to 1000 ms are no growing delays");
    row(
        "negative time-out",
        [](ControllerBuilder &b) { b.watches(kSecret).reconcileTimeout(-1ms); },
        "a reconcile time-out of -1 ms");
    row(
        "wrong labels",
        [](ControllerBuilder &b) {
            b.watches(InformerRequest(kSecret).withLabels(QStringLiteral("a,,b")));
        },
        "v1 Secret: label selector \"a,,b\": found ',' where '!' or a label name is expected");
    row(
        "wrong shard",
        [](ControllerBuilder &b) {
            b.watches(InformerRequest(kSecret).withShard(QStringLiteral("all")));
        },
        "v1 Secret: shard selector \"all\": shardRange(FIELD, 'START', 'END') is missing, at the "
        "begin or behind a \"||\"");
    row(
        "the first fault is told",
        [](ControllerBuilder &b) { b.watches(kSecret).workers(0).workers(99); },
        "0 workers are not 1 to 64");
}

void tst_ControllerBuilder::wrongSteps()
{
    QFETCH(const Steps, steps);
    fake::Host host;
    HostContext context(host);
    Idle::dead = 0;
    {
        ControllerBuilder builder(context, QStringLiteral("c"));
        steps(builder);
        const Status status = builder.reconcileWith(std::make_unique<Idle>());
        QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
        QTEST(status.error().message(), "message");
    }
    QVERIFY(!host.started);
    QCOMPARE(Idle::dead, 1); // taken in every case
}

void tst_ControllerBuilder::gathers()
{
    fake::Host host;
    HostContext context(host);
    const Status status
        = ControllerBuilder(context, QStringLiteral("copy"))
              .watches(InformerRequest(kConfigMap).delivery(Delivery::EveryEvent))
              .where(Predicate::from([](const ObjectEvent &e) { return e.isInInitialList; }))
              .where(Predicate::from([](const ObjectEvent &e) { return !e.isFinalStateUnknown; }))
              .owns(kSecret)
              .mappedBy(InformerRequest(kSecret).inNamespaces({QStringLiteral("a")}),
                  [](const Object &) {
                      return QList<ObjectKey>{{QString(), QStringLiteral("k")}};
                  })
              .workers(4)
              .retryDelays(10ms, 2s)
              .reconcileTimeout(3s)
              .reconcileWith(std::make_unique<Idle>());
    QVERIFY(status.isOk());
    const priv::ControllerSpec &spec = *host.started;
    QCOMPARE(spec.host, &context);
    QCOMPARE(spec.name, QStringLiteral("copy"));
    QCOMPARE(spec.sources.size(), size_t(3));
    QCOMPARE(spec.workers, 4);
    QCOMPARE(spec.retryBase, 10ms);
    QCOMPARE(spec.retryMax, 2000ms);
    QCOMPARE(spec.reconcileTimeout, 3000ms);
    QVERIFY(spec.reconciler);
    QCOMPARE(spec.sources[0].kind, Kind::Self);
    QCOMPARE(spec.sources[0].request.delivery(), priv::kLatestOfController);
    QCOMPARE(spec.sources[1].kind, Kind::Owner);
    QCOMPARE(spec.sources[2].kind, Kind::Mapped);
    QCOMPARE(spec.sources[2].mapper->keys(Object()).value(0).name, QStringLiteral("k"));
    // Several where() are ANDed; the other sources have none.
    ObjectEvent event{EventType::Added, true, false, {}, {}, {}};
    QVERIFY(spec.sources[0].predicate.accepts(event));
    event.isFinalStateUnknown = true;
    QVERIFY(!spec.sources[0].predicate.accepts(event));
    QVERIFY(spec.sources[1].predicate.accepts(event));
}

void tst_ControllerBuilder::names_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("isOk");
    QTest::newRow("plain") << QStringLiteral("copy-2") << true;
    QTest::newRow("one letter") << QStringLiteral("a") << true;
    QTest::newRow("63 letters") << QString(63, u'a') << true;
    QTest::newRow("64 letters") << QString(64, u'a') << false;
    QTest::newRow("empty") << QString() << false;
    QTest::newRow("upper case") << QStringLiteral("Copy") << false;
    QTest::newRow("dash at the end") << QStringLiteral("copy-") << false;
    QTest::newRow("slash") << QStringLiteral("a/b") << false;
    QTest::newRow("newline at the end") << QStringLiteral("a\n") << false;
}

void tst_ControllerBuilder::names()
{
    QFETCH(const QString, name);
    fake::Host host;
    HostContext context(host);
    const Status status
        = ControllerBuilder(context, name).watches(kSecret).reconcileWith(std::make_unique<Idle>());
    QTEST(status.isOk(), "isOk");
    QCOMPARE(bool(host.started), status.isOk());
}

void tst_ControllerBuilder::onlyOnce()
{
    fake::Host host;
    HostContext context(host);
    ControllerBuilder builder(context, QStringLiteral("c"));
    builder.watches(kSecret);
    QVERIFY(builder.reconcileWith(std::make_unique<Idle>()).isOk());
    const Status second = builder.reconcileWith(std::make_unique<Idle>());
    QCOMPARE(second.error().message(),
        QStringLiteral("controller \"c\": reconcileWith() was called twice"));
}

void tst_ControllerBuilder::hostRefuses()
{
    fake::Host host;
    host.answer = Status(ErrorCode::UndeclaredResource, QStringLiteral("v1 Secret: undeclared"));
    HostContext context(host);
    const Status status = ControllerBuilder(context, QStringLiteral("c"))
                              .watches(kSecret)
                              .reconcileWith(std::make_unique<Idle>());
    QCOMPARE(status.error().code(), ErrorCode::UndeclaredResource);
}

QTEST_GUILESS_MAIN(tst_ControllerBuilder)
#include "tst_controllerbuilder.moc"
