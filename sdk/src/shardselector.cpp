// The grammar and matching of shard selectors: calls of shardRange() joined by ||, the part of CEL
// that the API server takes (1.9).
#include <davit/selector.h>

#include <algorithm>
#include <limits>
#include <vector>

DAVIT_BEGIN_NAMESPACE

namespace {

constexpr QStringView kUid(u"object.metadata.uid");
constexpr QStringView kNamespace(u"object.metadata.namespace");
constexpr QStringView kBeyondLast(u"0x10000000000000000"); // 2^64
constexpr qsizetype kHashDigits = 16;

// Both ends belong to it.
struct ShardRange
{
    quint64 first = 0;
    quint64 last = 0;
};

quint64 fnv1a(const QByteArray &bytes)
{
    quint64 hash = 0xcbf29ce484222325U;
    for (const char byte : bytes) {
        hash ^= quint8(byte);
        hash *= 0x100000001b3U;
    }
    return hash;
}

QString hexText(quint64 value)
{
    return QStringLiteral("0x%1").arg(value, int(kHashDigits), 16, QLatin1Char('0'));
}

class ShardReader
{
public:
    explicit ShardReader(QStringView text) : m_left(text) { }

    // False: fault() says why.
    bool read();
    QString fault() const { return m_fault; }
    bool isByUid() const { return m_field == kUid; }
    const std::vector<ShardRange> &ranges() const { return m_ranges; }

private:
    bool fail(const QString &fault);
    bool take(QStringView token);
    QStringView takeWord(); // up to a bracket, a comma, a bar or a space
    bool readRange();
    bool readField();
    bool readHash(QStringView *text);
    bool addRange(QStringView start, QStringView end);

    QStringView m_left;
    QString m_field;
    QString m_fault;
    std::vector<ShardRange> m_ranges;
};

bool ShardReader::fail(const QString &fault)
{
    m_fault = fault;
    return false;
}

bool ShardReader::take(QStringView token)
{
    m_left = m_left.trimmed();
    if (!m_left.startsWith(token))
        return false;
    m_left = m_left.mid(token.size());
    return true;
}

QStringView ShardReader::takeWord()
{
    m_left = m_left.trimmed();
    const auto ends
        = [](QChar c) { return c.isSpace() || c == u'(' || c == u')' || c == u',' || c == u'|'; };
    const auto end = std::find_if(m_left.begin(), m_left.end(), ends);
    const QStringView word = m_left.left(end - m_left.begin());
    m_left = m_left.mid(word.size());
    return word;
}

bool ShardReader::read()
{
    do {
        if (!readRange())
            return false;
    } while (take(u"||"));
    if (!m_left.trimmed().isEmpty())
        return fail(QStringLiteral("only \"||\" may stand before \"%1\"").arg(m_left.trimmed()));
    return true;
}

bool ShardReader::readRange()
{
    if (takeWord() != u"shardRange" || !take(u"("))
        return fail(QStringLiteral("shardRange(FIELD, 'START', 'END') is missing, at the begin or "
                                   "behind a \"||\""));
    QStringView start;
    QStringView end;
    if (!readField())
        return false;
    if (!take(u",") || !readHash(&start) || !take(u",") || !readHash(&end) || !take(u")"))
        return fail(QStringLiteral("shardRange takes a field and two quoted hashes"));
    return addRange(start, end);
}

bool ShardReader::readField()
{
    const QString field = takeWord().toString();
    if (field != kUid && field != kNamespace)
        return fail(QStringLiteral("\"%1\" is no field of shards; %2 and %3 are")
                        .arg(field, kUid, kNamespace));
    if (!m_field.isEmpty() && m_field != field)
        return fail(QStringLiteral("all ranges must be of one field"));
    m_field = field;
    return true;
}

bool ShardReader::readHash(QStringView *text)
{
    const QStringView word = takeWord();
    const bool isQuoted = word.size() > 1 && (word.front() == u'\'' || word.front() == u'"')
        && word.back() == word.front();
    *text = word.mid(1, std::max<qsizetype>(word.size() - 2, 0));
    return isQuoted;
}

bool isHash(QStringView text)
{
    const auto isDigit
        = [](QChar c) { return (c >= u'0' && c <= u'9') || (c >= u'a' && c <= u'f'); };
    return text.startsWith(u"0x") && text.size() == kHashDigits + 2
        && std::all_of(text.begin() + 2, text.end(), isDigit);
}

bool ShardReader::addRange(QStringView start, QStringView end)
{
    for (const QStringView hash : {start, end})
        if (!isHash(hash) && hash != kBeyondLast)
            return fail(QStringLiteral("\"%1\" is no hash; write 0x and 16 digits of 0-9a-f, or %2 "
                                       "as the end of all")
                            .arg(hash, kBeyondLast));
    const bool isToEnd = end == kBeyondLast;
    const quint64 first = start.mid(2).toULongLong(nullptr, 16);
    const quint64 beyond = isToEnd ? 0 : end.mid(2).toULongLong(nullptr, 16);
    if (start == kBeyondLast || (!isToEnd && first >= beyond))
        return fail(QStringLiteral("the range from %1 to %2 is empty; the end is exclusive")
                        .arg(start, end));
    m_ranges.push_back({first, isToEnd ? std::numeric_limits<quint64>::max() : beyond - 1});
    return true;
}

QString printed(QStringView field, const ShardRange &range)
{
    const bool isToEnd = range.last == std::numeric_limits<quint64>::max();
    return QStringLiteral("shardRange(%1, '%2', '%3')")
        .arg(field, hexText(range.first),
            isToEnd ? kBeyondLast.toString() : hexText(range.last + 1));
}

} // namespace

class ShardSelectorPrivate : public QSharedData
{
public:
    bool isByUid = true;
    std::vector<ShardRange> ranges; // as written
    QString text;
};

ShardSelector::ShardSelector() = default;
ShardSelector::ShardSelector(const ShardSelector &other) = default;
ShardSelector &ShardSelector::operator=(const ShardSelector &other) = default;
ShardSelector::~ShardSelector() = default;

Status ShardSelector::parse(QStringView text, ShardSelector *selector)
{
    if (text.isEmpty()) {
        selector->d.reset();
        return Status::ok();
    }
    ShardReader reader(text);
    if (!reader.read())
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("shard selector \"%1\": %2").arg(text, reader.fault()));
    selector->d.reset(new ShardSelectorPrivate);
    selector->d->isByUid = reader.isByUid();
    selector->d->ranges = reader.ranges();
    QStringList parts;
    for (const ShardRange &range : reader.ranges())
        parts += printed(reader.isByUid() ? kUid : kNamespace, range);
    selector->d->text = parts.join(QStringLiteral(" || "));
    return Status::ok();
}

bool ShardSelector::isEmpty() const noexcept
{
    return !d;
}

bool ShardSelector::matches(const Object &object) const
{
    if (!d)
        return true;
    const quint64 hash = fnv1a((d->isByUid ? object.uid() : object.namespaceName()).toUtf8());
    return std::any_of(d->ranges.begin(), d->ranges.end(),
        [hash](const ShardRange &range) { return range.first <= hash && hash <= range.last; });
}

QString ShardSelector::toString() const
{
    return d ? d->text : QString();
}

DAVIT_END_NAMESPACE
