// An informer over a real connection to a server that answers badly once, in exact bytes: whatever
// it was, the cache ends as the list says. Issue 3, step 3b; rules R-24 to R-32, B12, B17, B25.
#include "rawserver.h"

#include <cache/sharedinformerfactory.h>
#include <davit/lister.h>
#include <transport/qnamtransport.h>

#include <QtCore/qthreadpool.h>
#include <QtCore/qurlquery.h>
#include <QtTest>

using namespace davit;
using namespace std::chrono_literals;
using namespace Qt::Literals::StringLiterals;

namespace {

// Pieces go out one by one; then the connection ends, or goes on as the row says.
struct Answer
{
    enum class To : quint8 { List, Watch };
    enum class End : quint8 { Close, Reset, Hold, NextRequest };
    To to = To::Watch;
    QByteArrayList pieces;
    End end = End::Close;
    QByteArrayList stored = {"a@5", "b@20"}; // what the cache holds in the end
};

QByteArray configMap(const QByteArray &name, int version)
{
    return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + name
        + R"(","namespace":"n","uid":"u-)" + name + R"(","resourceVersion":")"
        + QByteArray::number(version) + R"("},"data":{"k":"v"}})";
}

QByteArray frameOf(const QByteArray &type, const QByteArray &object)
{
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

QByteArray listOf(const QByteArrayList &items, int version, const QByteArray &token = {})
{
    return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")"
        + QByteArray::number(version) + R"(","continue":")" + token + R"("},"items":[)"
        + items.join(',') + "]}";
}

QByteArray status(int code, const QByteArray &reason)
{
    return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
           R"("made up","reason":")"
        + reason + R"(","code":)" + QByteArray::number(code) + '}';
}

QByteArray chunk(const QByteArray &bytes)
{
    return QByteArray::number(bytes.size(), 16) + "\r\n" + bytes + "\r\n";
}

QByteArray head(const QByteArray &more = {})
{
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        + more + "\r\n";
}

QByteArray whole(const QByteArray &statusLine, const QByteArray &headers, const QByteArray &body)
{
    return "HTTP/1.1 " + statusLine + "\r\n" + headers
        + "Content-Length: " + QByteArray::number(body.size()) + "\r\n\r\n" + body;
}

const QByteArray kJson = "Content-Type: application/json\r\n";
const QByteArray kHtml = "Content-Type: text/html\r\n";
const QByteArray kPage = "<html><body><h1>500 Internal Server Error</h1></body></html>";
// What whoever believes a damaged answer would hold.
const QByteArray kGhost = configMap("ghost", 15);

// A collection that holds a@5 at version 10, and b@20 as well once the bad answer was given.
class Collection
{
public:
    explicit Collection(const Answer &bad) : m_bad(bad) { }

    void serve(RawConnection &connection)
    {
        RawRequest request;
        while (connection.read(request) && answer(connection, request)) { }
    }
    int badAnswers() const { return m_given; }

private:
    bool answer(RawConnection &connection, const RawRequest &request)
    {
        const QUrlQuery query(QUrl::fromEncoded(request.target));
        const bool isWatch = query.hasQueryItem(u"watch"_s);
        if (isWatch == (m_bad.to == Answer::To::Watch) && m_given.fetch_add(1) == 0)
            return answerBadly(connection);
        if (query.hasQueryItem(u"continue"_s))
            return connection.answer(410, status(410, "Expired"));
        const bool isLater = m_given > 0;
        if (!isWatch) {
            QByteArrayList items{configMap("a", 5)};
            if (isLater)
                items += configMap("b", 20);
            return connection.answer(200, listOf(items, isLater ? 20 : 10));
        }
        if (!connection.beginChunked())
            return false;
        if (query.queryItemValue(u"resourceVersion"_s).toInt() < 20
            && !connection.chunk(frameOf("ADDED", configMap("b", 20))))
            return false;
        connection.hold();
        return false;
    }

    bool answerBadly(RawConnection &connection)
    {
        for (const QByteArray &piece : m_bad.pieces) {
            if (!connection.write(piece))
                return false;
        }
        switch (m_bad.end) {
        case Answer::End::Reset:
            connection.reset();
            break;
        case Answer::End::Hold:
            connection.hold();
            break;
        case Answer::End::NextRequest:
            return true;
        case Answer::End::Close:
            break;
        }
        return false;
    }

    const Answer m_bad;
    std::atomic<int> m_given{0};
};

using To = Answer::To;
using End = Answer::End;

Answer toList(const QByteArrayList &pieces, End end = End::Close)
{
    return {To::List, pieces, end};
}

Answer toWatch(const QByteArrayList &pieces, End end = End::Close)
{
    return {To::Watch, pieces, end};
}

// Every event of a kind of its own split: in two writes at each border, its last byte included.
Answer splitEverywhere()
{
    Answer answer{To::Watch, {head()}, End::Hold, {"a@5"}};
    const qsizetype size = frameOf("ADDED", configMap("s100", 100)).size();
    for (int at = 1; at < int(size); ++at) {
        const QByteArray name = 's' + QByteArray::number(100 + at);
        const QByteArray frame = frameOf("ADDED", configMap(name, 100 + at));
        answer.pieces << chunk(frame.left(at)) << chunk(frame.mid(at));
        answer.stored << name + '@' + QByteArray::number(100 + at);
    }
    return answer;
}

} // namespace
Q_DECLARE_METATYPE(Answer)

class tst_InformerWire : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void endsAsTheListSays_data();
    void endsAsTheListSays();

private:
    void addLists();
    void addWatches();
    void addErrorEvents();
    void addOddFrames();
};

void tst_InformerWire::addLists()
{
    const QByteArray cut = R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":)"
                           R"({"resourceVersion":"15"},"items":[)"
        + kGhost;
    QTest::newRow("list cut in an item") << toList({head(), chunk(cut)});
    QTest::newRow("list cut in an item, the body ends well")
        << toList({head(), chunk(cut), "0\r\n\r\n"});
    QTest::newRow("list cut by its length")
        << toList({"HTTP/1.1 200 OK\r\n" + kJson + "Content-Length: 9999\r\n\r\n" + cut});
    QTest::newRow("list reset") << toList({head(), chunk(cut)}, End::Reset);
    QTest::newRow("no answer to a list") << toList({});
    QTest::newRow("list: a page instead of JSON")
        << toList({whole("200 OK", kHtml, kPage)}, End::NextRequest);
    QTest::newRow("list: JSON that says it is a page")
        << toList({whole("200 OK", kHtml, listOf({kGhost}, 15))}, End::NextRequest);
    QTest::newRow("list: truncated gzip") << toList({head("Content-Encoding: gzip\r\n"),
        chunk(QByteArray::fromBase64("H4sIAAAAAAACA2WOuw4CMQwE/2XraxBUaWmhpUEU1sUXLMhD"))});
    QTest::newRow("list: garbage for the size of a chunk")
        << toList({head(), chunk(cut), "zz\r\nmore\r\n"});
    QTest::newRow("list: 410") << toList(
        {whole("410 Gone", kJson, status(410, "Expired"))}, End::NextRequest);
    QTest::newRow("R-24: 410 on page 2")
        << toList({whole("200 OK", kJson, listOf({kGhost}, 15, "page2"))}, End::NextRequest);
    QTest::newRow("B25: list: 429 with Retry-After")
        << toList({whole("429 Too Many Requests", kJson + "Retry-After: 1\r\n",
                      status(429, "TooManyRequests"))},
               End::NextRequest);
    QTest::newRow("list: 500 with a page")
        << toList({whole("500 Internal Server Error", kHtml, kPage)}, End::NextRequest);
}

void tst_InformerWire::addWatches()
{
    const QByteArray half = frameOf("ADDED", kGhost).chopped(20);
    QTest::newRow("watch cut in a frame") << toWatch({head(), chunk(half)});
    QTest::newRow("watch cut in a frame, the body ends well")
        << toWatch({head(), chunk(half), "0\r\n\r\n"});
    QTest::newRow("watch cut in a chunk") << toWatch({head(), "200\r\n" + half});
    QTest::newRow("watch reset in a frame") << toWatch({head(), chunk(half)}, End::Reset);
    QTest::newRow("no answer to a watch") << toWatch({});
    QTest::newRow("watch: a page instead of events")
        << toWatch({whole("200 OK", kHtml, kPage)}, End::NextRequest);
    QTest::newRow("watch: garbage for the size of a chunk")
        << toWatch({head(), "zz\r\n" + frameOf("ADDED", kGhost)});
    QTest::newRow("watch: a frame that is no JSON")
        << toWatch({head(), chunk("{\"type\":\"ADDED\",\"object\":{\n")});
    QTest::newRow("watch: truncated gzip") << toWatch({head("Content-Encoding: gzip\r\n"),
        chunk(QByteArray::fromBase64("H4sIAAAAAAACA2WOuw4CMQwE/2XraxBUaWmhpUEU1sUXLMhD"))});
    QTest::newRow("watch: 410") << toWatch(
        {whole("410 Gone", kJson, status(410, "Expired"))}, End::NextRequest);
    QTest::newRow("B25: watch: 429 with Retry-After")
        << toWatch({whole("429 Too Many Requests", kJson + "Retry-After: 1\r\n",
                       status(429, "TooManyRequests"))},
               End::NextRequest);
    QTest::newRow("watch: 500 with a page")
        << toWatch({whole("500 Internal Server Error", kHtml, kPage)}, End::NextRequest);
    QTest::newRow("watch ended at once") << toWatch({head(), "0\r\n\r\n"}, End::NextRequest);
}

void tst_InformerWire::addErrorEvents()
{
    const auto row = [](const char *name, const QByteArray &object) {
        QTest::newRow(name) << toWatch({head(), chunk(frameOf("ERROR", object))}, End::Hold);
    };
    row("B12: ERROR 410", status(410, "Expired"));
    row("B12: ERROR 410, Gone", status(410, "Gone"));
    row("B12: ERROR 429", status(429, "TooManyRequests"));
    row("B12: ERROR 500", status(500, "InternalError"));
    row("B12: ERROR 504", status(504, "Timeout"));
    row("B12: ERROR without a Status", "{}");
    row("B12: ERROR with the object in it", kGhost);
}

void tst_InformerWire::addOddFrames()
{
    const auto row = [](const char *name, const QByteArrayList &pieces, QByteArrayList stored) {
        QTest::newRow(name) << Answer{
            To::Watch, QByteArrayList{head()} + pieces, End::Hold, stored};
    };
    const QByteArray b = frameOf("ADDED", configMap("b", 11));
    const QByteArray c = frameOf("ADDED", configMap("c", 12));
    QTest::newRow("a frame split at every border") << splitEverywhere();
    row("two events in one chunk", {chunk(b + c)}, {"a@5", "b@11", "c@12"});
    row("two and a half, then the rest",
        {chunk(b + c + frameOf("DELETED", configMap("b", 13)).left(40)),
            chunk(frameOf("DELETED", configMap("b", 13)).mid(40))},
        {"a@5", "c@12"});
    row("chunks and events in one write", {chunk(b) + chunk(c)}, {"a@5", "b@11", "c@12"});
    row("empty keep-alive lines",
        {chunk("\n\n"), chunk("\n" + b + "\n\r\n"), chunk("\n"), chunk(c)},
        {"a@5", "b@11", "c@12"});
    row("B17: a bookmark between",
        {chunk(b),
            chunk(frameOf("BOOKMARK",
                R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"40"}})")),
            chunk(frameOf("MODIFIED", configMap("b", 41)))},
        {"a@5", "b@41"});
    row("a type that nobody knows",
        {chunk(b), chunk(frameOf("RENAMED", configMap("a", 12))), chunk(c)},
        {"a@5", "b@11", "c@12"});
    row("an object of another kind",
        {chunk(frameOf("ADDED", QByteArray(kGhost).replace("ConfigMap", "Gadget"))), chunk(c)},
        {"a@5", "c@12"});
}

void tst_InformerWire::endsAsTheListSays_data()
{
    QTest::addColumn<Answer>("bad");
    addLists();
    addWatches();
    addErrorEvents();
    addOddFrames();
}

void tst_InformerWire::endsAsTheListSays()
{
    QFETCH(const Answer, bad);
    Collection collection(bad);
    RawServer server([&](RawConnection &connection) { collection.serve(connection); });
    transport::ClusterConfig config;
    config.source = u"test"_s;
    config.server = QUrl(u"http://127.0.0.1:%1"_s.arg(server.port()));
    const auto wire = transport::makeTransport(config);
    QThreadPool pool;
    pool.setMaxThreadCount(2);
    cache::FactoryOptions options;
    options.initialSync = [](const Gvk &) { return cache::InitialSync::List; };
    options.backoff = {10ms, 1.0, 0.0, 10ms, 2min, 0};
    cache::SharedInformerFactory factory(
        *wire, pool, support::systemTimeSource(), std::move(options));
    factory.start();
    const Gvk gvk{QString(), u"v1"_s, u"ConfigMap"_s};
    priv::ListerBackend *backend = nullptr;
    QVERIFY(factory.makeLister({gvk, u"configmaps"_s, true}, gvk, &backend).isOk());
    const Lister lister(*backend);
    const auto stored = [&] {
        QByteArrayList all;
        for (const Object &object : lister.list())
            all += (object.name() + u'@' + object.resourceVersion()).toUtf8();
        std::sort(all.begin(), all.end());
        return all;
    };
    QByteArrayList wanted = bad.stored;
    std::sort(wanted.begin(), wanted.end());
    // Another thread fills the cache; the bad answer may be followed by a wait of a second.
    QTRY_COMPARE_WITH_TIMEOUT(stored(), wanted, 15000);
    QVERIFY(collection.badAnswers() > 0);
    QVERIFY(lister.hasSynced());
    factory.shutdown();
}

QTEST_GUILESS_MAIN(tst_InformerWire)
#include "tst_informerwire.moc"
