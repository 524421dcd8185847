// Where a reflector's objects come from: one page of a LIST, or one WATCH stream. Contract:
//   - Sinks are called on the executor named with the call, never from inside it.
//   - Destroying the operation ends it; nothing is heard afterwards. It may be destroyed on the
//   executor only, and not from inside one of its own callbacks.
//   - on…Finished comes once and last.
// Source: BEHAVIOURS.md. Tests: tst_reflector (scripted), tst_restlisterwatcher.
#pragma once

#include <codec/watchdecoder.h>
#include <support/executor.h>
#include <transport/resource.h>

#include <memory>

namespace davit::cache {

class Operation
{
public:
    virtual ~Operation() = default;
};

// One page's metadata.
struct ListPage
{
    QString resourceVersion;
    QString continueToken; // empty: the last page
    qint64 remainingItemCount = -1; // -1: not said
};

class ListSink
{
public:
    virtual ~ListSink() = default;
    // Items in the order of the list, as they arrive; `bytes` were read for them.
    virtual void onListItems(std::vector<Object> items, qint64 bytes) = 0;
    virtual void onListFinished(const Error &error, const ListPage &page) = 0;
    // The page is asked for once more, after the wait that `why` names.
    virtual void onListDelayed(const Error & /*why*/) { }
    // What the cache holds under this key, or null: a hint that makes decoding cheap.
    virtual Object known(const ObjectKey &) const { return {}; }
};

class WatchSink
{
public:
    virtual ~WatchSink() = default;
    // The server accepted the watch.
    virtual void onWatchOpened() = 0;
    // Events in order, as they arrive. An event of type Error is the last.
    virtual void onWatchEvents(std::vector<codec::WatchEvent> events, qint64 bytes) = 0;
    // Before onWatchOpened: why it could not be opened. After it: no error, ConnectionLost or
    // Timeout (silence) all mean that the stream ended.
    virtual void onWatchFinished(const Error &error) = 0;
    // What the cache holds under this key, or null: a hint that makes decoding cheap.
    virtual Object known(const ObjectKey &) const { return {}; }
};

class ListerWatcher
{
public:
    virtual ~ListerWatcher() = default;
    virtual std::unique_ptr<Operation> list(
        const transport::ListOptions &options, support::Executor &executor, ListSink &sink)
        = 0;
    virtual std::unique_ptr<Operation> watch(
        const transport::ListOptions &options, support::Executor &executor, WatchSink &sink)
        = 0;
    // The newest version that the server has, as the resourceVersion of a page without items that
    // matter; null when the source cannot tell. [cache-thread]
    virtual std::unique_ptr<Operation> askVersion(support::Executor &, ListSink &) { return {}; }
    // False disables the streaming list for good.
    virtual bool supportsWatchList() const { return true; }
};

} // namespace davit::cache
