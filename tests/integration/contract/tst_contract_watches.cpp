// Watches.
#include "tst_contract.h"

#include <algorithm>

namespace {

bool isType(const QJsonObject &event, const char *type)
{
    return event[QLatin1String("type")].toString() == QLatin1String(type);
}

bool endsInitial(const QJsonObject &event)
{
    return isType(event, "BOOKMARK")
        && event[QLatin1String("object")]
               .toObject()[QLatin1String("metadata")]
               .toObject()[QLatin1String("annotations")]
               .toObject()[QLatin1String("k8s.io/initial-events-end")]
        == QLatin1String("true");
}

} // namespace

void tst_Contract::watchFromVersion()
{
    const QByteArray space = server().newNamespace("watch");
    const QByteArray maps = spaced(space, "secrets");
    const QByteArray start = version(server().get(maps)).toUtf8();
    server().post(maps, R"({"metadata":{"name":"early"}})");
    ApiWatch watch(
        server().address(), maps + "?watch=true&resourceVersion=" + start + "&timeoutSeconds=60");
    QVERIFY(watch.waitForCount(1));
    server().post(maps, R"({"metadata":{"name":"late"}})");
    server().patch(maps + "/late", kMerge, R"({"metadata":{"labels":{"l":"1"}}})");
    const ApiAnswer last = server().get(maps + "/late");
    server().remove(maps + "/late");
    QVERIFY(watch.waitForCount(4));
    QCOMPARE(watch.summary(),
        (QStringList{QStringLiteral("ADDED early"), QStringLiteral("ADDED late"),
            QStringLiteral("MODIFIED late"), QStringLiteral("DELETED late")}));
    const QJsonObject gone = watch.events().last()[QLatin1String("object")].toObject();
    QCOMPARE(gone[QLatin1String("kind")].toString(), QStringLiteral("Secret"));
    QCOMPARE(at(gone, "metadata.labels.l").toString(), QStringLiteral("1"));
    QVERIFY(at(gone, "metadata.resourceVersion").toString().toULongLong()
        > version(last).toULongLong());
    QCOMPARE(watch.code(), 200);
}

void tst_Contract::watchThroughSelector()
{
    const QByteArray space = server().newNamespace("selected");
    const QByteArray secrets = spaced(space, "secrets");
    const QByteArray start = version(server().get(secrets)).toUtf8();
    ApiWatch watch(server().address(),
        secrets + "?watch=true&labelSelector=on&timeoutSeconds=60&resourceVersion=" + start);
    server().post(secrets, R"({"metadata":{"name":"a"}})");
    server().patch(secrets + "/a", kMerge, R"({"metadata":{"labels":{"on":"1"}}})");
    server().patch(secrets + "/a", kMerge, R"({"metadata":{"labels":{"on":"2"}}})");
    const ApiAnswer out
        = server().patch(secrets + "/a", kMerge, R"({"metadata":{"labels":{"on":null}}})");
    QVERIFY(watch.waitForCount(3));
    QCOMPARE(watch.summary(),
        (QStringList{
            QStringLiteral("ADDED a"), QStringLiteral("MODIFIED a"), QStringLiteral("DELETED a")}));
    const QJsonObject left = watch.events().last()[QLatin1String("object")].toObject();
    QCOMPARE(at(left, "metadata.labels.on").toString(), QStringLiteral("2")); // as it was
    QCOMPARE(at(left, "metadata.resourceVersion").toString(), version(out)); // at the new version
}

void tst_Contract::watchOneNamespace()
{
    const QByteArray mine = server().newNamespace("mine");
    const QByteArray other = server().newNamespace("other");
    const QByteArray start = version(server().get(spaced(mine, "secrets"))).toUtf8();
    ApiWatch watch(server().address(),
        spaced(mine, "secrets?watch=1&timeoutSeconds=60&resourceVersion=" + start));
    ApiWatch named(server().address(),
        spaced(mine,
            "secrets?watch=1&timeoutSeconds=60&fieldSelector=metadata.name%3Db&resourceVersion="
                + start));
    server().post(spaced(other, "secrets"), R"({"metadata":{"name":"foreign"}})");
    server().post(spaced(mine, "secrets"), R"({"metadata":{"name":"a"}})");
    server().post(spaced(mine, "secrets"), R"({"metadata":{"name":"b"}})");
    QVERIFY(watch.waitForCount(2));
    QVERIFY(named.waitForCount(1));
    QCOMPARE(watch.summary(), (QStringList{QStringLiteral("ADDED a"), QStringLiteral("ADDED b")}));
    QCOMPARE(named.summary(), QStringList{QStringLiteral("ADDED b")});
}

void tst_Contract::syntheticAdded()
{
    const QByteArray space = server().newNamespace("synthetic");
    const QByteArray secrets = spaced(space, "secrets");
    server().post(secrets, R"({"metadata":{"name":"a"}})");
    ApiWatch unset(server().address(), secrets + "?watch=true&timeoutSeconds=60");
    QVERIFY(unset.waitForCount(1));
    ApiWatch zero(server().address(), secrets + "?watch=true&resourceVersion=0&timeoutSeconds=60");
    QVERIFY(zero.waitForCount(1));
    server().post(secrets, R"({"metadata":{"name":"b"}})");
    QVERIFY(unset.waitForCount(2));
    QVERIFY(zero.waitForCount(2));
    const QStringList want{QStringLiteral("ADDED a"), QStringLiteral("ADDED b")};
    QCOMPARE(unset.summary(), want);
    QCOMPARE(zero.summary(), want);
}

void tst_Contract::streamingList()
{
    const QByteArray space = server().newNamespace("stream");
    const QByteArray secrets = spaced(space, "secrets");
    for (const char *name : {"a", "b"})
        server().post(secrets, R"({"metadata":{"name":")" + QByteArray(name) + R"("}})");
    const QByteArray now = version(server().get(secrets)).toUtf8();
    for (const QByteArray &from : {QByteArray(), QByteArray("0"), now}) {
        ApiWatch watch(server().address(),
            secrets
                + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                  "&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion="
                + from);
        QVERIFY(watch.waitFor([](const QList<QJsonObject> &events) {
            return !events.isEmpty() && endsInitial(events.last());
        }));
        QCOMPARE(
            watch.summary(), (QStringList{QStringLiteral("ADDED a"), QStringLiteral("ADDED b")}));
        const QJsonObject mark = watch.events().last()[QLatin1String("object")].toObject();
        QCOMPARE(mark[QLatin1String("kind")].toString(), QStringLiteral("Secret"));
        QVERIFY(at(mark, "metadata.resourceVersion").toString().toULongLong() >= now.toULongLong());
        server().patch(
            secrets + "/a", kMerge, R"({"metadata":{"labels":{"l":")" + from + R"(x"}}})");
        QVERIFY(watch.waitFor([](const QList<QJsonObject> &seen) {
            return std::any_of(seen.begin(), seen.end(),
                [](const QJsonObject &event) { return isType(event, "MODIFIED"); });
        }));
    }
}

// Two seconds before the end, where a watch asked for bookmarks and there is something new to tell:
// the real server drops a bookmark that is no newer than the watch's first version.
void tst_Contract::bookmarkBeforeTheEnd()
{
    const QByteArray space = server().newNamespace("bookmark");
    const QByteArray secrets = spaced(space, "secrets");
    const QByteArray target = secrets
        + "?watch=true&timeoutSeconds=8&resourceVersion=" + version(server().get(secrets)).toUtf8();
    ApiWatch watch(server().address(), target + "&allowWatchBookmarks=true");
    ApiWatch without(server().address(), target);
    QVERIFY(QTest::qWaitFor([&] { return watch.code() == 200 && without.code() == 200; }));
    const ApiAnswer made = server().post(secrets, R"({"metadata":{"name":"a"}})");
    QVERIFY(watch.waitForEnd(30000));
    QVERIFY(without.waitForEnd(30000));
    const QList<QJsonObject> events = watch.events();
    QVERIFY(events.size() >= 2);
    QVERIFY(isType(events.first(), "ADDED"));
    QVERIFY(isType(events.last(), "BOOKMARK"));
    const QJsonObject mark = events.last()[QLatin1String("object")].toObject();
    QCOMPARE(mark[QLatin1String("kind")].toString(), QStringLiteral("Secret"));
    QVERIFY(at(mark, "metadata.resourceVersion").toString().toULongLong()
        >= version(made).toULongLong());
    QCOMPARE(without.events().size(), 1);
}

void tst_Contract::watchTooOld()
{
    const QByteArray space = server().newNamespace("old");
    QVERIFY(server().serveWidgets());
    server().forgetHistory();
    ApiWatch watch(server().address(),
        kWidgets + space + "/widgets?watch=true&resourceVersion=1&timeoutSeconds=30");
    QVERIFY(watch.waitForEnd());
    QCOMPARE(watch.code(), 200);
    QCOMPARE(watch.events().size(), 1);
    QVERIFY(isType(watch.events().first(), "ERROR"));
    const QJsonObject status = watch.events().first()[QLatin1String("object")].toObject();
    QCOMPARE(status[QLatin1String("code")].toInt(), 410);
    QCOMPARE(status[QLatin1String("reason")].toString(), QStringLiteral("Expired"));
    QVERIFY(status[QLatin1String("message")].toString().startsWith(
        QLatin1String("too old resource version: 1 (")));
}
