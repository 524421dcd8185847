#include <support/strand.h>
#include <support/threadcheck.h>

#include <QTest>
#include <QThreadPool>
#include <atomic>
#include <chrono>
#include <functional>
#include <semaphore>
#include <thread>

using davit::support::Strand;
using namespace std::chrono_literals;

class tst_Strand : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void order();
    void oneAtATime();
    void neverInsidePost();
    void stopDropsWhatWaits();
    void stopWaitsForWhatRuns();
    void isCurrentOnlyInside();
    void threadCheck();
    void twoStrandsSideBySide();
    void oneThatNeverRests();
};

namespace {

void flush(Strand &strand)
{
    std::counting_semaphore<> done{0};
    strand.post([&done] { done.release(); });
    done.acquire();
}

} // namespace

void tst_Strand::order()
{
    QThreadPool pool;
    Strand strand(pool);
    std::vector<int> seen; // confined to the strand: TSan would see two works at once
    for (int i = 0; i < 1000; ++i)
        strand.post([&seen, i] { seen.push_back(i); });
    flush(strand);
    QCOMPARE(int(seen.size()), 1000);
    QVERIFY(std::is_sorted(seen.begin(), seen.end()));
}

void tst_Strand::oneAtATime()
{
    QThreadPool pool;
    pool.setMaxThreadCount(4);
    Strand strand(pool);
    int running = 0; // no lock: the strand is the lock
    int most = 0;
    int count = 0;
    std::vector<std::thread> posters;
    for (int p = 0; p < 4; ++p)
        posters.emplace_back([&] {
            for (int i = 0; i < 2000; ++i)
                strand.post([&] {
                    most = std::max(most, ++running);
                    ++count;
                    --running;
                });
        });
    for (std::thread &poster : posters)
        poster.join();
    flush(strand);
    QCOMPARE(most, 1);
    QCOMPARE(count, 8000);
}

void tst_Strand::neverInsidePost()
{
    QThreadPool pool;
    Strand strand(pool);
    bool isInside = false;
    bool ranInside = false;
    strand.post([&] {
        isInside = true;
        strand.post([&] { ranInside = isInside; });
        isInside = false;
    });
    flush(strand); // stands behind the inner work only when that was posted first
    flush(strand);
    QVERIFY(!ranInside);
}

void tst_Strand::stopDropsWhatWaits()
{
    QThreadPool pool;
    std::atomic<int> ran{0};
    std::counting_semaphore<> entered{0};
    std::counting_semaphore<> mayLeave{0};
    Strand strand(pool);
    strand.post([&] {
        entered.release();
        mayLeave.acquire();
        ++ran;
    });
    entered.acquire();
    for (int i = 0; i < 10; ++i)
        strand.post([&] { ++ran; });
    std::thread stopper([&] { strand.stop(); });
    // A post after stop() is dropped; until it was reached, this one is one of those that wait.
    mayLeave.release();
    stopper.join();
    const int atStop = ran;
    strand.post([&] { ++ran; });
    pool.waitForDone();
    QCOMPARE(ran.load(), atStop);
    QVERIFY(atStop >= 1);
}

void tst_Strand::stopWaitsForWhatRuns()
{
    QThreadPool pool;
    std::atomic<bool> hasEnded{false};
    std::counting_semaphore<> entered{0};
    std::counting_semaphore<> mayLeave{0};
    Strand strand(pool);
    strand.post([&] {
        entered.release();
        mayLeave.acquire();
        hasEnded = true;
    });
    entered.acquire();
    std::thread releaser([&] { mayLeave.release(); });
    strand.stop();
    QVERIFY(hasEnded);
    releaser.join();
}

void tst_Strand::isCurrentOnlyInside()
{
    QThreadPool pool;
    Strand strand(pool);
    Strand other(pool);
    bool inside = false;
    bool inOther = true;
    strand.post([&] {
        inside = strand.isCurrent();
        inOther = other.isCurrent();
    });
    flush(strand);
    QVERIFY(inside);
    QVERIFY(!inOther);
    QVERIFY(!strand.isCurrent());
}

// Each waits for the other: only works if both run at once.
// What DAVIT_ASSERT_THREAD asks, of a strand and of a QObject.
void tst_Strand::threadCheck()
{
    using davit::support::isOnThreadOf;
    QThreadPool pool;
    Strand strand(pool);
    QObject here;
    QVERIFY(!isOnThreadOf(strand));
    QVERIFY(isOnThreadOf(here));
    std::atomic<bool> isInside{false};
    std::atomic<bool> isHere{true};
    strand.post([&] {
        isInside = isOnThreadOf(strand);
        isHere = isOnThreadOf(here);
    });
    flush(strand);
    QVERIFY(isInside);
    QVERIFY(!isHere);
    DAVIT_ASSERT_THREAD(here);
}

void tst_Strand::twoStrandsSideBySide()
{
    QThreadPool pool;
    pool.setMaxThreadCount(2);
    Strand left(pool);
    Strand right(pool);
    std::counting_semaphore<> a{0};
    std::counting_semaphore<> b{0};
    bool hasLeftMet = false;
    bool hasRightMet = false;
    left.post([&] {
        a.release();
        hasLeftMet = b.try_acquire_for(30s);
    });
    right.post([&] {
        hasRightMet = a.try_acquire_for(30s);
        b.release();
    });
    flush(left);
    flush(right);
    QVERIFY(hasLeftMet);
    QVERIFY(hasRightMet);
}

// One thread for two strands: the busy one's next work goes behind the other's.
void tst_Strand::oneThatNeverRests()
{
    constexpr int kMost = 100000;
    QThreadPool pool;
    pool.setMaxThreadCount(1);
    Strand busy(pool);
    Strand other(pool);
    std::atomic<bool> isHeard = false;
    std::atomic<int> rounds = 0;
    std::counting_semaphore<> begun{0};
    std::counting_semaphore<> ended{0};
    std::function<void()> again = [&] {
        if (++rounds == 1)
            begun.release();
        if (isHeard || rounds == kMost)
            ended.release();
        else
            busy.post(again);
    };
    busy.post(again);
    begun.acquire();
    other.post([&] { isHeard = true; });
    ended.acquire();
    QVERIFY(isHeard);
    QVERIFY(rounds < kMost);
}

QTEST_GUILESS_MAIN(tst_Strand)
#include "tst_strand.moc"
