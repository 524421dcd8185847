// Lists as streams.
#include "listdecoder.h"

#include "jsonscan.h"

#include <davit/objectbuilder.h>

namespace davit::codec {
namespace {

constexpr qsizetype kMaxNotes = 100;

enum class State : quint8 {
    Begin, // before the opening brace
    NameOrEnd, // a member's name, or the closing brace
    NextName, // a member's name
    Name,
    Colon,
    Value, // before a member's value
    InValue,
    AfterValue, // a comma, or the closing brace
    ItemOrEnd, // an item, or the closing bracket
    BeforeItem,
    InItem,
    AfterItem, // a comma, or the closing bracket
    Done,
    Broken
};

} // namespace

class ListDecoderPrivate
{
public:
    ListDecoderPrivate(ListDecoder &list, const Gvk &itemGvk, const priv::DecodeOptions &given,
        const Limits &givenLimits)
        : q(list)
        , meta(list.m_meta)
        , gvk(itemGvk)
        , options(given)
        , maxValueBytes(givenLimits.maxItemBytes)
    {
        options.impliedGvk = &gvk;
    }

    void feed(const char *p, const char *end, std::vector<Object> &items);
    const char *scan(const char *p, const char *end, std::vector<Object> &items);
    void step(char c);
    void startValue(char first, State state);
    void valueDone(QByteArrayView value, std::vector<Object> &items);
    bool takeWholeItem(const char *&p, const char *end, std::vector<Object> &items);
    void itemDone(QByteArrayView json, std::vector<Object> &items);
    void itemDecoded(Object item, std::vector<Object> &items);
    void memberDone(QByteArrayView json);
    QString tooLargeText(const QString &what) const
    {
        return ListDecoder::tooLargeText(what, skippedBytes, maxValueBytes);
    }
    void readMetadata(QByteArrayView json);

    ListDecoder &q;
    ListMeta &meta;
    const Gvk gvk;
    priv::DecodeOptions options;
    priv::ObjectDecoder decoder;
    State state = State::Begin;
    ValueScanner scanner;
    QByteArray name; // of the member that is being read
    QByteArray partial; // of a value that goes over a chunk's end
    qsizetype lastItemBytes = 0;
    const qsizetype maxValueBytes;
    qsizetype skippedBytes = 0; // of a value that is too large to keep: its head is in partial
    bool hasItems = false;
    bool hasRows = false;
    bool isWrong = false; // a member that says: no list
    QString tooLarge; // a member that the list cannot do without
};

void ListDecoderPrivate::feed(const char *p, const char *end, std::vector<Object> &items)
{
    while (p < end && state != State::Broken) {
        if (state == State::InValue || state == State::InItem || state == State::Name) {
            p = scan(p, end, items);
            continue;
        }
        if (isJsonSpace(*p)) {
            ++p;
            continue;
        }
        if (*p == '{' && takeWholeItem(p, end, items))
            continue;
        step(*p);
        const bool startsValue
            = state == State::InValue || state == State::InItem || state == State::Name;
        if (!startsValue)
            ++p; // a value's first byte is left to the scanner
    }
}

// An item that lies in one piece, which is the usual, is decoded without looking for its end first.
bool ListDecoderPrivate::takeWholeItem(const char *&p, const char *end, std::vector<Object> &items)
{
    const qsizetype available = std::min(qsizetype(end - p), maxValueBytes);
    const bool isItem = state == State::ItemOrEnd || state == State::BeforeItem;
    Object item;
    qsizetype bytes = 0;
    if (!isItem || available < lastItemBytes
        || !decoder.decodeFront({p, available}, options, &item, &bytes))
        return false;
    itemDecoded(std::move(item), items);
    lastItemBytes = bytes;
    p += bytes;
    state = State::AfterItem;
    return true;
}

// Reads on in a value; hands it over when it ends.
const char *ListDecoderPrivate::scan(const char *p, const char *end, std::vector<Object> &items)
{
    const char *const stop = scanner.feed(p, end);
    const QByteArrayView piece(p, stop - p);
    if (skippedBytes > 0 || partial.size() + piece.size() > maxValueBytes) {
        skippedBytes += (skippedBytes > 0 ? 0 : partial.size()) + piece.size();
        partial = partial.left(kHeadBytes);
        partial.append(piece.data(), qMin(piece.size(), kHeadBytes - partial.size()));
    } else if (!scanner.isDone() || !partial.isEmpty()) {
        partial.append(piece.data(), piece.size());
    }
    if (scanner.isDone()) {
        const QByteArray whole = std::exchange(partial, {});
        valueDone(whole.isEmpty() ? piece : QByteArrayView(whole), items);
        skippedBytes = 0;
    }
    return stop;
}

void ListDecoderPrivate::startValue(char first, State next)
{
    scanner.start(first);
    state = next;
}

void ListDecoderPrivate::step(char c)
{
    switch (state) {
    case State::Begin:
        state = c == '{' ? State::NameOrEnd : State::Broken;
        break;
    case State::NameOrEnd:
    case State::NextName:
        if (c == '}' && state == State::NameOrEnd)
            state = State::Done;
        else if (c == '"')
            startValue(c, State::Name);
        else
            state = State::Broken;
        break;
    case State::Colon:
        state = c == ':' ? State::Value : State::Broken;
        break;
    case State::Value:
        if (name == "items" && c == '[')
            state = State::ItemOrEnd;
        else
            startValue(c, State::InValue);
        hasItems = hasItems || (name == "items");
        break;
    case State::AfterValue:
        if (c == '}')
            state = State::Done;
        else
            state = c == ',' ? State::NextName : State::Broken;
        break;
    case State::ItemOrEnd:
        if (c == ']') {
            state = State::AfterValue;
            break;
        }
        [[fallthrough]];
    case State::BeforeItem:
        startValue(c, State::InItem);
        break;
    case State::AfterItem:
        if (c == ',')
            state = State::BeforeItem;
        else
            state = c == ']' ? State::AfterValue : State::Broken;
        break;
    default: // behind the end
        state = State::Broken;
    }
}

void ListDecoderPrivate::valueDone(QByteArrayView value, std::vector<Object> &items)
{
    if (state == State::Name) {
        name = skippedBytes == 0 && value.size() >= 2
            ? value.sliced(1, value.size() - 2).toByteArray()
            : QByteArray();
        state = State::Colon;
    } else if (value.isEmpty()) {
        state = State::Broken; // a comma or an end where a value must be
    } else if (state == State::InItem) {
        if (skippedBytes > 0)
            q.badItem(tooLargeText(describeObject(value)));
        else
            itemDone(value, items);
        state = State::AfterItem;
    } else {
        if (skippedBytes == 0)
            memberDone(value);
        else if (name == "metadata" || name == "items")
            tooLarge = tooLargeText(QString::fromLatin1(name));
        state = State::AfterValue;
    }
}

void ListDecoderPrivate::itemDone(QByteArrayView json, std::vector<Object> &items)
{
    Object item;
    const Error error = decoder.decode(json, options, &item);
    if (error.isError())
        q.badItem(describeObject(json) + QLatin1String(": ") + error.message());
    else
        itemDecoded(std::move(item), items);
}

void ListDecoderPrivate::itemDecoded(Object item, std::vector<Object> &items)
{
    if (!item[QLatin1StringView("metadata")].isObject())
        q.badItem(QStringLiteral("an item without metadata"));
    else
        items.push_back(std::move(item));
}

void ListDecoderPrivate::memberDone(QByteArrayView json)
{
    if (name == "apiVersion")
        meta.apiVersion = plainString(json);
    else if (name == "kind")
        meta.kind = plainString(json);
    else if (name == "metadata")
        readMetadata(json);
    else if (name == "rows" || name == "columnDefinitions")
        hasRows = true;
    else if (name == "items")
        isWrong = json != QByteArrayView("null");
}

void ListDecoderPrivate::readMetadata(QByteArrayView json)
{
    ObjectBuilder holder;
    holder.setJson({QStringLiteral("metadata")}, json);
    const Object object = holder.build();
    const Value metadata = object[QLatin1StringView("metadata")];
    isWrong = isWrong || !(metadata.isObject() || metadata.isNull());
    meta.resourceVersion = metadata[QLatin1StringView("resourceVersion")].toString();
    meta.continueToken = metadata[QLatin1StringView("continue")].toString();
    meta.remainingItemCount = metadata[QLatin1StringView("remainingItemCount")].toInt(-1);
}

ListReader::~ListReader() = default;

void ListReader::badItem(const QString &note)
{
    ++m_badItems;
    if (m_notes.size() < kMaxNotes)
        m_notes.append(note);
}

QString ListReader::tooLargeText(const QString &what, qsizetype bytes, qsizetype limit)
{
    return QStringLiteral("%1: its %2 bytes are more than the limit of %3 bytes")
        .arg(what)
        .arg(bytes)
        .arg(limit);
}

ListDecoder::ListDecoder(
    const Gvk &itemGvk, const priv::DecodeOptions &options, const Limits &limits)
    : d(std::make_unique<ListDecoderPrivate>(*this, itemGvk, options, limits))
{ }

ListDecoder::~ListDecoder() = default;

std::vector<Object> ListDecoder::feed(const QByteArray &chunk)
{
    std::vector<Object> items;
    d->feed(chunk.constData(), chunk.constData() + chunk.size(), items);
    return items;
}

Error ListDecoder::finish()
{
    const QString what = QStringLiteral("list of %1: ").arg(toString(d->gvk));
    if (d->state == State::Broken)
        return Error(
            ErrorCode::MalformedReply, what + QLatin1String("the reply is not valid JSON"));
    if (d->state != State::Done)
        return Error(ErrorCode::MalformedReply, what + QLatin1String("the reply was cut"));
    if (!d->tooLarge.isEmpty())
        return Error(ErrorCode::MalformedReply, what + d->tooLarge);
    if (d->hasRows || d->meta.kind == QLatin1String("Table"))
        return Error(ErrorCode::Unsupported, what + QLatin1String("the server sent a Table"));
    if (d->isWrong || !d->hasItems)
        return Error(ErrorCode::MalformedReply, what + QLatin1String("the reply is no list"));
    return {};
}

} // namespace davit::codec
