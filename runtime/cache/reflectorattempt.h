// One request of a reflector: the sink that stays alive as long as the operation does, and that
// stops passing things on when the reflector has turned away. Private to the reflector.
#pragma once

#include "reflector.h"

namespace davit::cache {

class Reflector::Attempt final : public ListSink, public WatchSink
{
public:
    explicit Attempt(Reflector &reflector) : owner(&reflector) { }

    void onListItems(std::vector<Object> items, qint64 bytes) override
    {
        if (owner)
            owner->onListItems(std::move(items), bytes);
    }
    void onListFinished(const Error &error, const ListPage &page) override
    {
        if (owner)
            owner->onListFinished(error, page);
    }
    void onListDelayed(const Error &why) override
    {
        if (owner)
            owner->attemptFailed(why);
    }
    void onWatchOpened() override
    {
        if (owner)
            owner->onWatchOpened();
    }
    void onWatchEvents(std::vector<codec::WatchEvent> events, qint64 bytes) override
    {
        if (owner)
            owner->onWatchEvents(std::move(events), bytes);
    }
    void onWatchFinished(const Error &error) override
    {
        if (owner)
            owner->onWatchFinished(error);
    }

    Object known(const ObjectKey &key) const override
    {
        return owner && owner->m_options.known ? owner->m_options.known(key) : Object();
    }

    Reflector *owner; // null: cut off
    std::unique_ptr<Operation> operation;
};

// The question for the server's newest version, beside an open watch.
class Reflector::VersionQuestion final : public ListSink
{
public:
    explicit VersionQuestion(Reflector &reflector) : owner(&reflector) { }

    void onListItems(std::vector<Object>, qint64) override { }
    void onListFinished(const Error &error, const ListPage &page) override
    {
        if (owner)
            owner->onVersionTold(error, page.resourceVersion);
    }

    Reflector *owner; // null: cut off
    std::unique_ptr<Operation> operation;
};

// An operation must not die inside its own callback: it is dropped in a work of its own.
template <typename Request> void Reflector::cut(std::shared_ptr<Request> &request)
{
    if (!request)
        return;
    request->owner = nullptr;
    m_executor.post([dropped = std::move(request)] {});
    request.reset();
}

// R-16, whichever way the server spells it.
bool isVersionTooLarge(const Error &error);

} // namespace davit::cache
