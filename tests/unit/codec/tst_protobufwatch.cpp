#include "protobufparts.h"

#include <codec/protobufwatch.h>

#include <QtTest>

using namespace davit;
using namespace protobuf;
using codec::KubernetesSchema;
using codec::ProtobufWatchDecoder;
using codec::WatchEvent;

namespace {

const Gvk kConfigMap{{}, QStringLiteral("v1"), QStringLiteral("ConfigMap")};

struct Outcome
{
    QStringList events;
    QString bad; // the last
    qsizetype badObjects = 0;
    bool needsJson = false;
    bool endedOnBoundary = true;
};

QString text(const WatchEvent &event)
{
    switch (event.type) {
    case WatchEvent::Type::Bookmark:
        return QStringLiteral("B ") + event.resourceVersion
            + (event.isInitialEventsEnd ? QStringLiteral(" end") : QString());
    case WatchEvent::Type::Error:
        return QStringLiteral("E ") + event.error.message();
    default:
        return QStringLiteral("+~-").at(int(event.type)) + event.object.key().namespaceName + u'/'
            + event.object.name() + u'@' + event.resourceVersion;
    }
}

Outcome decoded(const QByteArrayList &chunks, const codec::Limits &limits = {})
{
    priv::DecodeOptions options;
    options.impliedGvk = &kConfigMap;
    ProtobufWatchDecoder decoder(KubernetesSchema::builtIn(), options, limits);
    Outcome outcome;
    for (const QByteArray &chunk : chunks)
        for (const WatchEvent &event : decoder.feed(chunk))
            outcome.events += text(event);
    outcome.bad = decoder.lastBadObject().message();
    outcome.badObjects = decoder.badObjects();
    outcome.needsJson = decoder.needsJson();
    outcome.endedOnBoundary = decoder.endedOnBoundary();
    return outcome;
}

QStringList L(std::initializer_list<const char *> texts)
{
    QStringList list;
    for (const char *text : texts)
        list += QString::fromUtf8(text);
    return list;
}

} // namespace

class tst_ProtobufWatch : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void events_data();
    void events();
    void everySplit_data() { events_data(); }
    void everySplit();
    void everyCut();
    void tooLarge_data();
    void tooLarge();
};

// NOLINTNEXTLINE(readability-function-size): a table
void tst_ProtobufWatch::events_data()
{
    QTest::addColumn<QByteArray>("stream");
    QTest::addColumn<QStringList>("events");
    QTest::addColumn<QString>("bad");
    const auto row = [](const char *name, const QByteArray &stream, const QStringList &events,
                         const char *bad = "") {
        QTest::newRow(name) << stream << events << QString::fromUtf8(bad);
    };
    const QByteArray added = configMapEvent("ADDED", configMap("a", "1"));
    row("nothing", {}, {});
    row("the three types",
        added + configMapEvent("MODIFIED", configMap("a", "2"))
            + configMapEvent("DELETED", configMap("a", "3")),
        L({"+n/a@1", "~n/a@2", "-n/a@3"}));
    row("a bookmark", configMapEvent("BOOKMARK", bytes(1, bytes(6, "9"))), L({"B 9"}));
    const QByteArray end = bytes(1, "k8s.io/initial-events-end") + bytes(2, "true");
    row("the end of the initial events",
        configMapEvent("BOOKMARK", bytes(1, bytes(6, "9") + bytes(12, end))), L({"B 9 end"}));
    row("a bookmark without a version", configMapEvent("BOOKMARK", bytes(1, {})) + added,
        L({"+n/a@1"}), "watch: a bookmark without a version");
    row("an error is the last",
        watchEvent("ERROR",
            envelope("v1", "Status",
                bytes(1, {}) + bytes(2, "Failure") + bytes(3, "too old") + bytes(4, "Expired")
                    + number(6, 410)))
            + added,
        L({"E watch: too old"}));
    row("an error that is no Status", watchEvent("ERROR", envelope("v1", "ConfigMap", {})) + added,
        L({"E watch: the server sent an error that is no Status but a v1 ConfigMap"}));
    row("another kind",
        watchEvent("ADDED", envelope("v1", "Secret", bytes(1, bytes(1, "s")))) + added,
        L({"+n/a@1"}), "watch: s is of another kind, v1 Secret");
    row("another type", configMapEvent("RENAMED", configMap("a", "1")) + added, L({"+n/a@1"}),
        "watch: unknown event type \"RENAMED\"");
    row("no event", frame("\xff") + added, L({"E watch: a frame of 1 bytes is no watch event"}));
    row("an object without envelope", frame(bytes(1, "ADDED") + bytes(2, bytes(1, "{}"))),
        L({"E watch: a frame of 13 bytes is no watch event"}));
    row("an empty frame", frame({}) + added, L({"+n/a@1"}), "watch: an event without content");
    // B22: its version counts as seen, and what is gone leaves the store.
    const QByteArray bad = configMap("x", "5", QByteArray("\x12\x7f"));
    row("a changed one that is bad", configMapEvent("MODIFIED", bad) + added, L({"B 5", "+n/a@1"}),
        "watch: changed n/x: byte 26: a field is cut or is no protobuf");
    row("a deleted one that is bad", configMapEvent("DELETED", bad) + added,
        L({"-n/x@5", "+n/a@1"}), "watch: deleted n/x: byte 26: a field is cut or is no protobuf");
    row("text that is not UTF-8, which the server's JSON mends",
        added + configMapEvent("ADDED", configMap("b", "2", bytes(2, bytes(1, "\xff")))) + added,
        L({"+n/a@1"}));
    row("a field that is not known",
        added + configMapEvent("ADDED", configMap("b", "2") + bytes(20, {})) + added,
        L({"+n/a@1"}));
}

void tst_ProtobufWatch::events()
{
    QFETCH(const QByteArray, stream);
    QFETCH(const QString, bad);
    const Outcome outcome = decoded({stream});
    QTEST(outcome.events, "events");
    QCOMPARE(outcome.bad, bad);
    QCOMPARE(outcome.badObjects, bad.isEmpty() ? 0 : 1);
    const QByteArray name = QTest::currentDataTag();
    QCOMPARE(outcome.needsJson, name.startsWith("text that") || name.startsWith("a field that"));
    QVERIFY(outcome.endedOnBoundary);
}

void tst_ProtobufWatch::everySplit()
{
    QFETCH(const QByteArray, stream);
    for (qsizetype at = 0; at <= stream.size(); ++at)
        QTEST(decoded({stream.left(at), stream.mid(at)}).events, "events");
    QByteArrayList single;
    for (const char c : stream)
        single += QByteArray(1, c);
    QTEST(decoded(single).events, "events");
}

void tst_ProtobufWatch::everyCut()
{
    const QByteArray stream = configMapEvent("ADDED", configMap("a", "1"));
    for (qsizetype size = 1; size < stream.size(); ++size) {
        const Outcome outcome = decoded({stream.left(size)});
        QCOMPARE(outcome.events, QStringList());
        QVERIFY(!outcome.endedOnBoundary);
    }
}

void tst_ProtobufWatch::tooLarge_data()
{
    QTest::addColumn<QByteArray>("type");
    QTest::addColumn<qsizetype>("piece");
    QTest::addColumn<QString>("instead");
    for (const qsizetype piece : {1, 1000, 1000000}) {
        QTest::addRow("changed, pieces of %lld", static_cast<long long>(piece))
            << QByteArray("MODIFIED") << piece << QStringLiteral("B 3");
        QTest::addRow("deleted, pieces of %lld", static_cast<long long>(piece))
            << QByteArray("DELETED") << piece << QStringLiteral("-n/large@3");
    }
}

// B20.
void tst_ProtobufWatch::tooLarge()
{
    QFETCH(const QByteArray, type);
    QFETCH(const qsizetype, piece);
    QFETCH(const QString, instead);
    const QByteArray large = configMap(
        "large", "3", bytes(2, bytes(1, "k") + bytes(2, QByteArray(codec::kHeadBytes + 100, 'x'))));
    const QByteArray event = configMapEvent(type, large);
    const QByteArray stream = event + configMapEvent("ADDED", configMap("a", "4"));
    QByteArrayList chunks;
    for (qsizetype at = 0; at < stream.size(); at += piece)
        chunks += stream.mid(at, piece);
    codec::Limits limits;
    limits.maxEventBytes = 1000;
    const Outcome outcome = decoded(chunks, limits);
    QCOMPARE(outcome.events, (QStringList{instead, QStringLiteral("+n/a@4")}));
    QCOMPARE(outcome.bad,
        QStringLiteral("watch: %1 n/large: its %2 bytes are more than the limit of 1000 bytes")
            .arg(QString::fromLatin1(type))
            .arg(event.size() - 4));
}

QTEST_GUILESS_MAIN(tst_ProtobufWatch)
#include "tst_protobufwatch.moc"
