// Which LIST may be asked as a streaming list. Rule R-42.
#include <cache/watchlistoptions.h>

#include <QtTest>

using namespace davit;
using namespace davit::cache;
using namespace Qt::StringLiterals;

class tst_WatchListOptions : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void eligible_data();
    void eligible();
};

void tst_WatchListOptions::eligible_data()
{
    QTest::addColumn<QString>("list"); // version;match;limit;continue
    QTest::addColumn<bool>("isEligible");
    const auto row = [](const char *name, const char *list, bool isEligible) {
        QTest::newRow(name) << QString::fromLatin1(list) << isEligible;
    };
    row("nothing set", ";;0;", true);
    row("any version", "0;;0;", true);
    row("a version", "10;;0;", true);
    row("not older than a version", "10;NotOlderThan;0;", true);
    row("not older than none", ";NotOlderThan;0;", false);
    row("exactly a version", "10;Exact;0;", false);
    row("a later page", ";;0;token", false);
    row("a limit", ";;500;", false);
    row("a limit and a version", "10;;500;", false);
    row("a limit and any version: left out", "0;;500;", true);
    row("a limit and not older than any version: left out", "0;NotOlderThan;500;", true);
    row("a limit and exactly any version", "0;Exact;500;", false);
    row("a match that nobody knows", "10;Newest;0;", false);
}

void tst_WatchListOptions::eligible()
{
    QFETCH(const QString, list);
    const QStringList parts = list.split(u';');
    transport::ListOptions options;
    options.labelSelector = u"a=b"_s;
    options.resourceVersion = parts[0];
    options.resourceVersionMatch = parts[1];
    options.limit = parts[2].toInt();
    options.continueToken = parts[3];
    const std::optional<transport::ListOptions> watch = asWatchList(options);
    QTEST(watch.has_value(), "isEligible");
    if (!watch)
        return;
    QCOMPARE(watch->resourceVersion, parts[0]);
    QCOMPARE(watch->resourceVersionMatch, u"NotOlderThan"_s);
    QVERIFY(watch->isWatch && watch->allowWatchBookmarks && watch->sendInitialEvents.value());
    QCOMPARE(watch->limit, 0);
    QCOMPARE(watch->labelSelector, u"a=b"_s);
}

QTEST_GUILESS_MAIN(tst_WatchListOptions)
#include "tst_watchlistoptions.moc"
