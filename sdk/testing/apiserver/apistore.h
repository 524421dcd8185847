// The objects of the embedded API server, and the history that watches and old lists live on.
// Contract:
//   - Every change takes the next version, so the history is a row without gaps.
//   - Records are immutable texts; a snapshot of an older version is made by undoing history.
//   - All members but mutex() and changed() need the lock held.
#pragma once

#include "kinds.h"
#include "selectors.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace davit::testing::apiserver {

using Version = unsigned long long;

// One state of one object.
struct Record
{
    std::string text; // JSON without apiVersion and kind: "{"metadata":{…},…}"; Events as core/v1
    Version version = 0;
    std::string namespaceName;
    std::string name;
    std::string uid;
    Labels labels;
    Labels fields; // what field selectors may ask for
    std::vector<std::string> ownerUids;
    bool isDeleting = false;

    std::size_t bytes = 0; // of memory, roughly

    std::string key() const { return namespaceName.empty() ? name : namespaceName + "/" + name; }
    Json tree() const { return Json::parse(text, nullptr, false); }
};
using RecordPtr = std::shared_ptr<const Record>;

enum class ChangeType : unsigned char { Added, Modified, Deleted };

struct Change
{
    ChangeType type;
    int storageId;
    RecordPtr now; // of a deletion: the last state, with the version of the deletion
    RecordPtr before; // null when it was added
};

// An object in a storage, named.
struct ObjectRef
{
    int storageId;
    std::string key;
    bool operator<(const ObjectRef &other) const
    {
        return std::tie(storageId, key) < std::tie(other.storageId, other.key);
    }
};

using ObjectMap = std::map<std::string, RecordPtr>; // by key, as etcd orders them

// The history forgets its oldest changes beyond either; the newest stays in any case.
struct HistoryLimits
{
    std::size_t items = 0;
    std::size_t bytes = 0;
};

class ApiStore
{
public:
    explicit ApiStore(const HistoryLimits &limits) : m_limits(limits) { }

    std::mutex &mutex() { return m_mutex; }
    // Notified after each change, and when watches shall look around.
    std::condition_variable &changed() { return m_changed; }

    Version lastVersion() const { return m_lastVersion; }
    // Changes up to and including this one are forgotten.
    Version forgottenVersion() const { return m_lastVersion - m_history.size(); }
    void forgetHistory();
    // What the history keeps in memory, at most: a state that two changes share counts twice.
    std::size_t historyBytes() const { return m_historyBytes; }

    // nullptr when there is none.
    RecordPtr find(int storageId, const std::string &key) const;
    const ObjectMap &objects(int storageId) const;
    // The objects as they were; false when the history does not reach back that far.
    bool snapshot(int storageId, Version version, ObjectMap *objects) const;
    // The change with that version; it must not be forgotten.
    const Change &changeAt(Version version) const;

    // All objects as they are, for restore(): then they are there again, with the versions of then,
    // and there is no history. Open watches are the caller's to end.
    struct Backup
    {
        std::map<int, ObjectMap> objects;
        Version lastVersion = 0;
    };
    Backup backup() const { return {m_objects, m_lastVersion}; }
    void restore(const Backup &backup);

    // Stores `object` (with apiVersion and kind, which are cut off) under the next version. An
    // Event may come in the words of either group.
    RecordPtr put(const Kind &kind, Json object);
    // Gives the last state, with the version of the deletion.
    RecordPtr erase(int storageId, const std::string &key);

    // nullptr when no object has it.
    const ObjectRef *findUid(const std::string &uid) const;
    // Objects that name the uid as an owner.
    std::vector<ObjectRef> dependentsOf(const std::string &uid) const;
    // Everything in a namespace.
    std::vector<ObjectRef> contentOf(const std::string &namespaceName) const;

private:
    void remember(Change change);
    void forgetOldest();
    void index(int storageId, const Record &record);
    void unindex(int storageId, const Record &record);

    const HistoryLimits m_limits;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::map<int, ObjectMap> m_objects; // all GUARDED_BY(m_mutex)
    std::deque<Change> m_history;
    std::size_t m_historyBytes = 0;
    Version m_lastVersion = 1;
    std::unordered_map<std::string, ObjectRef> m_byUid;
    std::map<std::string, std::set<ObjectRef>> m_byOwner;
};

// As clients see it, in the words of the kind's group: without its type, as in a list; and with
// kind and apiVersion in front.
Json itemTree(const Kind &kind, const Record &record);
std::string itemText(const Kind &kind, const Record &record);
std::string servedText(const Kind &kind, const Record &record);
std::vector<std::string> knownFieldsOf(const Kind &kind);

} // namespace davit::testing::apiserver
