// A long list of the server, item by item, with a few pages in memory instead of all. Contract:
//   - The pages are asked for ahead of the visitor, kPagesAhead at most.
//   - What the visitor refuses ends the walk; so does a page that fails, once the pages before it
//   have been visited. Expired on a later page is such a failure: the server has forgotten the
//   state that the list began with; begin anew.
// For what is read once. What is needed again and again belongs into an Informer. Source:
// client-go's pager (BEHAVIOURS.md R-26). Tests: tst_listwalk, tst_clientembedded,
// tst_clientreal.
#pragma once

#include <davit/client.h>

#include <deque>

DAVIT_BEGIN_NAMESPACE
// The steps of eachListItem().
namespace walking {
inline constexpr std::size_t kPagesAhead = 10;
inline constexpr qint64 kPageItems = 500; // as kubectl asks for

// The pages of one walk. All methods: [worker-thread].
class Pages
{
public:
    Pages(const Client &client, const Gvk &gvk, const RequestOptions &options)
        : m_client(client), m_gvk(gvk), m_options(options)
    {
        if (m_options.limit() == 0)
            m_options.limit(kPageItems);
        ask();
    }
    ~Pages()
    {
        if (m_isAsked)
            m_next.cancel();
    }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

    // Waits for the next page. False: that was all, or end() says why there is no more.
    bool take(QList<Object> *objects)
    {
        if (m_ahead.empty() && m_isAsked)
            receive();
        if (m_ahead.empty())
            return false;
        *objects = m_ahead.front();
        m_ahead.pop_front();
        askAhead();
        return true;
    }
    // Asks for another page when one has come meanwhile.
    void readAhead()
    {
        if (m_isAsked && m_next.isFinished())
            receive();
    }
    const Status &end() const { return m_end; }

private:
    void ask()
    {
        m_next = m_client.list(m_gvk, m_options);
        m_isAsked = true;
    }
    void receive()
    {
        const ListReply page = m_next.result();
        m_isAsked = false;
        if (!page.isOk()) {
            m_end = page.error();
            m_options.continueToken(QString());
            return;
        }
        m_ahead.push_back(page.objects());
        m_options.continueToken(page.continueToken());
        askAhead();
    }
    void askAhead()
    {
        if (!m_isAsked && !m_options.continueToken().isEmpty() && m_ahead.size() < kPagesAhead)
            ask();
    }

    const Client m_client;
    const Gvk m_gvk;
    RequestOptions m_options; // its token is that of the next page; empty after the last
    QFuture<ListReply> m_next;
    std::deque<QList<Object>> m_ahead;
    Status m_end;
    bool m_isAsked = false;
};
} // namespace walking

// Calls `visit`, which takes a const Object & and gives a Status, for each object in the server's
// order. `options` narrow as those of Client::list(); their limit is a page's, 500 when left out.
// Gives the first error of the visitor or the server. Blocks: one request a page.
// [worker-thread]
template <typename Visit>
Status eachListItem(
    const Client &client, const Gvk &gvk, const RequestOptions &options, Visit visit)
{
    walking::Pages pages(client, gvk, options);
    QList<Object> objects;
    while (pages.take(&objects)) {
        for (const Object &object : std::as_const(objects)) {
            Status status = visit(object);
            if (!status.isOk())
                return status;
            pages.readAhead();
        }
    }
    return pages.end();
}
DAVIT_END_NAMESPACE
