// A transport whose answers the test writes, and a sink that writes down what it hears.
#pragma once

#include "fakes.h"

#include <cache/restlisterwatcher.h>

namespace fakes {

using namespace davit::cache;

// Keeps the requests; the test answers the newest.
class ScriptedTransport final : public transport::Transport
{
public:
    QList<QByteArray> targets;
    QList<QByteArray> accepts;
    std::vector<transport::Channel> channels;
    std::vector<std::chrono::milliseconds> headDeadlines;
    std::vector<std::chrono::milliseconds> silenceLimits;
    transport::ResponseSink *sink = nullptr;
    QByteArray contentType = "application/json"; // of the answers

    std::unique_ptr<transport::Exchange> start(const transport::Request &request,
        support::Executor &, transport::ResponseSink &to) override
    {
        targets += request.target;
        accepts += request.accept;
        channels.push_back(request.channel);
        headDeadlines.push_back(request.headDeadline);
        silenceLimits.push_back(request.silenceLimit);
        sink = &to;
        return std::make_unique<transport::Exchange>();
    }
    QString serverName() const override { return u"https://test:1"_s; }

    void answer(int status, const QByteArrayList &pieces, const Error &end = {},
        std::chrono::milliseconds retryAfter = -1ms, const QByteArrayList &warnings = {})
    {
        transport::ResponseHead head;
        head.httpStatus = status;
        head.contentType = contentType;
        head.retryAfter = retryAfter;
        head.warnings = warnings;
        sink->onHead(head);
        for (const QByteArray &piece : pieces)
            sink->onBytes(piece);
        sink->onFinished(end);
    }
};

// Writes down what it hears.
class Sink final : public ListSink, public WatchSink
{
public:
    QStringList items;
    qint64 bytes = 0;
    bool isOpened = false;
    int finished = 0;
    Error error;
    ListPage page;
    QStringList events;

    void onListItems(std::vector<Object> more, qint64 read) override
    {
        for (const Object &object : more)
            items += text(object);
        bytes += read;
    }
    void onListFinished(const Error &e, const ListPage &p) override
    {
        ++finished;
        error = e;
        page = p;
    }
    void onListDelayed(const Error &why) override { error = why; }
    void onWatchOpened() override { isOpened = true; }
    void onWatchEvents(std::vector<codec::WatchEvent> more, qint64 read) override
    {
        for (const codec::WatchEvent &e : more)
            events += e.type == Type::Error ? u"ERROR "_s + errorCodeName(e.error.code())
                : e.type == Type::Bookmark  ? u"B "_s + e.resourceVersion
                                            : text(e.object);
        bytes += read;
    }
    void onWatchFinished(const Error &e) override
    {
        ++finished;
        error = e;
    }
};

} // namespace fakes
