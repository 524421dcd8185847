#include "consistencycheck.h"

#include <iterator>
#include <map>

namespace davit::cache {

using namespace std::chrono_literals;

namespace {

void transformAll(std::vector<Object> &objects, const Transform *transform)
{
    for (Object &object : objects) {
        if (transform)
            static_cast<void>((*transform)(&object)); // what it refuses stays as it was, twice
    }
}

// Uids are what an object is known by; without one its key has to do.
std::map<QString, Object> byUid(std::vector<Object> objects)
{
    std::map<QString, Object> all;
    for (Object &object : objects) {
        const QString uid = object.uid();
        all.emplace(uid.isEmpty() ? toString(object.key()) : uid, std::move(object));
    }
    return all;
}

} // namespace

// The answer is kept until it is whole.
class ConsistencyCheck::Question final : public ListSink
{
public:
    explicit Question(ConsistencyCheck &check) : owner(&check) { }
    void onListItems(std::vector<Object> items, qint64) override
    {
        std::move(items.begin(), items.end(), std::back_inserter(m_items));
    }
    void onListFinished(const Error &error, const ListPage &) override
    {
        if (owner)
            owner->answered(error, std::move(m_items));
    }

    ConsistencyCheck *owner; // null: nobody wants to know any more
    std::unique_ptr<Operation> operation;

private:
    std::vector<Object> m_items;
};

ConsistencyCheck::ConsistencyCheck(
    ListerWatcher &source, support::Executor &executor, support::TimeSource &time, Report report)
    : m_source(source)
    , m_executor(executor)
    , m_time(time)
    , m_report(std::move(report))
    , m_isAlive(std::make_shared<bool>(true))
{ }

ConsistencyCheck::~ConsistencyCheck()
{
    stop();
}

void ConsistencyCheck::stop()
{
    m_time.cancel(std::exchange(m_timer, 0));
    m_items = {};
    if (!m_question)
        return;
    m_question->owner = nullptr;
    m_executor.post([dropped = std::move(m_question)] {}); // not inside its own callback
    m_question.reset();
}

void ConsistencyCheck::begin(
    std::vector<Object> items, const QString &version, const Transform *transform)
{
    stop();
    if (version.isEmpty() || version == QLatin1StringView("0"))
        return;
    m_items = std::move(items);
    m_version = version;
    m_transform = transform;
    transformAll(m_items, m_transform);
    ask();
}

void ConsistencyCheck::ask()
{
    transport::ListOptions options;
    options.resourceVersion = m_version;
    options.resourceVersionMatch = QStringLiteral("Exact");
    m_question = std::make_shared<Question>(*this);
    m_question->operation = m_source.list(options, m_executor, *m_question);
}

void ConsistencyCheck::answered(const Error &error, std::vector<Object> listed)
{
    if (!error.isError()) {
        const QStringList found = differences(std::move(listed));
        stop();
        m_report(found);
        return;
    }
    std::vector<Object> items = std::move(m_items);
    stop();
    m_items = std::move(items);
    m_timer = m_time.callAfter(1s, m_executor, [this, alive = std::weak_ptr<bool>(m_isAlive)] {
        if (alive.lock() && std::exchange(m_timer, 0))
            ask();
    });
}

QStringList ConsistencyCheck::differences(std::vector<Object> listed) const
{
    transformAll(listed, m_transform);
    const std::map<QString, Object> came = byUid(m_items);
    const std::map<QString, Object> asked = byUid(std::move(listed));
    QStringList found;
    const auto tell = [&found](const Object &object, const char *what) {
        found += toString(object.key()) + u' ' + QLatin1StringView(what);
    };
    for (const auto &[uid, object] : came) {
        const auto twin = asked.find(uid);
        if (twin == asked.end())
            tell(object, "came but is not in the list");
        else if (twin->second != object)
            tell(object, "came otherwise than it is in the list");
    }
    for (const auto &[uid, object] : asked) {
        if (came.find(uid) == came.end())
            tell(object, "is in the list but did not come");
    }
    found.sort();
    return found;
}

} // namespace davit::cache
