#include "observability/probechecks.h"

#include <QTest>

using namespace davit;
using namespace davit::observability;

class tst_ProbeChecks : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void all_data();
    void all();
    void one_data();
    void one();
    void adding();
};

using Named = std::map<QString, bool>;
Q_DECLARE_METATYPE(Named)

static ProbeChecks checksOf(const Named &states)
{
    ProbeChecks checks(QStringLiteral("healthz"));
    for (const auto &[name, isGood] : states)
        if (!checks.add(name, [isGood = isGood] { return isGood; }).isOk())
            qFatal("a check was refused");
    checks.freeze();
    return checks;
}

void tst_ProbeChecks::all_data()
{
    QTest::addColumn<Named>("states");
    QTest::addColumn<QStringList>("excluded");
    QTest::addColumn<ProbeDetail>("detail");
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<QByteArray>("text");
    const QString a = QStringLiteral("a");
    const QString b = QStringLiteral("b");
    const Named bFails{{a, true}, {b, false}};
    const Named bothGood{{b, true}, {a, true}};
    QTest::newRow("M-20 no checks")
        << Named{} << QStringList() << ProbeDetail::Brief << 200 << QByteArray("ok");
    QTest::newRow("M-20 no checks, verbose")
        << Named{} << QStringList() << ProbeDetail::Verbose << 200
        << QByteArray("[+]ping ok\nhealthz check passed\n");
    QTest::newRow("M-18 all pass")
        << bothGood << QStringList() << ProbeDetail::Brief << 200 << QByteArray("ok");
    QTest::newRow("M-18 all pass, verbose: sorted by name")
        << bothGood << QStringList() << ProbeDetail::Verbose << 200
        << QByteArray("[+]a ok\n[+]b ok\nhealthz check passed\n");
    QTest::newRow("T108 b fails")
        << bFails << QStringList() << ProbeDetail::Brief << 500
        << QByteArray("[+]a ok\n[-]b failed: reason withheld\nhealthz check failed\n");
    QTest::newRow("T108 b excluded")
        << bFails << QStringList{b} << ProbeDetail::Brief << 200 << QByteArray("ok");
    QTest::newRow("M-18 excluded, verbose")
        << bFails << QStringList{b} << ProbeDetail::Verbose << 200
        << QByteArray("[+]a ok\n[+]b excluded: ok\nhealthz check passed\n");
    QTest::newRow("M-18 exclusion that matches nothing")
        << bothGood << QStringList{QStringLiteral("z")} << ProbeDetail::Verbose << 200
        << QByteArray("[+]a ok\n[+]b ok\nwarn: some health checks cannot be excluded: no matches "
                      "for \"z\"\nhealthz check passed\n");
}

void tst_ProbeChecks::all()
{
    QFETCH(const Named, states);
    QFETCH(const QStringList, excluded);
    QFETCH(const ProbeDetail, detail);
    const ProbeReply reply = checksOf(states).all(excluded, detail);
    QTEST(reply.httpStatus, "httpStatus");
    QTEST(reply.text, "text");
}

void tst_ProbeChecks::one_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("httpStatus");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("T108 a") << QStringLiteral("a") << 200 << QByteArray("ok");
    QTest::newRow("M-19 b fails") << QStringLiteral("b") << 500
                                  << QByteArray("internal server error: b check failed\n");
    QTest::newRow("T108 z is unknown")
        << QStringLiteral("z") << 404 << QByteArray("404 page not found\n");
}

void tst_ProbeChecks::one()
{
    QFETCH(const QString, name);
    const ProbeChecks checks
        = checksOf({{QStringLiteral("a"), true}, {QStringLiteral("b"), false}});
    const ProbeReply reply = checks.one(name, ProbeDetail::Brief);
    QTEST(reply.httpStatus, "httpStatus");
    QTEST(reply.text, "text");
}

void tst_ProbeChecks::adding()
{
    ProbeChecks checks(QStringLiteral("readyz"));
    const auto pass = [] { return true; };
    QVERIFY(checks.add(QStringLiteral("a"), pass).isOk());
    QCOMPARE(checks.add(QStringLiteral("a"), pass).error().message(),
        QStringLiteral("add check a to readyz: the name is taken"));
    QCOMPARE(checks.add(QStringLiteral("a/b"), pass).error().code(), ErrorCode::InvalidArgument);
    checks.setNotes([] { return QByteArray("    a note\n"); });
    checks.freeze();
    // M-21
    QCOMPARE(checks.add(QStringLiteral("b"), pass).error().message(),
        QStringLiteral("add check b to readyz: the server runs already"));
    QCOMPARE(checks.all({}, ProbeDetail::Verbose).text,
        QByteArray("[+]a ok\n    a note\nreadyz check passed\n"));
    QCOMPARE(checks.all({}, ProbeDetail::Brief).text, QByteArray("ok"));
}

QTEST_GUILESS_MAIN(tst_ProbeChecks)
#include "tst_probechecks.moc"
