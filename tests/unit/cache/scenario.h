// A case's scenario (tests/data/cases/*-scenario.json) played to a client of a Transport, on the
// test's clock: no socket, no waiting. A step waits for a request and says what is answered; a step
// that is optional, a trap, for another resource, or answered always may be passed over. What no
// step expects is answered with 500 and kept. A question for the newest version (a LIST of one
// item) is answered beside the steps: this server never went back.
#pragma once

#include "fakes.h"

#include <transport/transport.h>

#include <QtCore/qfile.h>
#include <QtCore/qprocess.h>
#include <QtCore/qurlquery.h>

namespace fakes {

inline QByteArray caseFile(const QString &name)
{
    if (name.endsWith(u".gz")) {
        QProcess gzip;
        gzip.start(u"gzip"_s, {u"-dc"_s, QStringLiteral(DAVIT_TEST_DATA "/cases/") + name});
        if (!gzip.waitForFinished() || gzip.exitCode() != 0)
            qFatal("%s cannot be unpacked", qPrintable(name));
        return gzip.readAllStandardOutput();
    }
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + name);
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s is missing", qPrintable(name));
    return file.readAll();
}
inline QJsonObject caseJson(const QString &name)
{
    return QJsonDocument::fromJson(caseFile(name)).object();
}

class ScenarioTransport final : public transport::Transport
{
public:
    struct Asked
    {
        QString line; // "list widgets rv=100", "watch widgets rv=101"
        std::chrono::nanoseconds at;
        std::shared_ptr<bool> isAlive;
    };

    ScenarioTransport(const QJsonArray &steps, testing::ManualClock &clock) : m_clock(clock)
    {
        for (const QJsonValue &step : steps)
            m_steps.push_back({step.toObject(), 0});
    }

    std::vector<Asked> asked;
    QStringList unexpected;
    QStringList traps;
    int questions = 0; // for the newest version
    bool isGranted = false; // steps that answer always have ended

    QStringList lines() const
    {
        QStringList all;
        for (const Asked &one : asked)
            all += one.line;
        return all;
    }
    int count(const QString &line) const { return int(lines().count(line)); }
    // Steps that had to be played and were not.
    int unplayed() const
    {
        int count = 0;
        for (const Step &step : m_steps)
            count += !isPassable(step) && step.played == 0;
        return count;
    }

    std::unique_ptr<transport::Exchange> start(const transport::Request &request,
        support::Executor &executor, transport::ResponseSink &sink) override
    {
        const QUrl url(QString::fromLatin1(request.target));
        const QUrlQuery query(url);
        const QString plural = url.path().section(u'/', -1);
        const bool isWatch = query.queryItemValue(u"watch"_s) == u"true";
        const QString line = (isWatch ? u"watch "_s : u"list "_s) + plural + u" rv="_s
            + query.queryItemValue(u"resourceVersion"_s);
        const auto isAlive = std::make_shared<bool>(true);
        if (query.queryItemValue(u"limit"_s) == u"1") {
            ++questions;
            play({request, &executor, &sink, isAlive}, newestVersion());
            return std::make_unique<Ends>(isAlive);
        }
        asked.push_back({line, m_clock.monotonic(), isAlive});
        play({request, &executor, &sink, isAlive}, stepFor(query, isWatch, plural, line));
        return std::make_unique<Ends>(isAlive);
    }
    QString serverName() const override { return u"https://scenario:1"_s; }

private:
    struct Step
    {
        QJsonObject json;
        int played;
    };
    struct Playing
    {
        transport::Request request;
        support::Executor *executor;
        transport::ResponseSink *sink;
        std::shared_ptr<bool> isAlive;

        void say(const std::function<void(transport::ResponseSink &)> &what) const
        {
            executor->post([what, sink = sink, isAlive = isAlive] {
                if (*isAlive)
                    what(*sink);
            });
        }
    };
    class Ends final : public transport::Exchange
    {
    public:
        explicit Ends(std::shared_ptr<bool> isAlive) : m_isAlive(std::move(isAlive)) { }
        ~Ends() override { *m_isAlive = false; }

    private:
        const std::shared_ptr<bool> m_isAlive;
    };

    static QJsonObject newestVersion()
    {
        const QJsonObject list{{u"kind"_s, u"List"_s}, {u"apiVersion"_s, u"v1"_s},
            {u"metadata"_s, QJsonObject{{u"resourceVersion"_s, u"999999"_s}}},
            {u"items"_s, QJsonArray()}};
        return {{u"status"_s, 200}, {u"json"_s, list}};
    }

    bool isAlways(const Step &step) const { return step.json[u"repeat"_s].isString(); }
    bool isPassable(const Step &step) const
    {
        return step.json.contains(u"optional"_s) || step.json.contains(u"trap"_s) || isAlways(step);
    }
    bool isOver(const Step &step) const
    {
        return isAlways(step) ? isGranted : step.played >= step.json[u"repeat"_s].toInt(1);
    }
    bool matches(
        const Step &step, const QUrlQuery &query, bool isWatch, const QString &plural) const
    {
        const QJsonObject on = step.json[u"on"_s].toObject();
        if ((on[u"verb"_s] == u"watch"_s) != isWatch)
            return false;
        if (on.contains(u"resource"_s) && on[u"resource"_s].toString() != plural)
            return false;
        return !on.contains(u"resourceVersion"_s)
            || on[u"resourceVersion"_s].toString() == query.queryItemValue(u"resourceVersion"_s);
    }
    QJsonObject stepFor(
        const QUrlQuery &query, bool isWatch, const QString &plural, const QString &line)
    {
        for (Step &step : m_steps) {
            if (isOver(step))
                continue;
            if (matches(step, query, isWatch, plural)) {
                ++step.played;
                if (step.json.contains(u"trap"_s))
                    traps += line;
                return step.json[u"reply"_s].toObject();
            }
            const QString resource = step.json[u"on"_s][u"resource"_s].toString();
            if (!isPassable(step) && (resource.isEmpty() || resource == plural))
                break;
        }
        unexpected += line;
        return {{u"status"_s, 500}, {u"text"_s, u"no step expects this"_s}};
    }

    void play(const Playing &to, const QJsonObject &reply)
    {
        if (reply.contains(u"raw"_s)) {
            playRaw(to, caseFile(reply[u"raw"_s].toString()));
            return;
        }
        transport::ResponseHead head;
        head.httpStatus = reply[u"status"_s].toInt();
        head.contentType = reply.contains(u"text"_s) ? "text/html" : "application/json";
        to.say([head](transport::ResponseSink &sink) { sink.onHead(head); });
        QByteArray body = reply[u"text"_s].toString().toUtf8();
        if (reply.contains(u"json"_s))
            body = QJsonDocument(reply[u"json"_s].toObject()).toJson(QJsonDocument::Compact);
        for (const QJsonValue &event : reply[u"events"_s].toArray())
            body += QJsonDocument(event.toObject()).toJson(QJsonDocument::Compact) + '\n';
        if (reply.contains(u"eventsFile"_s))
            body += caseFile(reply[u"eventsFile"_s].toString());
        body += QByteArray(reply[u"filler"_s].toInt(), 'x'); // of one line
        body += reply[u"more"_s].toString().toUtf8();
        for (qsizetype at = 0; at < body.size(); at += kPiece)
            to.say([piece = body.mid(at, kPiece)](
                       transport::ResponseSink &sink) { sink.onBytes(piece); });
        playEnd(to, reply);
    }
    void playEnd(const Playing &to, const QJsonObject &reply)
    {
        const QString then = reply[u"then"_s].toString();
        std::chrono::nanoseconds after(qint64(reply[u"after"_s].toDouble() * 1e9));
        if (then == u"hold")
            return;
        Error error;
        if (then == u"rst") {
            error = Error(ErrorCode::ConnectionLost, u"scripted: reset by peer"_s);
            after = std::max<std::chrono::nanoseconds>(after, 200ms);
        } else if (then == u"blackhole") { // what the transport makes of a long silence
            error = Error(ErrorCode::Timeout, u"scripted: silence"_s);
            after = to.request.silenceLimit;
        }
        const auto finish = [to, error] {
            if (*to.isAlive)
                to.sink->onFinished(error);
        };
        if (after > 0ns)
            m_clock.callAfter(after, *to.executor, finish);
        else
            to.executor->post(finish);
    }
    // One whole HTTP answer: status line, headers, body.
    void playRaw(const Playing &to, const QByteArray &bytes)
    {
        QByteArray text = bytes;
        text.replace("\r\n", "\n");
        const qsizetype end = text.indexOf("\n\n");
        transport::ResponseHead head;
        for (const QByteArray &line : text.left(end).split('\n')) {
            const QByteArray value = line.mid(line.indexOf(':') + 1).trimmed();
            if (line.startsWith("HTTP/1.1 "))
                head.httpStatus = line.mid(9, 3).toInt();
            else if (line.toLower().startsWith("retry-after:"))
                head.retryAfter = std::chrono::seconds(value.toInt());
            else if (line.toLower().startsWith("content-type:"))
                head.contentType = value;
        }
        to.say([head](transport::ResponseSink &sink) { sink.onHead(head); });
        for (const QByteArray &piece : text.mid(end + 2).split('\n')) // line by line, the worst
            to.say([piece](transport::ResponseSink &sink) { sink.onBytes(piece + '\n'); });
        to.say([](transport::ResponseSink &sink) { sink.onFinished({}); });
    }

    static constexpr qsizetype kPiece = 1024;
    testing::ManualClock &m_clock;
    std::vector<Step> m_steps;
};

} // namespace fakes
