#include "codec/watchdecoder.h"

#include <QFile>
#include <QTest>

using namespace davit;
using codec::WatchDecoder;
using codec::WatchEvent;

namespace {

QByteArray caseFile(const char *name)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + QLatin1String(name));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("no such case: %s", name);
    return file.readAll();
}

// "ADDED a@101", "BOOKMARK @12746", "BOOKMARK @7 end", "ERROR Expired": one line an event.
QString shown(const WatchEvent &event)
{
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
    const QString type = QLatin1String(names[int(event.type)]);
    if (event.type == WatchEvent::Type::Error)
        return type + QLatin1Char(' ') + errorCodeName(event.error.code());
    return type + QLatin1Char(' ') + event.object.name() + QLatin1Char('@') + event.resourceVersion
        + (event.isInitialEventsEnd ? QLatin1String(" end") : QLatin1String());
}

QStringList fed(WatchDecoder &decoder, const QByteArrayList &chunks)
{
    QStringList seen;
    for (const QByteArray &chunk : chunks)
        for (const WatchEvent &event : decoder.feed(chunk))
            seen.append(shown(event));
    return seen;
}

QByteArray wire(const char *type, const QByteArray &object)
{
    return QByteArray("{\"type\":\"") + type + "\",\"object\":" + object + "}\n";
}

const QByteArray kA
    = R"({"kind":"Widget","metadata":{"name":"a","namespace":"apps","resourceVersion":"7"}})";

} // namespace

class tst_WatchDecoder : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void events_data();
    void events();
    void everySplit_data() { events_data(); }
    void everySplit();
    void largeEvent();
    void tooLargeEvent();
    void keepsWhatWasSent();
    void metadataOnly();
    void endsInsideALine();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_WatchDecoder::events_data()
{
    QTest::addColumn<QByteArray>("stream");
    QTest::addColumn<QStringList>("want");
    QTest::addColumn<int>("badObjects");
    QTest::addColumn<QString>("lastBad");
    const auto row = [](const char *name, const QByteArray &stream, const QStringList &want,
                         int bad = 0, const char *lastBad = "") {
        QTest::newRow(name) << stream << want << bad << QString::fromLatin1(lastBad);
    };
    using L = QStringList;
    const QString error = QStringLiteral("ERROR InternalError");
    const QString added = QStringLiteral("ADDED a@7");
    row("B12 error", caseFile("B12-error-events.ndjson"),
        L{QStringLiteral("ADDED a@101"), QStringLiteral("ERROR Expired")});
    row("B12 error without kind", caseFile("B12-error-no-kind.ndjson"),
        L{QStringLiteral("ADDED a@101"), error});
    row("B12 error null", caseFile("B12-error-null.ndjson"),
        L{QStringLiteral("ADDED a@101"), error});
    row("B12 error without object", "{\"type\":\"ERROR\"}\n", L{error});
    row("B17 bookmarks", caseFile("B17-bookmarks.ndjson"),
        L{QStringLiteral("BOOKMARK @12746"), QStringLiteral("BOOKMARK @12750"),
            QStringLiteral("BOOKMARK @12760")});
    row("end of the initial events",
        wire("BOOKMARK",
            R"({"kind":"Pod","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}})"),
        L{QStringLiteral("BOOKMARK @7 end")});
    row("bookmark without a version", wire("BOOKMARK", "{}") + wire("ADDED", kA), L{added}, 1,
        "watch: a bookmark without a version");
    row("B22 odd objects are objects", caseFile("B22-watch.ndjson"),
        L{QStringLiteral("ADDED good-3@201"), QStringLiteral("ADDED bad-2@202"),
            QStringLiteral("MODIFIED good-1@203"), QStringLiteral("DELETED bad-2@204"),
            QStringLiteral("MODIFIED bad@205")});
    row("members in another order", "{\"object\":" + kA + ",\"type\":\"ADDED\"}\n", L{added});
    row("white space and more members",
        "{ \"x\" : [{}, \"}\\\"\"] , \"type\" : \"ADDED\", \"object\" : " + kA + " , \"y\":1 } \n",
        L{added});
    row("unknown type", wire("SURPRISE", kA) + wire("ADDED", kA), L{added}, 1,
        "watch: unknown event type \"SURPRISE\"");
    row("lone surrogate moves the place on",
        wire("MODIFIED",
            R"({"metadata":{"name":"b","namespace":"n","resourceVersion":"8"},"x":"\ud800"})")
            + wire("ADDED", kA),
        L{QStringLiteral("BOOKMARK @8"), added}, 1,
        "watch: changed n/b: byte 74: a lone surrogate");
    row("lone surrogate deleted",
        wire("DELETED", R"({"metadata":{"name":"b","resourceVersion":"8"},"x":"\ud800"})"),
        L{QStringLiteral("DELETED b@8")}, 1, "watch: deleted b: byte 58: a lone surrogate");
    row("lone surrogate in the name",
        wire("DELETED", R"({"metadata":{"name":"\ud800","resourceVersion":"8"}})"),
        L{QStringLiteral("BOOKMARK @8")}, 1, "watch: deleted unknown: byte 27: a lone surrogate");
    row("object null", wire("ADDED", "null") + wire("ADDED", kA), L{added}, 1,
        "watch: changed unknown: byte 0: no JSON object");
    row("no object", "{\"type\":\"ADDED\"}\n" + wire("ADDED", kA), L{added}, 1,
        "watch: changed unknown: byte 0: the text ends too early");
    row("object without metadata", wire("ADDED", "{\"kind\":\"Table\"}") + wire("ADDED", kA),
        L{added}, 1, "watch: an object without metadata");
    row("no JSON", "<html>\n" + wire("ADDED", kA), L{error});
    row("no event", "{\"kind\":\"Status\"}\n" + wire("ADDED", kA), L{error});
    row("two values on a line", "{\"type\":\"ADDED\",\"object\":" + kA + "}{}\n", L{error});
    row("cut line", "{\"type\":\"ADDED\",\"object\":{\"metadata\":{}\n", L{error});
    row("keep-alive lines", "\n\n" + wire("ADDED", kA) + "\n", L{added});
}

void tst_WatchDecoder::events()
{
    QFETCH(const QByteArray, stream);
    QFETCH(const int, badObjects);
    WatchDecoder decoder({});
    const QStringList seen = fed(decoder, {stream});
    QTEST(seen, "want");
    QCOMPARE(decoder.badObjects(), badObjects);
    QTEST(decoder.lastBadObject().message(), "lastBad");
    const bool hasFailed = !seen.isEmpty() && seen.last().startsWith(QLatin1String("ERROR"));
    QVERIFY(hasFailed || decoder.endedOnBoundary());
    if (hasFailed)
        QVERIFY(decoder.feed(wire("ADDED", kA)).empty());
}

void tst_WatchDecoder::everySplit()
{
    QFETCH(const QByteArray, stream);
    QFETCH(const QStringList, want);
    for (qsizetype at = 0; at <= stream.size(); ++at) {
        WatchDecoder decoder({});
        QCOMPARE(fed(decoder, {stream.left(at), stream.mid(at)}), want);
    }
    WatchDecoder decoder({});
    QByteArrayList bytes;
    for (const char byte : stream)
        bytes.append(QByteArray(1, byte));
    QCOMPARE(fed(decoder, bytes), want);
}

// B20: an object just under the store's limit, with 256 KiB of annotation in two-byte letters.
void tst_WatchDecoder::largeEvent()
{
    const QByteArray letters = QByteArray("\xc3\xa9").repeated(128 * 1024);
    const QByteArray filler = QByteArray("0123456789abcdeg").repeated(80 * 1024);
    const QByteArray object
        = R"({"metadata":{"name":"big","resourceVersion":"101","annotations":{"k":")" + letters
        + R"("}},"spec":{"blob":")" + filler + R"("}})";
    const QByteArray stream = wire("ADDED", object) + wire("ADDED", kA);
    WatchDecoder decoder({});
    std::vector<WatchEvent> events;
    for (qsizetype at = 0; at < stream.size(); at += 1024) {
        for (WatchEvent &event : decoder.feed(stream.mid(at, 1024)))
            events.push_back(std::move(event));
    }
    QCOMPARE(events.size(), std::size_t(2));
    QCOMPARE(events[0].object.annotation(QLatin1StringView("k")).toUtf8(), letters);
    QVERIFY(events[0].object.toJson() == object);
}

void tst_WatchDecoder::tooLargeEvent()
{
    WatchDecoder decoder({}, 200);
    const QByteArray large
        = R"({"metadata":{"name":"b","resourceVersion":"8"},"x":")" + QByteArray(300, 'x') + "\"}";
    QCOMPARE(fed(decoder, {wire("ADDED", large) + wire("ADDED", kA)}),
        QStringList{QStringLiteral("ADDED a@7")});
    QCOMPARE(decoder.badObjects(), 1);
    QCOMPARE(decoder.lastBadObject().message(),
        QStringLiteral("watch: an event of %1 bytes is larger than the limit")
            .arg(wire("ADDED", large).size() - 1));
    QVERIFY(decoder.endedOnBoundary());
}

void tst_WatchDecoder::keepsWhatWasSent()
{
    const QByteArray object
        = R"({"metadata":{"name":"a","resourceVersion":"7","managedFields":[{"x":1}]},"n":18446744073709551616})";
    WatchDecoder dropping({});
    QCOMPARE(dropping.feed(wire("ADDED", object))[0].object.toJson(),
        QByteArray(R"({"metadata":{"name":"a","resourceVersion":"7"},"n":18446744073709551616})"));
    priv::DecodeOptions keep;
    keep.managedFields = priv::ManagedFields::Keep;
    WatchDecoder keeping(keep);
    QCOMPARE(keeping.feed(wire("ADDED", object))[0].object.toJson(), object);
}

void tst_WatchDecoder::metadataOnly()
{
    priv::DecodeOptions options;
    options.depth = priv::Depth::MetadataOnly;
    WatchDecoder decoder(options);
    const std::vector<WatchEvent> events = decoder.feed(wire("ADDED",
        R"({"spec":{"a":1},"metadata":{"name":"a","resourceVersion":"7"},"kind":"Widget","status":{}})"));
    QVERIFY(events.at(0).object.isMetadataOnly());
    QCOMPARE(events.at(0).object.toJson(),
        QByteArray(R"({"metadata":{"name":"a","resourceVersion":"7"},"kind":"Widget"})"));
}

void tst_WatchDecoder::endsInsideALine()
{
    WatchDecoder decoder({});
    QVERIFY(decoder.endedOnBoundary());
    QVERIFY(decoder.feed("{\"type\"").empty());
    QVERIFY(!decoder.endedOnBoundary());
}

QTEST_GUILESS_MAIN(tst_WatchDecoder)
#include "tst_watchdecoder.moc"
