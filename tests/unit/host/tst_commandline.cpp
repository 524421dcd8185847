#include "host/commandline.h"
#include "host/duration.h"

#include <QTest>

using namespace davit;
using namespace davit::host;
using namespace std::chrono_literals;
using observability::LogEncoding;
using observability::TimeEncoding;

class tst_CommandLine : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void defaults();
    void everyFlag();
    void requestRates_data();
    void requestRates();
    void queries();
    void repeated();
    void logs_data();
    void logs();
    void texts_data();
    void texts();
    void refused_data();
    void refused();
    void emptyValues_data();
    void emptyValues();
    void durations_data();
    void durations();

private:
    static QStringList words(const char *text)
    {
        return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts);
    }
};

void tst_CommandLine::defaults()
{
    const Result<Command> result = parseCommandLine({QStringLiteral("run")});
    QVERIFY(result.isOk());
    const auto *options = std::get_if<RunOptions>(&result.value());
    QVERIFY(options);
    QCOMPARE(options->pluginDirs, QStringList(QStringLiteral("/usr/lib/davit/plugins")));
    QCOMPARE(options->pluginDirs, QStringList(defaultPluginDir()));
    QCOMPARE(options->metricsAddress, QStringLiteral(":8080"));
    QCOMPARE(options->probeAddress, QStringLiteral(":8081"));
    QVERIFY(options->gracefulTimeout == 30s);
    QVERIFY(options->cacheSyncTimeout == 2min);
    QVERIFY(!options->isEmbedded);
    QVERIFY(!options->areCoreDumpsAllowed);
    QVERIFY(!options->isLeaderElected);
    QVERIFY(options->leaseDuration == 15s && options->renewDeadline == 10s
        && options->retryPeriod == 2s);
    QCOMPARE(options->leaseName, QStringLiteral("davit"));
    QCOMPARE(options->leaseNamespace, QString());
    QVERIFY(!options->isEncodingChosen);
    QCOMPARE(options->log.level, LogLevel::Info);
}

void tst_CommandLine::queries()
{
    const Result<Command> checked = parseCommandLine(
        words("check --kubeconfig /k --context=c --plugin-dir /a --plugin-dir /b --leader-elect "
              "--leader-elect-resource-namespace=ops --leader-elect-resource-name l"));
    QVERIFY2(checked.isOk(), qPrintable(checked.isOk() ? QString() : checked.error().message()));
    const auto &check = std::get<CheckOptions>(checked.value());
    QCOMPARE(check.kubeconfig, QStringLiteral("/k"));
    QCOMPARE(check.context, QStringLiteral("c"));
    QCOMPARE(check.pluginDirs, QStringList({QStringLiteral("/a"), QStringLiteral("/b")}));
    QVERIFY(check.isLeaderElected);
    QCOMPARE(check.leaseNamespace, QStringLiteral("ops"));
    QCOMPARE(check.leaseName, QStringLiteral("l"));
    const Result<Command> plain = parseCommandLine({QStringLiteral("check")});
    QVERIFY(std::get<CheckOptions>(plain.value()).pluginDirs.isEmpty());
    const Result<Command> got = parseCommandLine(words("get --raw /api/v1?a=b --context c"));
    QVERIFY2(got.isOk(), qPrintable(got.isOk() ? QString() : got.error().message()));
    const auto &get = std::get<GetOptions>(got.value());
    QCOMPARE(get.path, QStringLiteral("/api/v1?a=b"));
    QCOMPARE(get.context, QStringLiteral("c"));
    QCOMPARE(get.kubeconfig, QString());
}

void tst_CommandLine::everyFlag()
{
    const Result<Command> result = parseCommandLine(words(
        "run --plugin-dir /a --kubeconfig=/k --context c --metrics-bind-address 0 "
        "--health-probe-bind-address "
        ":1 --graceful-shutdown-timeout -1s --cache-sync-timeout 1h30m --state-dir /s --config "
        "/c --allow-core-dumps "
        "--leader-elect --leader-elect-lease-duration 30s --leader-elect-renew-deadline=20s "
        "--leader-elect-retry-period 1500ms --leader-elect-resource-name n "
        "--leader-elect-resource-namespace s --leader-elect-resource-lock leases "
        "--kube-api-qps 12.5 --kube-api-burst 7"));
    QVERIFY2(result.isOk(), qPrintable(result.isOk() ? QString() : result.error().message()));
    const auto &options = std::get<RunOptions>(result.value());
    QCOMPARE(options.pluginDirs, QStringList(QStringLiteral("/a")));
    QCOMPARE(options.kubeconfig, QStringLiteral("/k"));
    QCOMPARE(options.context, QStringLiteral("c"));
    QCOMPARE(options.metricsAddress, QStringLiteral("0"));
    QCOMPARE(options.probeAddress, QStringLiteral(":1"));
    QVERIFY(options.gracefulTimeout == -1s); // M-13
    QVERIFY(options.cacheSyncTimeout == 90min);
    QCOMPARE(options.stateDir, QStringLiteral("/s"));
    QCOMPARE(options.configFile, QStringLiteral("/c"));
    QVERIFY(options.areCoreDumpsAllowed);
    QVERIFY(options.isLeaderElected);
    QVERIFY(options.leaseDuration == 30s && options.renewDeadline == 20s
        && options.retryPeriod == 1500ms);
    QCOMPARE(options.leaseName, QStringLiteral("n"));
    QCOMPARE(options.leaseNamespace, QStringLiteral("s"));
    QCOMPARE(options.requestsPerSecond, 12.5);
    QCOMPARE(options.requestBurst, 7);
}

void tst_CommandLine::requestRates_data()
{
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<double>("requestsPerSecond");
    QTest::addColumn<int>("burst");
    QTest::newRow("C-3 none") << QString() << 0.0 << 1;
    QTest::newRow("C-2 negative: no limit") << QStringLiteral("--kube-api-qps -1") << -1.0 << 1;
    QTest::newRow("C-1 twice the rate") << QStringLiteral("--kube-api-qps=20") << 20.0 << 40;
    QTest::newRow("a slow one") << QStringLiteral("--kube-api-qps 0.2") << 0.2 << 1;
    QTest::newRow("both") << QStringLiteral("--kube-api-qps 5 --kube-api-burst 10") << 5.0 << 10;
}

void tst_CommandLine::requestRates()
{
    QFETCH(const QString, arguments);
    const Result<Command> result
        = parseCommandLine(words(qPrintable(QStringLiteral("run ") + arguments)));
    QVERIFY2(result.isOk(), qPrintable(result.isOk() ? QString() : result.error().message()));
    const auto &options = std::get<RunOptions>(result.value());
    QTEST(options.requestsPerSecond, "requestsPerSecond");
    QTEST(options.requestBurst, "burst");
}

void tst_CommandLine::repeated()
{
    const Result<Command> result = parseCommandLine(
        words("run --plugin-dir /a --embedded --plugin-dir /b --embedded-objects /o"));
    QVERIFY(result.isOk());
    const auto &options = std::get<RunOptions>(result.value());
    QCOMPARE(options.pluginDirs, QStringList({QStringLiteral("/a"), QStringLiteral("/b")}));
    QVERIFY(options.isEmbedded);
    QCOMPARE(options.embeddedObjectsDir, QStringLiteral("/o"));
    // Of what can only be said once, the last counts.
    const Result<Command> twice = parseCommandLine(words("run --state-dir /a --state-dir=/b"));
    QVERIFY(twice.isOk());
    QCOMPARE(std::get<RunOptions>(twice.value()).stateDir, QStringLiteral("/b"));
}

void tst_CommandLine::logs_data()
{
    QTest::addColumn<QString>("flags");
    QTest::addColumn<LogLevel>("level");
    QTest::addColumn<LogEncoding>("encoding");
    QTest::addColumn<TimeEncoding>("time");
    const auto row
        = [](const char *flags, LogLevel level, LogEncoding encoding, TimeEncoding time) {
              QTest::newRow(flags) << QString::fromUtf8(flags) << level << encoding << time;
          };
    row("--zap-log-level debug", LogLevel::Debug, LogEncoding::Json, TimeEncoding::Rfc3339);
    row("--zap-encoder console", LogLevel::Info, LogEncoding::Console, TimeEncoding::Rfc3339);
    row("--zap-devel", LogLevel::Debug, LogEncoding::Console, TimeEncoding::Rfc3339);
    row("--zap-devel --zap-log-level error", LogLevel::Error, LogEncoding::Console,
        TimeEncoding::Rfc3339);
    row("-v 4", LogLevel::Debug, LogEncoding::Json, TimeEncoding::Rfc3339);
    row("--v=2", LogLevel::Info, LogEncoding::Json, TimeEncoding::Rfc3339);
    row("--zap-time-encoding epoch", LogLevel::Info, LogEncoding::Json, TimeEncoding::Epoch);
}

void tst_CommandLine::logs()
{
    QFETCH(const QString, flags);
    const Result<Command> result
        = parseCommandLine(QStringList(QStringLiteral("run")) + flags.split(QLatin1Char(' ')));
    QVERIFY2(result.isOk(), qPrintable(result.isOk() ? QString() : result.error().message()));
    const auto &log = std::get<RunOptions>(result.value()).log;
    QTEST(log.level, "level");
    QTEST(log.encoding, "encoding");
    QTEST(log.time, "time");
}

void tst_CommandLine::texts_data()
{
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<QString>("part");
    QTest::newRow("--version") << QStringLiteral(
        "--version") << QStringLiteral("davit " DAVIT_SDK_VERSION_STRING " (SDK ABI 1, commit ");
    QTest::newRow("--help") << QStringLiteral("--help") << QStringLiteral("Run the plugins");
    QTest::newRow("run --help") << QStringLiteral("run --help") << QStringLiteral("Exit codes: 0");
    QTest::newRow("check --help") << QStringLiteral("check --help")
                                  << QStringLiteral("5 rights are missing");
    QTest::newRow("plugin inspect --help")
        << QStringLiteral("plugin inspect --help") << QStringLiteral("FILE");
}

void tst_CommandLine::texts()
{
    QFETCH(const QString, arguments);
    QFETCH(const QString, part);
    const Result<Command> result = parseCommandLine(arguments.split(QLatin1Char(' ')));
    QVERIFY2(result.isOk(), qPrintable(result.isOk() ? QString() : result.error().message()));
    const auto *text = std::get_if<Text>(&result.value());
    QVERIFY(text);
    QVERIFY2(text->text.contains(part), qPrintable(text->text));
}

void tst_CommandLine::refused_data()
{
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char *arguments, const char *sentence) {
        QTest::newRow(arguments) << QString::fromUtf8(sentence);
    };
    row("", "no command was given; 'davit --help' lists them");
    row("plugin", "no command was given; 'davit plugin --help' lists them");
    row("plugin inspect", "no file was given; write davit plugin inspect NAME.so");
    row("plugin try", "no file was given; write davit plugin try NAME.so");
    row("runn", "argument \"runn\" is not expected; 'davit --help' lists what there is");
    row("run --kubconfig x",
        "flag --kubconfig is not known; did you mean --kubeconfig? 'davit run --help' lists what "
        "there is");
    row("--config x run",
        "flag --config stands in front of its command; write davit run --config …");
    row("run --quite-another=1",
        "flag --quite-another is not known; 'davit run --help' lists what there is");
    row("run here", "argument \"here\" is not expected; 'davit run --help' lists what there is");
    row("run --plugin-dir /a here",
        "argument \"here\" is not expected; 'davit run --help' lists what there is");
    row("run --kubeconfig",
        "flag --kubeconfig needs a value; 'davit run --help' shows what each flag takes");
    row("run --embedded --context c",
        "--embedded and --context name two clusters; leave one of them out");
    row("check --context",
        "flag --context needs a value; 'davit check --help' shows what each flag takes");
    row("check here",
        "argument \"here\" is not expected; 'davit check --help' lists what there is");
    row("get", "no path was given; write davit get --raw /api/v1/namespaces");
    row("get nodes", "argument \"nodes\" is not expected; 'davit get --help' lists what there is");
    row("run --embedded --kubeconfig x",
        "--embedded and --kubeconfig name two clusters; leave one of them out");
    row("run --embedded-objects x",
        "--embedded-objects needs the embedded server; add --embedded or leave it out");
    row("run --graceful-shutdown-timeout 30",
        "--graceful-shutdown-timeout \"30\" is no duration; write it as 30s, 2m or 1h30m");
    row("run --cache-sync-timeout -5s",
        "--cache-sync-timeout \"-5s\" is negative; write it as 30s, 2m or 1h30m");
    row("run --embedded --leader-elect",
        "--leader-elect needs a server that others use too, and --embedded is in this process; "
        "leave one of them out");
    row("run --leader-elect-retry-period soon",
        "--leader-elect-retry-period \"soon\" is no duration; write it as 30s, 2m or 1h30m");
    row("run --kube-api-qps many",
        "--kube-api-qps \"many\" is no rate; write a number such as 20, or -1 for no limit");
    row("run --kube-api-qps inf",
        "--kube-api-qps \"inf\" is no rate; write a number such as 20, or -1 for no limit");
    row("run --kube-api-burst 5",
        "--kube-api-burst needs --kube-api-qps; add it, or leave --kube-api-burst out");
    row("run --kube-api-qps 5 --kube-api-burst 0",
        "--kube-api-burst \"0\" is no number of requests; write 1 or more");
    row("run --leader-elect-resource-lock configmaps",
        "--leader-elect-resource-lock \"configmaps\" is not known; write one of leases");
    row("run --zap-log-level loud",
        "--zap-log-level \"loud\" is not known; write one of error, warn, info, debug");
    row("run --zap-encoder xml", "--zap-encoder \"xml\" is not known; write one of json, console");
    row("run -v many", "-v \"many\" is no verbosity; write a number from 0 to 10");
}

// Each flag that takes a value, in both ways of writing it.
void tst_CommandLine::emptyValues_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("flag");
    for (const char *flag : {"--plugin-dir", "--kubeconfig", "--context", "--embedded-objects",
             "--metrics-bind-address", "--health-probe-bind-address", "--graceful-shutdown-timeout",
             "--cache-sync-timeout", "--state-dir", "--config", "--zap-log-level", "--zap-encoder",
             "--zap-time-encoding", "--v", "--leader-elect-lease-duration",
             "--leader-elect-renew-deadline", "--leader-elect-retry-period",
             "--leader-elect-resource-name", "--leader-elect-resource-namespace",
             "--leader-elect-resource-lock"}) {
        const QString name = QString::fromLatin1(flag);
        const QString run = QStringLiteral("run");
        QTest::addRow("%s ''", flag) << QStringList{run, name, QString()} << name;
        QTest::addRow("%s=", flag) << QStringList{run, name + u'='} << name;
        QTest::addRow("%s= --embedded", flag)
            << QStringList{run, name + u'=', QStringLiteral("--embedded")} << name;
        QTest::addRow("%s= x", flag) << QStringList{run, name + u'=', QStringLiteral("x")} << name;
    }
    QTest::newRow("one of two") << QStringList{QStringLiteral("run"),
        QStringLiteral("--plugin-dir=/a"), QStringLiteral("--plugin-dir"), QString()}
                                << QStringLiteral("--plugin-dir");
    QTest::newRow("-v ''") << QStringList{QStringLiteral("run"), QStringLiteral("-v"), QString()}
                           << QStringLiteral("--v");
}

void tst_CommandLine::emptyValues()
{
    QFETCH(const QStringList, arguments);
    QFETCH(const QString, flag);
    const Result<Command> result = parseCommandLine(arguments);
    QVERIFY(!result.isOk());
    QCOMPARE(result.error().message(),
        QStringLiteral("flag %1 has an empty value; give it one or leave it out").arg(flag));
}

void tst_CommandLine::refused()
{
    const Result<Command> result = parseCommandLine(words(QTest::currentDataTag()));
    QVERIFY(!result.isOk());
    QTEST(result.error().message(), "sentence");
}

void tst_CommandLine::durations_data()
{
    QTest::addColumn<qint64>("milliseconds"); // -7: none
    const auto row = [](const char *text, qint64 ms) { QTest::newRow(text) << ms; };
    row("0", 0);
    row("30s", 30'000);
    row("1h30m", 5'400'000);
    row("1.5s", 1'500);
    row("250ms", 250);
    row("1500us", 1);
    row("-1s", -1'000);
    row("+2m", 120'000);
    row("30", -7);
    row("s", -7);
    row("1s2", -7);
    row("1 s", -7);
    row("1d", -7);
    row("--1s", -7);
    row("9999999999999h", -7);
}

void tst_CommandLine::durations()
{
    const auto parsed = parseDuration(QString::fromUtf8(QTest::currentDataTag()));
    QTEST(parsed ? qint64(parsed->count()) : qint64(-7), "milliseconds");
}

QTEST_GUILESS_MAIN(tst_CommandLine)
#include "tst_commandline.moc"
