// One open watch: initial events, changes, bookmarks, its end.
// Source: Kubernetes API concepts, "Efficient detection of changes", "Watch bookmarks", "Streaming
// lists".
#pragma once

#include "objectreader.h"

#include <atomic>
#include <chrono>

namespace davit::testing::apiserver {

// What a server tells all its open watches.
struct WatchControl
{
    const KindRegistry &kinds; // a watch of what is no longer served ends
    std::chrono::milliseconds bookmarkInterval{60000};
    std::atomic<bool> isStopping{false};
    // Streams that are older end: cleanly, or with an ERROR event.
    std::atomic<int> endedGeneration{0};
    std::atomic<bool> endsWithExpired{false};
    // Each stream sends one bookmark when this grows.
    std::atomic<int> bookmarkRequests{0};
    std::atomic<int> openWatches{0};
};

class WatchStream
{
public:
    // Answers a fault instead of a stream when the options are wrong. Needs the store's lock.
    static ApiFault open(ApiStore &store, WatchControl &control, const Target &target,
        const ApiRequest &request, const Selectors &selectors,
        std::shared_ptr<WatchStream> *stream);
    ~WatchStream();

    // As ApiReply::nextChunk; takes the lock itself.
    bool next(std::string *text);

private:
    using Clock = std::chrono::steady_clock;
    struct Sent
    {
        const char *type;
        RecordPtr record;
    };

    WatchStream(ApiStore &store, WatchControl &control, const Target &target,
        const ApiRequest &request, const Selectors &selectors);
    bool takeInitial(std::string *text);
    void takeChanges(std::vector<Sent> *events);
    bool toEvent(const Change &change, Sent *event) const;
    bool isSelected(const Record &record) const;
    bool isBookmarkDue(Clock::time_point now);
    void wait(std::unique_lock<std::mutex> &lock);
    std::string eventText(const char *type, const Record &record);

    ApiStore &m_store;
    WatchControl &m_control;
    const Target m_target;
    const Selectors m_selectors;
    const Form m_form;
    const std::string m_includeObject;
    const int m_generation;
    std::vector<RecordPtr> m_initial;
    std::size_t m_initialSent = 0;
    bool m_isInitial = false;
    bool m_endsInitialWithBookmark = false;
    bool m_hasBookmarks = false;
    bool m_isFirstEvent = true;
    int m_bookmarksSeen = 0;
    Version m_seen = 0;
    Clock::time_point m_deadline = Clock::time_point::max();
    Clock::time_point m_nextBookmark = Clock::time_point::max();
};

} // namespace davit::testing::apiserver
