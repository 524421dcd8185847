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
    void nesting();
    void tooLargeEvent_data();
    void tooLargeEvent();
    void keepsWhatWasSent();
    void metadataOnly();
    void metadataOfAnotherKind();
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
    row("lone surrogate in the metadata of a deleted one",
        wire("DELETED",
            R"({"metadata":{"name":"b","resourceVersion":"8","annotations":{"x":"\ud800"}}})"),
        L{QStringLiteral("DELETED b@8")}, 1, "watch: deleted b: byte 72: a lone surrogate");
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

void tst_WatchDecoder::nesting()
{
    const auto nested = [](int levels) {
        return wire("MODIFIED",
            R"({"metadata":{"name":"b","resourceVersion":"8"},"x":)" + QByteArray(levels - 1, '[')
                + QByteArray(levels - 1, ']') + '}');
    };
    WatchDecoder decoder({});
    QCOMPARE(fed(decoder, {nested(1024) + wire("ADDED", kA)}),
        (QStringList{QStringLiteral("MODIFIED b@8"), QStringLiteral("ADDED a@7")}));
    QCOMPARE(decoder.badObjects(), 0);
    QCOMPARE(fed(decoder, {nested(1025) + wire("ADDED", kA)}),
        (QStringList{QStringLiteral("BOOKMARK @8"), QStringLiteral("ADDED a@7")}));
    QCOMPARE(decoder.badObjects(), 1);
    QCOMPARE(decoder.lastBadObject().message(),
        QStringLiteral("watch: changed b: byte 1074: nested deeper than 1024 levels"));
}

void tst_WatchDecoder::tooLargeEvent_data()
{
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<QByteArray>("members"); // of metadata, beside the version
    QTest::addColumn<int>("over"); // bytes more than the limit
    QTest::addColumn<QStringList>("want");
    QTest::addColumn<QString>("lastBad");
    using L = QStringList;
    const QByteArray name = R"("name":"b","namespace":"n")";
    const QString after = QStringLiteral("ADDED a@7");
    QTest::newRow("B20 at the limit") << QByteArray("MODIFIED") << name << 0
                                      << L{QStringLiteral("MODIFIED b@8"), after} << QString();
    QTest::newRow("B20 one more: its version is seen")
        << QByteArray("MODIFIED") << name << 1 << L{QStringLiteral("BOOKMARK @8"), after}
        << QStringLiteral("watch: an event of 1001 bytes (MODIFIED n/b) is larger than the limit "
                          "of 1000 bytes");
    QTest::newRow("B20 deleted: what is gone leaves the store")
        << QByteArray("DELETED") << name << 500 << L{QStringLiteral("DELETED b@8"), after}
        << QStringLiteral("watch: an event of 1500 bytes (DELETED n/b) is larger than the limit "
                          "of 1000 bytes");
}

void tst_WatchDecoder::tooLargeEvent()
{
    QFETCH(const QByteArray, type);
    QFETCH(const QByteArray, members);
    QFETCH(const int, over);
    QFETCH(const QString, lastBad);
    const auto event = [&](qsizetype filler) {
        return wire(type.constData(),
            "{\"metadata\":{" + members + R"(,"resourceVersion":"8","annotations":{"x":")"
                + QByteArray(filler, 'x') + "\"}}}");
    };
    const QByteArray stream = event(1000 + over - (event(0).size() - 1)) + wire("ADDED", kA);
    QFETCH(const QStringList, want);
    for (const qsizetype cut : {qsizetype(0), qsizetype(20), qsizetype(700), qsizetype(1200)}) {
        WatchDecoder decoder({}, davit::codec::Limits{1000, 1000});
        QCOMPARE(fed(decoder, {stream.left(cut), stream.mid(cut)}), want);
        QCOMPARE(decoder.badObjects(), over > 0 ? 1 : 0);
        QCOMPARE(decoder.lastBadObject().message(), lastBad);
        QVERIFY(decoder.endedOnBoundary());
    }
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

// T14 where every object becomes one of the implied kind.
void tst_WatchDecoder::metadataOfAnotherKind()
{
    const Gvk widget{
        QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};
    priv::DecodeOptions options;
    options.depth = priv::Depth::MetadataOnly;
    options.impliedGvk = &widget;
    WatchDecoder decoder(options);
    const auto object = [](const char *kind) {
        return QByteArray("{") + kind + R"("metadata":{"name":"a","resourceVersion":"7"}})";
    };
    QCOMPARE(fed(decoder,
                 {wire("ADDED", object(R"("kind":"Pod","apiVersion":"v1",)")),
                     wire("MODIFIED", object(R"("kind":"Widget","apiVersion":"other/v1",)")),
                     wire("DELETED", object(R"("kind":"Pod","apiVersion":"v1",)"))}),
        QStringList());
    QCOMPARE(decoder.badObjects(), 3);
    QCOMPARE(decoder.lastBadObject().message(), QStringLiteral("watch: a is of another kind"));
    for (const char *kind : {R"("kind":"Widget","apiVersion":"demo.example/v1",)", "",
             R"("kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"})
        QCOMPARE(
            fed(decoder, {wire("ADDED", object(kind))}), QStringList(QStringLiteral("ADDED a@7")));
    QCOMPARE(decoder.badObjects(), 3);
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
