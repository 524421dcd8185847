#include "apply.h"

#include "listkeys.h"

#include <algorithm>

namespace davit::support {
namespace {

constexpr const char *kApply = "Apply";
constexpr const char *kUpdate = "Update";

struct Entry
{
    std::string manager;
    std::string operation;
    std::string apiVersion;
    std::string subresource;
    std::string time;
    FieldSet fields;

    bool belongsTo(const FieldWriter &writer, const char *wantedOperation) const
    {
        return manager == writer.manager && operation == wantedOperation
            && subresource == writer.subresource
            && (operation == kApply || apiVersion == writer.apiVersion);
    }
};

using Entries = std::vector<Entry>;

Entries entriesOf(const Json &object)
{
    Entries entries;
    for (const Json &item : itemsOf(membersOf(object, "metadata"), "managedFields")) {
        const Json *fields = objectMember(item, "fieldsV1");
        if (!fields)
            continue;
        entries.push_back({stringMember(item, "manager"), stringMember(item, "operation"),
            stringMember(item, "apiVersion"), stringMember(item, "subresource"),
            stringMember(item, "time"), FieldSet::fromFieldsV1(*fields)});
    }
    return entries;
}

void setEntries(Json &object, const Entries &entries)
{
    Json list = Json::array();
    for (const Entry &entry : entries) {
        if (entry.fields.isEmpty())
            continue;
        Json item{{"manager", entry.manager}, {"operation", entry.operation},
            {"apiVersion", entry.apiVersion}, {"time", entry.time}, {"fieldsType", "FieldsV1"},
            {"fieldsV1", entry.fields.toFieldsV1()}};
        if (!entry.subresource.empty())
            item["subresource"] = entry.subresource;
        list.push_back(std::move(item));
    }
    Json &metadata = object["metadata"];
    if (list.empty())
        metadata.erase("managedFields");
    else
        metadata["managedFields"] = std::move(list);
}

Entry &entryFor(Entries &entries, const FieldWriter &writer, const char *operation)
{
    for (Entry &entry : entries)
        if (entry.belongsTo(writer, operation))
            return entry;
    entries.push_back(
        {writer.manager, operation, writer.apiVersion, writer.subresource, writer.time, {}});
    return entries.back();
}

std::string printedManager(const Entry &entry)
{
    std::string text = '"' + entry.manager + '"';
    if (!entry.subresource.empty())
        text += " with subresource \"" + entry.subresource + '"';
    if (entry.operation == kUpdate) {
        text += " using " + entry.apiVersion;
        if (!entry.time.empty())
            text += " at " + entry.time;
    }
    return text;
}

// An explicit null in a configuration says nothing.
void dropNulls(Json &value)
{
    if (value.is_object()) {
        for (auto member = value.begin(); member != value.end();) {
            if (member->is_null()) {
                member = value.erase(member);
            } else {
                dropNulls(*member);
                ++member;
            }
        }
    } else if (value.is_array()) {
        for (Json &item : value)
            dropNulls(item);
    }
}

class ConfigurationMerge
{
public:
    explicit ConfigurationMerge(const std::string &kind) : m_kind(kind) { }

    void object(Json &live, const Json &configuration)
    {
        if (!live.is_object())
            live = Json::object();
        for (const auto &[name, value] : configuration.items()) {
            m_names.push_back(name);
            if (value.is_object() && !value.empty())
                object(live[name], value);
            else if (value.is_array())
                list(live[name], value);
            else
                live[name] = value;
            m_names.pop_back();
        }
    }

private:
    void list(Json &live, const Json &configuration)
    {
        const ListRule &rule = listRuleFor(m_kind, m_names);
        if (!live.is_array() || rule.kind == ListKind::Atomic) {
            live = configuration;
            return;
        }
        for (const Json &item : configuration) {
            if (rule.kind == ListKind::Set) {
                if (std::find(live.begin(), live.end(), item) == live.end())
                    live.push_back(item);
                continue;
            }
            const std::string step = keyStep(item, rule.keys);
            const auto same = std::find_if(live.begin(), live.end(), [&](const Json &other) {
                return !step.empty() && keyStep(other, rule.keys) == step;
            });
            if (same == live.end())
                live.push_back(item);
            else
                object(*same, item);
        }
    }

    const std::string &m_kind;
    FieldPath m_names;
};

// The part of `set` whose value differs between the two objects.
FieldSet changedPart(const FieldSet &set, const Json &before, const Json &after)
{
    FieldSet changed;
    for (const FieldPath &path : set.paths()) {
        const Json *old = valueAt(before, path);
        if (!old || (path.back() != "." && !isSameJson(*old, *valueAt(after, path))))
            changed.add(path);
    }
    return changed;
}

bool isOwnedByOther(const Entries &entries, const Entry *mine, const FieldPath &path)
{
    FieldPath prefix = path;
    const bool isItem = prefix.back() == ".";
    if (isItem)
        prefix.pop_back();
    return std::any_of(entries.begin(), entries.end(), [&](const Entry &entry) {
        return &entry != mine
            && (isItem ? entry.fields.containsUnder(prefix) : entry.fields.contains(path));
    });
}

void removeWhatIsNoLongerSent(
    Json &object, const Entries &entries, const Entry *mine, const FieldSet &sent)
{
    // Whole items first: an item without its key member could not be found any more.
    for (const bool isItems : {true, false}) {
        for (const FieldPath &path : mine->fields.paths()) {
            if ((path.back() == ".") != isItems || sent.contains(path) || sent.containsUnder(path)
                || isOwnedByOther(entries, mine, path))
                continue;
            removeAt(object, path);
        }
    }
}

} // namespace

ApplyOutcome applyTree(
    const Json &live, const Json &configuration, const FieldWriter &writer, bool isForced)
{
    ApplyOutcome outcome;
    Json wanted = configuration;
    dropNulls(wanted);
    const FieldSet sent = FieldSet::ofObject(wanted, writer.kind);
    if (live.is_null()) {
        outcome.object = std::move(wanted);
        setEntries(outcome.object,
            {{writer.manager, kApply, writer.apiVersion, writer.subresource, writer.time, sent}});
        return outcome;
    }
    Entries entries = entriesOf(live);
    Entry *mine = &entryFor(entries, writer, kApply);
    FieldSet differing;
    for (const FieldPath &path : sent.paths()) {
        const Json *value = valueAt(live, path);
        if (value && path.back() != "." && !isSameJson(*value, *valueAt(wanted, path)))
            differing.add(path);
    }
    for (Entry &entry : entries) {
        if (&entry == mine)
            continue;
        for (const FieldPath &path : differing.paths())
            if (entry.fields.contains(path))
                outcome.conflicts.push_back({printedManager(entry), printedPath(path)});
        if (isForced)
            entry.fields.remove(differing);
    }
    if (isForced)
        outcome.conflicts.clear();
    if (!outcome.conflicts.empty())
        return outcome;
    outcome.object = live;
    ConfigurationMerge(writer.kind).object(outcome.object, wanted);
    removeWhatIsNoLongerSent(outcome.object, entries, mine, sent);
    if (!(mine->fields == sent) || mine->apiVersion != writer.apiVersion) {
        mine->time = writer.time;
        mine->apiVersion = writer.apiVersion;
    }
    mine->fields = sent;
    setEntries(outcome.object, entries);
    return outcome;
}

void recordUpdate(const Json &before, Json &after, const FieldWriter &writer)
{
    const Json *metadata = objectMember(after, "metadata");
    const bool bringsEntries = metadata && arrayMember(*metadata, "managedFields");
    Entries entries = entriesOf(bringsEntries ? after : before);
    const FieldSet now = FieldSet::ofObject(after, writer.kind);
    const FieldSet changed = changedPart(now, before, after);
    FieldSet gone = FieldSet::ofObject(before, writer.kind);
    gone.remove(now);
    for (Entry &entry : entries) {
        entry.fields.remove(gone);
        if (!entry.belongsTo(writer, kUpdate))
            entry.fields.remove(changed);
    }
    if (!changed.isEmpty()) {
        Entry &mine = entryFor(entries, writer, kUpdate);
        mine.fields.unite(changed);
        mine.time = writer.time;
    }
    setEntries(after, entries);
}

} // namespace davit::support
