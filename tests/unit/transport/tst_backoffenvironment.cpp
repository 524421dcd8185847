#include "kubeconfigrig.h"
#include "transport/backoffenvironment.h"

#include <QTemporaryDir>
#include <QTest>

using namespace davit;
using namespace davit::transport;
using namespace Qt::Literals::StringLiterals;

class tst_BackoffEnvironment : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void read_data();
    void read();
    void loaded();
};

void tst_BackoffEnvironment::read_data()
{
    QTest::addColumn<QString>("base");
    QTest::addColumn<QString>("duration");
    QTest::addColumn<QList<int>>("backoff"); // seconds; empty: none
    QTest::addColumn<QString>("sentence"); // of the fault, or else of a warning
    using L = QList<int>;
    const QString wrong
        = u"KUBE_CLIENT_BACKOFF_%1 in the environment is \"%2\"; write whole seconds "
          "from 1 to 86400, or unset it"_s;
    const QString alone
        = u"KUBE_CLIENT_BACKOFF_%1 is set and KUBE_CLIENT_BACKOFF_%2 is not: without both there is "
          "no back-off"_s;
    const auto row = [](const char *name, const char *base, const char *duration, const L &backoff,
                         const QString &sentence = {}) {
        QTest::newRow(name) << QString::fromUtf8(base) << QString::fromUtf8(duration) << backoff
                            << sentence;
    };
    row("neither", "", "", {});
    row("both", "1", "120", {1, 120});
    row("the base is longer", "60", "10", {60, 10});
    row("the base alone", "1", "", {}, alone.arg(u"BASE", u"DURATION"));
    row("the duration alone", "", "1", {}, alone.arg(u"DURATION", u"BASE"));
    row("no number", "1s", "120", {}, wrong.arg(u"BASE", u"1s"));
    row("zero", "0", "120", {}, wrong.arg(u"BASE", u"0"));
    row("negative", "1", "-5", {}, wrong.arg(u"DURATION", u"-5"));
    row("a fraction", "0.5", "5", {}, wrong.arg(u"BASE", u"0.5"));
    row("too large", "1", "86401", {}, wrong.arg(u"DURATION", u"86401"));
    row("wrong, and alone", "", "x", {}, wrong.arg(u"DURATION", u"x"));
}

void tst_BackoffEnvironment::read()
{
    QFETCH(const QString, base);
    QFETCH(const QString, duration);
    QFETCH(const QString, sentence);
    const LoadEnvironment environment = kubeconfigrig::environmentOf(
        {{"KUBE_CLIENT_BACKOFF_BASE", base}, {"KUBE_CLIENT_BACKOFF_DURATION", duration}});
    ClusterConfig config;
    const Status status = readBackoff(environment, &config);
    QList<int> backoff;
    if (config.backoff)
        backoff = {int(config.backoff->base.count()), int(config.backoff->longest.count())};
    QTEST(backoff, "backoff");
    if (!status.isOk())
        QCOMPARE(status.error().code(), ErrorCode::InvalidConfiguration);
    QCOMPARE(status.isOk() ? config.warnings.value(0) : status.error().message(), sentence);
}

// It is read with whatever configuration is chosen, and a fault in it is the configuration's.
void tst_BackoffEnvironment::loaded()
{
    const QTemporaryDir dir;
    const QString path = dir.filePath(u"config"_s);
    kubeconfigrig::write(path, kubeconfigrig::config(kubeconfigrig::kServer, "token: t"));
    const auto load = [&path](const QString &base) {
        return loadClusterConfig({path, QString()},
            kubeconfigrig::environmentOf(
                {{"KUBE_CLIENT_BACKOFF_BASE", base}, {"KUBE_CLIENT_BACKOFF_DURATION", u"30"_s}}));
    };
    const Result<ClusterConfig> good = load(u"2"_s);
    QVERIFY(good.isOk() && good.value().backoff);
    QCOMPARE(good.value().backoff->base, std::chrono::seconds(2));
    QCOMPARE(load(u"often"_s).status().error().code(), ErrorCode::InvalidConfiguration);
    QVERIFY(!load({}).value().backoff);
}

QTEST_GUILESS_MAIN(tst_BackoffEnvironment)
#include "tst_backoffenvironment.moc"
