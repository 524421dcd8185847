// What a reflector does when its fill fails, by the kind of error and its moment: R-39 and R-25,
// beyond T2, T3, T21 and T22 of tst_reflector.
#include "reflectorbench.h"

#include <QtTest>

using namespace fakes;
using namespace davit::cache;
using Bench = ReflectorBench;

class tst_FillFallbacks : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void streamingLists_data();
    void streamingLists() { playRequestRow(); }
    void laterPages_data();
    void laterPages() { playRequestRow(); }
};

namespace {

const QStringList kStreamAgain = L({"WATCHLIST rv=", "WATCHLIST rv="});
const QStringList kThenList = L({"WATCHLIST rv=", "LIST rv=0 limit=500"});

// The streaming list is refused.
ReflectorScript refused(ErrorCode code, std::chrono::nanoseconds wait = 0ns)
{
    return [code, wait](Bench &b) {
        b.source.end(error(code));
        b.run();
        if (wait > 0ns)
            QCOMPARE(b.source.calls.size(), 1u); // not at once
        b.advance(wait);
    };
}

// It is accepted, and told so in the middle, after two seconds.
ReflectorScript toldSo(ErrorCode code, std::chrono::nanoseconds wait = 0ns)
{
    return [code, wait](Bench &b) {
        b.source.openAndSend({happened(Type::Added, widget(u"a@1"))});
        b.advance(2s);
        b.source.send({errorEvent(code)});
        b.run();
        if (wait > 0ns)
            QCOMPARE(b.source.calls.size(), 1u);
        b.advance(wait);
        QCOMPARE(b.store.told, QStringList()); // of what came before nothing was taken
    };
}

// It ends, after so long and with so many objects, before the marker.
ReflectorScript ended(std::chrono::nanoseconds after, Texts objects, ErrorCode code)
{
    return [after, objects = L(objects), code](Bench &b) {
        b.source.open();
        for (const QString &object : objects)
            b.source.send({happened(Type::Added, widget(object))});
        b.advance(after);
        b.source.end(code == ErrorCode::Unset ? Error() : error(code));
        b.run();
        QCOMPARE(b.store.told, QStringList());
    };
}

// A proxy that mixes the collections up sends so many objects of another one, then what is asked.
ReflectorScript endedBehindStrangers(Texts objects)
{
    return [objects = L(objects)](Bench &b) {
        b.source.open();
        const Object stranger = fromJson(
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","resourceVersion":"15"}})");
        b.source.send({happened(Type::Added, stranger), happened(Type::Added, stranger)});
        for (const QString &object : objects)
            b.source.send({happened(Type::Added, widget(object))});
        b.source.end();
        b.run();
        QCOMPARE(b.store.told, QStringList());
    };
}

// Of a reflector that knows version 10 and must fill again.
ReflectorScript refill(const ReflectorScript &fill)
{
    return [fill](Bench &b) {
        b.source.stream({}, QStringLiteral("10"));
        b.source.send({errorEvent(ErrorCode::Expired)});
        b.advance(800ms);
        fill(b);
    };
}

} // namespace

void tst_FillFallbacks::streamingLists_data()
{
    addRequestColumns();
    const auto row = addRequestRow;
    row("R-39: throttled: wait, then the streaming list again", true,
        refused(ErrorCode::TooManyRequests, 800ms), kStreamAgain, 0);
    row("R-39: throttled in the middle: wait, then from the begin", true,
        toldSo(ErrorCode::TooManyRequests, 800ms), kStreamAgain, 0);
    row("R-39: expired although no version was asked for: LIST in the same round", true,
        toldSo(ErrorCode::Expired), kThenList, 0);
    row("R-39: refused as a bad request: LIST in the same round", true,
        refused(ErrorCode::BadRequest), kThenList, 0);
    row("R-39: forbidden: LIST in the same round", true, refused(ErrorCode::Forbidden), kThenList,
        0);
    row("R-39: an internal error: LIST in the same round", true, refused(ErrorCode::InternalError),
        kThenList, 0);
    row("R-39: an internal error in the middle: LIST in the same round", true,
        toldSo(ErrorCode::InternalError), kThenList, 0);
    row("R-39: ends at once without an event: LIST in the same round", true,
        ended(200ms, {}, ErrorCode::Unset), kThenList, 0);
    row("R-39: ends at once behind an event: the streaming list again", true,
        ended(200ms, {"a@1"}, ErrorCode::Unset), kStreamAgain, 0);
    row("R-39: ends at once behind objects of another kind: LIST in the same round", true,
        endedBehindStrangers({}), kThenList, 0);
    row("R-39: ends at once behind another kind's and an event: the streaming list again", true,
        endedBehindStrangers({"a@1"}), kStreamAgain, 0);
    row("R-39: ends late without an event: the streaming list again", true,
        ended(2s, {}, ErrorCode::Unset), kStreamAgain, 0);
    row("R-39: reset in the middle: the streaming list again", true,
        ended(2s, {"a@1"}, ErrorCode::ConnectionLost), kStreamAgain, 0);
    const QStringList withoutVersion = L({"WATCHLIST rv=", "WATCHLIST rv=10", "WATCHLIST rv="});
    row("R-39: too large a version: at once without one", true, refill([](Bench &b) {
        b.source.end(error(ErrorCode::ResourceVersionTooLarge));
        b.run();
    }),
        withoutVersion, 0);
    row("R-39: too large a version, told in the stream: at once without one", true,
        refill([](Bench &b) {
            b.source.openAndSend({errorEvent(ErrorCode::ResourceVersionTooLarge)});
            b.run();
        }),
        withoutVersion, 0);
}

void tst_FillFallbacks::laterPages_data()
{
    addRequestColumns();
    const auto row = addRequestRow;
    row(
        "R-25: page 2 is refused: its error ends the round", false,
        [](Bench &b) {
            b.source.answerList(widgets({"a@1"}), QStringLiteral("10"), QStringLiteral("next"));
            b.run();
            b.source.failList(error(ErrorCode::ServiceUnavailable));
            b.run();
            QCOMPARE(b.store.told, QStringList());
        },
        L({"LIST rv=0 limit=500", "LIST rv= limit=500 continue=next"}), 1);
    row(
        "R-25: the whole list behind an expired page is refused: its error ends the round", false,
        [](Bench &b) {
            b.source.answerList(widgets({"a@1"}), QStringLiteral("10"), QStringLiteral("next"));
            b.run();
            b.source.failList(error(ErrorCode::Expired));
            b.run();
            b.source.failList(error(ErrorCode::Forbidden));
            b.run();
            QCOMPARE(b.roundErrors.value(0).code(), ErrorCode::Forbidden);
        },
        L({"LIST rv=0 limit=500", "LIST rv= limit=500 continue=next", "LIST rv=0"}), 1);
}

QTEST_GUILESS_MAIN(tst_FillFallbacks)
#include "tst_fillfallbacks.moc"
