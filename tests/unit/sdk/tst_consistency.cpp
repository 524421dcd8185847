#include "fakebackends.h"

#include <davit/lister.h>

#include <QTest>

using namespace davit;
using namespace std::chrono_literals;

namespace {

const Gvk kSecret{QString(), QStringLiteral("v1"), QStringLiteral("Secret")};
const ObjectKey kKey{QStringLiteral("a"), QStringLiteral("x")};

// A backend that can do no more than it must.
class Plain final : public priv::ListerBackend
{
public:
    Gvk gvk() const override { return kSecret; }
    bool hasSynced() const noexcept override { return true; }
    Object find(const ObjectKey &) const override { return {}; }
    QList<Object> list(const QString *, const LabelSelector *) const override { return {}; }
    bool byIndex(const QString &, const QString &, QList<Object> *) const override { return false; }
    QStringList indexValues(const QString &) const override { return {}; }
    qsizetype count() const override { return 0; }
};

} // namespace

class tst_Consistency : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void choices();
    void waits_data();
    void waits();
    void readsAfterAWait();
    void listersThatCannot();
};

void tst_Consistency::choices()
{
    QCOMPARE(Consistency::any().type(), ConsistencyType::Any);
    QCOMPARE(Consistency::ownWrites().type(), ConsistencyType::OwnWrites);
    const Consistency version = Consistency::notOlderThan(QStringLiteral("7"));
    QCOMPARE(version.type(), ConsistencyType::NotOlderThan);
    QCOMPARE(version.resourceVersion(), QStringLiteral("7"));
    QCOMPARE(version.timeout(), 10s);
    Consistency hasty = version;
    QCOMPARE(hasty.timeout(5ms).timeout(), 5ms);
    QCOMPARE(version.timeout(), 10s); // a copy of its own
    hasty = Consistency::any();
    QCOMPARE(hasty.resourceVersion(), QString());
}

void tst_Consistency::waits_data()
{
    QTest::addColumn<Consistency>("consistency");
    QTest::addColumn<QString>("asked"); // of the backend: type|version|time; empty: nothing
    QTest::addColumn<ErrorCode>("code");
    const auto version
        = [](const char *text) { return Consistency::notOlderThan(QString::fromLatin1(text)); };
    const auto row = [](const char *name, const Consistency &consistency, const char *asked,
                         ErrorCode code = ErrorCode::Unset) {
        QTest::newRow(name) << consistency << QString::fromLatin1(asked) << code;
    };
    row("any asks nobody", Consistency::any(), "");
    row("own writes", Consistency::ownWrites(), "2||10000 ms");
    row("a look", Consistency::ownWrites().timeout(0ms), "2||0 ms");
    row("a version", version("7"), "3|7|10000 ms");
    row("version 0", version("0"), "3|0|10000 ms");
    row("the greatest version", version("18446744073709551615"), "3|18446744073709551615|10000 ms");
    for (const char *wrong : {"", "abc", "7a", "-7", "+7", "07", " 7", "18446744073709551616"})
        row(qPrintable(QStringLiteral("no version: \"%1\"").arg(QLatin1StringView(wrong))),
            version(wrong), "", ErrorCode::InvalidArgument);
    row("a negative time", Consistency::ownWrites().timeout(-1ms), "", ErrorCode::InvalidArgument);
    row("a negative time for any", Consistency::any().timeout(-1ms), "",
        ErrorCode::InvalidArgument);
}

void tst_Consistency::waits()
{
    QFETCH(const Consistency, consistency);
    auto *const backend = new fake::ListerOf(kSecret);
    const Lister lister(*backend);
    const Status status = lister.waitFor(consistency);
    QTEST(status.error().code(), "code");
    QTEST(backend->asked, "asked");
    if (!status.isOk())
        QVERIFY2(status.error().message().startsWith(
                     QStringLiteral("wait for the cache of v1 Secret: ")),
            qPrintable(status.error().message()));
}

void tst_Consistency::readsAfterAWait()
{
    auto *const backend = new fake::ListerOf(kSecret);
    const Lister lister(*backend);
    QVERIFY(lister.find(kKey, Consistency::ownWrites()).isOk());
    QCOMPARE(backend->asked, QStringLiteral("2||10000 ms"));
    QVERIFY(lister.list(Consistency::ownWrites()).isOk());
    QCOMPARE(backend->asked, QStringLiteral("-|-")); // the list came behind the wait
    backend->outcomeOfWait = Status(ErrorCode::StaleCache, QStringLiteral("too late"));
    QCOMPARE(lister.find(kKey, Consistency::ownWrites()).error().code(), ErrorCode::StaleCache);
    QCOMPARE(lister.list(Consistency::ownWrites()).error().code(), ErrorCode::StaleCache);
    QCOMPARE(backend->asked, QStringLiteral("2||10000 ms")); // and nothing was read
    QVERIFY(lister.find(kKey, Consistency::any()).isOk());
}

void tst_Consistency::listersThatCannot()
{
    QCOMPARE(Lister().waitFor(Consistency::ownWrites()).error().code(), ErrorCode::Unsupported);
    QCOMPARE(Lister().find(kKey, Consistency::any()).error().code(), ErrorCode::Unsupported);
    const Lister plain(*new Plain);
    QCOMPARE(plain.waitFor(Consistency::ownWrites()).error().code(), ErrorCode::Unsupported);
    QVERIFY(plain.waitFor(Consistency::any()).isOk());
}

QTEST_GUILESS_MAIN(tst_Consistency)
#include "tst_consistency.moc"
