#include <davit/conditions.h>
#include <davit/objectbuilder.h>

DAVIT_BEGIN_NAMESPACE

namespace {

constexpr QLatin1StringView kType("type");
constexpr QLatin1StringView kStatus("status");
constexpr QLatin1StringView kConditions("conditions");
constexpr QLatin1StringView kGeneration("observedGeneration");
const char kTransition[] = "lastTransitionTime";

const QStringList &listPath()
{
    static const QStringList path{QStringLiteral("status"), QStringLiteral("conditions")};
    return path;
}

Value conditionsOf(const Object &object)
{
    return object[kStatus][kConditions];
}

qsizetype indexOf(const Value &list, const QString &type)
{
    for (qsizetype i = 0; i < list.size(); ++i)
        if (list.at(i)[kType].toString() == type)
            return i;
    return -1;
}

QString timeText(const Condition &condition, const Clock &clock)
{
    const QDateTime time
        = condition.lastTransitionTime.isValid() ? condition.lastTransitionTime : clock.utcNow();
    return time.toUTC().toString(QStringLiteral("yyyy-MM-dd'T'HH:mm:ss'Z'")); // as metav1.Time
}

bool isStatus(const Object &object, const QString &type, QLatin1StringView status)
{
    return findStatusCondition(object, type)[kStatus].equals(status);
}

// One entry that is being written.
class Entry
{
public:
    Entry(ObjectBuilder &builder, const Value &before, qsizetype index)
        : m_builder(builder), m_before(before), m_index(QString::number(index))
    { }
    QStringList path(const char *member) const
    {
        return listPath() + QStringList{m_index, QString::fromLatin1(member)};
    }
    // Writes what differs; true when it did.
    bool set(const char *member, const QString &value)
    {
        const Value now = m_before[QLatin1StringView(member)];
        if (now.isString() && now.toString() == value)
            return false;
        if (now.isNull() && value.isEmpty() && !m_before.isMissing())
            return false;
        m_builder.set(path(member), value);
        return true;
    }
    bool setGeneration(qint64 generation)
    {
        if (m_before[kGeneration].toInt() == generation)
            return false;
        if (generation == 0)
            m_builder.remove(path("observedGeneration"));
        else
            m_builder.set(path("observedGeneration"), generation);
        return true;
    }

private:
    ObjectBuilder &m_builder;
    const Value m_before;
    const QString m_index;
};

} // namespace

bool setStatusCondition(Object *object, const Condition &condition, const Clock &clock)
{
    if (object->isNull())
        return false;
    const Value list = conditionsOf(*object);
    const qsizetype index = indexOf(list, condition.type);
    ObjectBuilder builder(*object);
    if (!list.isArray())
        builder.set(listPath(), QVariantList());
    Entry entry(builder, list.at(index), index < 0 ? list.size() : index);
    if (index < 0)
        builder.set(listPath() + QStringList{QString::number(list.size())}, QVariantMap());
    bool isChanged = entry.set("type", condition.type);
    if (entry.set("status", condition.status)) {
        builder.set(entry.path(kTransition), timeText(condition, clock));
        isChanged = true;
    }
    isChanged |= entry.set("reason", condition.reason);
    isChanged |= entry.set("message", condition.message);
    isChanged |= entry.setGeneration(condition.observedGeneration);
    if (isChanged)
        *object = builder.build();
    return isChanged;
}

Value findStatusCondition(const Object &object, const QString &type)
{
    const Value list = conditionsOf(object);
    const qsizetype index = indexOf(list, type);
    return index < 0 ? Value() : list.at(index);
}

bool removeStatusCondition(Object *object, const QString &type)
{
    const Value list = conditionsOf(*object);
    ObjectBuilder builder(*object);
    bool isChanged = false;
    for (qsizetype i = list.size() - 1; i >= 0; --i) { // from the back: the indexes stay right
        if (list.at(i)[kType].toString() != type)
            continue;
        builder.remove(listPath() + QStringList{QString::number(i)});
        isChanged = true;
    }
    if (isChanged)
        *object = builder.build();
    return isChanged;
}

bool isStatusConditionTrue(const Object &object, const QString &type)
{
    return isStatus(object, type, QLatin1StringView("True"));
}

bool isStatusConditionFalse(const Object &object, const QString &type)
{
    return isStatus(object, type, QLatin1StringView("False"));
}

DAVIT_END_NAMESPACE
