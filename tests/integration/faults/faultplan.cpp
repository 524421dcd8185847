#include "faultplan.h"

#include <algorithm>
#include <random>

using Request = BadAnswer::Request;
using End = BadAnswer::End;
using Kind = Fault::Kind;

namespace {

QByteArray reply(const QByteArray &statusLine, const QByteArray &headers, const QByteArray &body)
{
    return "HTTP/1.1 " + statusLine + "\r\nContent-Length: " + QByteArray::number(body.size())
        + "\r\nConnection: close\r\n" + headers + "\r\n" + body;
}

QByteArray json(const QByteArray &statusLine, const QByteArray &body)
{
    return reply(statusLine, "Content-Type: application/json\r\n", body);
}

QByteArray status(int code, const QByteArray &reason, const QByteArray &more = {})
{
    return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
           R"("made up","reason":")"
        + reason + '"' + more + ",\"code\":" + QByteArray::number(code) + '}';
}

QByteArray chunk(const QByteArray &bytes)
{
    return QByteArray::number(bytes.size(), 16) + "\r\n" + bytes + "\r\n";
}

// The last chunk is up to the caller: without it the body is cut.
QByteArray chunked(const QByteArray &body, const QByteArray &headers = {})
{
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
           "Connection: close\r\n"
        + headers + "\r\n" + chunk(body);
}

QByteArray errorEvent(const QByteArray &object)
{
    return chunked("{\"type\":\"ERROR\",\"object\":" + object + "}\n") + "0\r\n\r\n";
}

// An object that no server has: whoever believes a cut answer holds it.
const QByteArray kGhost
    = R"({"metadata":{"name":"ghost","namespace":"default","uid":"g","resourceVersion":"3"}})";
const QByteArray kCutList
    = R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"4"},"items":[)"
    + kGhost;

// 90 of the 135 bytes of a list with the ghost in it.
QByteArray cutGzip()
{
    return QByteArray::fromBase64(
        "H4sIAAAAAAACA2WOuw4CMQwE/"
        "2XraxBUaWmhpUEU1sUXLMhDcUIT5d9JaBCiW49Hq214SLAwOMawiTtTOokWLKAkF84q"
        "MYznazeI50KWCsE0ZNZY88pf5YC+");
}

const QByteArray kHtml = "Content-Type: text/html\r\n";
const QByteArray kPage = "<html><body>\n<h1>Bad Gateway</h1>\n</body></html>\n";

// The server says no.
QList<NamedAnswer> refusals()
{
    const QByteArray retry = "Content-Type: application/json\r\nRetry-After: 1\r\n";
    return {
        {"410", {Request::Any, 0, json("410 Gone", status(410, "Expired")), End::Close}},
        {"410 as an event", {Request::Watch, 0, errorEvent(status(410, "Expired")), End::Close}},
        {"429 with Retry-After",
            {Request::Any, 0, reply("429 Too Many Requests", retry, status(429, "TooManyRequests")),
                End::Close}},
        {"429 without",
            {Request::Any, 0, reply("429 Too Many Requests", kHtml, kPage), End::Close}},
        {"429 as an event",
            {Request::Watch, 0, errorEvent(status(429, "TooManyRequests")), End::Close}},
        {"500", {Request::Any, 0, json("500 Oops", status(500, "InternalError")), End::Close}},
        {"500 as an event",
            {Request::Watch, 0, errorEvent(status(500, "InternalError")), End::Close}},
        {"503 with Retry-After",
            {Request::Any, 0, reply("503 Later", retry, status(503, "ServiceUnavailable")),
                End::Close}},
        {"504 too large a version",
            {Request::Any, 0,
                json("504 Gateway Timeout",
                    status(504, "Timeout",
                        R"(,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]})")),
                End::Close}},
        {"403", {Request::Any, 0, json("403 Forbidden", status(403, "Forbidden")), End::Close}},
        {"404 page", {Request::Any, 0, reply("404 Not Found", kHtml, kPage), End::Close}},
    };
}

// A success that means nothing, or not what was asked for.
QList<NamedAnswer> unusableAnswers()
{
    return {
        {"204", {Request::Any, 0, "HTTP/1.1 204 No Content\r\n\r\n", End::Close}},
        {"302",
            {Request::Any, 0, reply("302 Found", "Location: http://127.0.0.1:1/login\r\n", kPage),
                End::Close}},
        {"wrong content type: a page",
            {Request::Any, 0, reply("200 OK", kHtml, kPage), End::Close}},
        {"wrong content type: protobuf",
            {Request::Any, 0,
                reply("200 OK", "Content-Type: application/vnd.kubernetes.protobuf\r\n",
                    QByteArray("k8s\0\x0a\x0f\n\0\x12ghost", 14)),
                End::Close}},
        {"a Status of success",
            {Request::Any, 0,
                json("200 OK", R"({"kind":"Status","apiVersion":"v1","status":"Success"})"),
                End::Close}},
        {"an empty body", {Request::Any, 0, json("200 OK", ""), End::Close}},
    };
}

QList<NamedAnswer> cutAnswers()
{
    return {
        {"truncated gzip",
            {Request::Any, 0, chunked(cutGzip(), "Content-Encoding: gzip\r\n"), End::Close}},
        {"truncated gzip that ends well",
            {Request::Any, 0, chunked(cutGzip(), "Content-Encoding: gzip\r\n") + "0\r\n\r\n",
                End::Close}},
        {"a list cut in a chunked body", {Request::List, 0, chunked(kCutList), End::Close}},
        {"a cut list that ends well",
            {Request::List, 0, chunked(kCutList) + "0\r\n\r\n", End::Close}},
        {"a cut list that is reset", {Request::List, 0, chunked(kCutList), End::Reset}},
        {"an event cut in a chunked body",
            {Request::Watch, 0, chunked("{\"type\":\"ADDED\",\"object\":" + kGhost), End::Close}},
        {"a Content-Length that is too long",
            {Request::Any, 0,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                "9999\r\n\r\n"
                    + kCutList,
                End::Close}},
    };
}

QList<NamedAnswer> brokenAnswers()
{
    return {
        {"no HTTP", {Request::Any, 0, "SSH-2.0-OpenSSH_9.2\r\n", End::Close}},
        {"a wrong chunk size",
            {Request::Any, 0,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: "
                "chunked\r\n\r\nzz\r\n{}\r\n",
                End::Close}},
        {"no answer", {Request::Any, 0, {}, End::Silence}},
        {"headers, then silence", {Request::Watch, 0, chunked("\n"), End::Silence}},
        {"closed at once", {Request::Any, 0, {}, End::Close}},
        {"reset at once", {Request::Any, 0, {}, End::Reset}},
        {"cut in the answer", {Request::Any, 700, {}, End::Close}},
        {"reset in the answer", {Request::Any, 900, {}, End::Reset}},
        {"silence in the answer", {Request::Any, 1100, {}, End::Silence}},
        {"garbage in the answer", {Request::Any, 1300, "\r\n\0\xff{}}\n", End::Close}},
        {"a page in the answer", {Request::Watch, 500, chunk(kPage), End::Close}},
    };
}

const char *nameOf(Kind kind)
{
    constexpr const char *names[] = {"cut", "reset", "cut after bytes", "reset after bytes",
        "stall", "refuse", "hold back", "delay", "bad answer", "end watches", "expire watches",
        "expire history", "restart", "restore"};
    return names[int(kind)];
}

} // namespace

const QList<NamedAnswer> &badAnswers()
{
    static const QList<NamedAnswer> answers
        = refusals() + unusableAnswers() + cutAnswers() + brokenAnswers();
    return answers;
}

static Fault faultOf(Kind kind, std::mt19937 &random)
{
    const auto below = [&random](int limit) { return int(random() % quint32(limit)); };
    Fault fault;
    fault.kind = kind;
    fault.isBehindGateway = kind == Kind::BadAnswer || below(2) == 0;
    fault.amount = below(2) == 0 ? below(400) : below(8000);
    fault.name = QLatin1String(nameOf(kind));
    return fault;
}

static Fault badAnswer(const NamedAnswer &chosen, std::mt19937 &random)
{
    Fault fault = faultOf(Kind::BadAnswer, random);
    fault.answer = chosen.answer;
    if (fault.answer.passedBytes > 0)
        fault.answer.passedBytes = 1 + int(random() % 6000U);
    fault.name = QLatin1String(chosen.name);
    return fault;
}

QList<Fault> planFaults(quint32 seed, int count, const ServerFaults &server)
{
    std::mt19937 random(seed);
    const std::pair<Kind, int> shares[] = {{Kind::EndWatches, server.endWatches},
        {Kind::ExpireWatches, server.expireWatches}, {Kind::ExpireHistory, server.expireHistory},
        {Kind::Restart, server.restarts}, {Kind::Restore, server.restores}, {Kind::Cut, 6},
        {Kind::Reset, 6}, {Kind::CutAfterBytes, 10}, {Kind::ResetAfterBytes, 8}, {Kind::Stall, 1},
        {Kind::Refuse, 3}, {Kind::HoldBack, 5}, {Kind::Delay, 2}, {Kind::BadAnswer, 100}};
    QList<Fault> faults; // each kind and each answer once
    for (const auto &[kind, share] : shares) {
        if (share > 0 && kind != Kind::BadAnswer)
            faults.append(faultOf(kind, random));
    }
    for (const NamedAnswer &answer : badAnswers())
        faults.append(badAnswer(answer, random));
    if (count < faults.size())
        faults.clear();
    while (faults.size() < count) {
        Kind chosen = Kind::Cut;
        int at = int(random() % 100U);
        for (const auto &[kind, share] : shares) {
            chosen = kind;
            if ((at -= share) < 0)
                break;
        }
        faults.append(chosen == Kind::BadAnswer
                ? badAnswer(badAnswers().at(int(random() % quint32(badAnswers().size()))), random)
                : faultOf(chosen, random));
    }
    std::shuffle(faults.begin(), faults.end(), random);
    return faults;
}
