// What the tests of this layer share: objects in a line, a source that answers when it is told to,
// and a listener that writes down what it hears.
#pragma once

#include "../loglines.h"

#include <cache/sharedinformer.h>
#include <testing/manualclock.h>

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtTest>

namespace fakes {

using namespace davit;
using namespace std::chrono_literals;
using namespace Qt::StringLiterals;
using Type = codec::WatchEvent::Type;

// Lists of short texts, as rows write them.
using Texts = std::initializer_list<const char *>;
inline QStringList L(Texts texts)
{
    QStringList all;
    for (const char *text : texts)
        all += QString::fromUtf8(text);
    return all;
}

inline Object fromJson(const QByteArray &json)
{
    Object object;
    const Status status = Object::fromJson(json, &object);
    if (!status.isOk())
        qFatal("%s in %s", qUtf8Printable(status.error().message()), json.constData());
    return priv::internObject(object);
}

// "apps/a@7#u1": namespace, name, version, uid. Namespace, version and uid may be left out.
inline Object widget(QStringView text, const QByteArray &labels = {}, int size = 1)
{
    QString name = text.toString();
    QString uid;
    QString version;
    QString space;
    if (const qsizetype at = name.indexOf(u'#'); at >= 0) {
        uid = name.mid(at + 1);
        name.truncate(at);
    }
    if (const qsizetype at = name.indexOf(u'@'); at >= 0) {
        version = name.mid(at + 1);
        name.truncate(at);
    }
    if (const qsizetype at = name.indexOf(u'/'); at >= 0) {
        space = name.left(at);
        name = name.mid(at + 1);
    }
    QJsonObject metadata{{QStringLiteral("name"), name}};
    if (!space.isEmpty())
        metadata[QStringLiteral("namespace")] = space;
    if (!version.isEmpty())
        metadata[QStringLiteral("resourceVersion")] = version;
    if (!uid.isEmpty())
        metadata[QStringLiteral("uid")] = uid;
    if (!labels.isEmpty())
        metadata[QStringLiteral("labels")] = QJsonDocument::fromJson(labels).object();
    const QJsonObject root{{QStringLiteral("apiVersion"), QStringLiteral("demo.example/v1")},
        {QStringLiteral("kind"), QStringLiteral("Widget")}, {QStringLiteral("metadata"), metadata},
        {QStringLiteral("spec"), QJsonObject{{QStringLiteral("size"), size}}}};
    return fromJson(QJsonDocument(root).toJson(QJsonDocument::Compact));
}

inline const Gvk kWidget{
    QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};

// "apps/a@7", the short form of the tests' expectations.
inline QString text(const Object &object)
{
    if (object.isNull())
        return QStringLiteral("null");
    const QString version = object.resourceVersion();
    return toString(object.key()) + (version.isEmpty() ? QString() : u'@' + version);
}

inline std::vector<Object> widgets(Texts texts)
{
    std::vector<Object> objects;
    for (const QString &one : L(texts))
        objects.push_back(widget(one));
    return objects;
}

inline QStringList texts(const QList<Object> &objects)
{
    QStringList all;
    for (const Object &object : objects)
        all += text(object);
    all.sort();
    return all;
}

inline QStringList stored(const cache::ThreadSafeStore &store)
{
    return texts(store.snapshot()->list());
}

inline codec::WatchEvent happened(Type type, const Object &object)
{
    return {type, object, object.resourceVersion(), false, {}};
}

inline codec::WatchEvent bookmark(const QString &version, bool isEnd = false)
{
    return {Type::Bookmark, {}, version, isEnd, {}};
}

inline codec::WatchEvent errorEvent(ErrorCode code)
{
    return {Type::Error, {}, {}, false, Error(code, QStringLiteral("scripted error event"))};
}

inline Error error(ErrorCode code, const QString &message = QStringLiteral("scripted error"))
{
    return Error(code, message);
}

// Answers the newest request, when the test says so.
class ScriptedSource final : public cache::ListerWatcher
{
public:
    struct Call
    {
        transport::ListOptions options;
        cache::ListSink *list = nullptr;
        cache::WatchSink *watch = nullptr;
        bool isAlive = true;
        bool isQuestion = false; // for the newest version
    };
    std::vector<std::shared_ptr<Call>> calls;
    bool hasWatchList = true;
    bool tellsVersion = false;

    std::unique_ptr<cache::Operation> list(
        const transport::ListOptions &options, support::Executor &, cache::ListSink &sink) override
    {
        return add({options, &sink, nullptr});
    }
    std::unique_ptr<cache::Operation> askVersion(
        support::Executor &, cache::ListSink &sink) override
    {
        return tellsVersion ? add({{}, &sink, nullptr, true, true}) : nullptr;
    }
    std::unique_ptr<cache::Operation> watch(
        const transport::ListOptions &options, support::Executor &, cache::WatchSink &sink) override
    {
        return add({options, nullptr, &sink});
    }
    bool supportsWatchList() const override { return hasWatchList; }

    // "LIST rv=0 limit=500", "WATCH rv=10", "WATCHLIST rv=" of each request so far.
    QStringList requests() const
    {
        QStringList all;
        for (const auto &call : calls) {
            if (call->isQuestion) {
                all += QStringLiteral("VERSION");
                continue;
            }
            const transport::ListOptions &o = call->options;
            QString line = !o.isWatch ? QStringLiteral("LIST")
                : o.sendInitialEvents ? QStringLiteral("WATCHLIST")
                                      : QStringLiteral("WATCH");
            line += QStringLiteral(" rv=") + o.resourceVersion;
            if (o.limit)
                line += QStringLiteral(" limit=%1").arg(o.limit);
            if (!o.continueToken.isEmpty())
                line += QStringLiteral(" continue=") + o.continueToken;
            all += line;
        }
        return all;
    }
    QString lastRequest() const { return calls.empty() ? QString() : requests().last(); }
    int count(const QString &prefix) const
    {
        const QStringList all = requests();
        return int(std::count_if(
            all.begin(), all.end(), [&](const QString &line) { return line.startsWith(prefix); }));
    }

    void answerList(std::vector<Object> items, const QString &version, const QString &more = {})
    {
        last().list->onListItems(std::move(items), 100);
        last().list->onListFinished({}, {version, more, more.isEmpty() ? 0 : 7});
    }
    void failList(const Error &error) { last().list->onListFinished(error, {}); }
    void open() { last().watch->onWatchOpened(); }
    void send(std::vector<codec::WatchEvent> events)
    {
        last().watch->onWatchEvents(std::move(events), 100);
    }
    void end(const Error &error = {}) { last().watch->onWatchFinished(error); }
    void openAndSend(std::vector<codec::WatchEvent> events)
    {
        open();
        send(std::move(events));
    }
    // A streaming list with its end, at once.
    void stream(Texts objects, const QString &version)
    {
        std::vector<codec::WatchEvent> events;
        for (const QString &one : L(objects))
            events.push_back(happened(Type::Added, widget(one)));
        events.push_back(bookmark(version, true));
        openAndSend(std::move(events));
    }
    Call &last() const
    {
        if (calls.empty() || !calls.back()->isAlive)
            qFatal("nothing was asked for");
        return *calls.back();
    }

private:
    class Ends final : public cache::Operation
    {
    public:
        explicit Ends(std::shared_ptr<Call> call) : m_call(std::move(call)) { }
        ~Ends() override { m_call->isAlive = false; }

    private:
        std::shared_ptr<Call> m_call;
    };
    std::unique_ptr<cache::Operation> add(Call call)
    {
        calls.push_back(std::make_shared<Call>(std::move(call)));
        return std::make_unique<Ends>(calls.back());
    }
};

// "+apps/a@1!" added in the initial list, "~a@1>a@2" updated, "-a@2" deleted, "-a@2?" unseen.
class RecordingListener final : public cache::InformerListener
{
public:
    QStringList heard;
    int synced = 0;
    std::function<void()> onEvent; // at each batch

    void onEvents(const std::vector<cache::InformerEvent> &events, bool wantsSync) override
    {
        if (onEvent)
            onEvent();
        for (const cache::InformerEvent &event : events) {
            if (event.isSync && !wantsSync)
                continue;
            switch (event.kind) {
            case cache::InformerEvent::Kind::Added:
                heard += u'+' + text(event.object) + (event.isInInitialList ? u"!"_s : QString());
                break;
            case cache::InformerEvent::Kind::Updated:
                heard += u'~' + text(event.before) + u'>' + text(event.object);
                break;
            case cache::InformerEvent::Kind::Deleted:
                heard
                    += u'-' + text(event.object) + (event.isFinalStateUnknown ? u"?"_s : QString());
                break;
            }
        }
    }
    void onSynced() override { ++synced; }
    QStringList takeSorted()
    {
        QStringList all = std::exchange(heard, {});
        all.sort();
        return all;
    }
};

} // namespace fakes
