// a list, page by page.
#include <davit/listwalk.h>
#include <davit/objectbuilder.h>
#include <davit/priv/backends.h>

#include <QTest>
#include <QtCore/qpromise.h>

using namespace davit;
using namespace Qt::Literals::StringLiterals;

namespace {

const Gvk kPod{{}, u"v1"_s, u"Pod"_s};

// Pages of two objects, p0 to p(2n-1); the token is the next page's number.
class PagedServer final : public priv::ClientBackend
{
public:
    explicit PagedServer(int pages) : m_pages(pages) { }

    QFuture<ObjectReply> call(Verb, const Gvk &, const ObjectKey &, const Object &, const Patch *,
        const RequestOptions &) override
    {
        return {};
    }
    QFuture<ListReply> list(const Gvk &, const RequestOptions &options) override
    {
        const int page = options.continueToken().toInt();
        asked += u"%1/%2"_s.arg(page).arg(options.limit());
        auto promise = std::make_shared<QPromise<ListReply>>();
        promise->start();
        open = promise;
        if (!isHeld)
            answer(page);
        return promise->future();
    }
    void answer(int page)
    {
        if (page == failing) {
            open->addResult(ListReply(Error(ErrorCode::Expired, u"gone"_s)));
        } else {
            QList<Object> objects;
            for (int i = 2 * page; i < 2 * page + 2; ++i)
                objects += ObjectBuilder(kPod, {u"apps"_s, u"p%1"_s.arg(i)}).build();
            const bool isLast = page + 1 == m_pages;
            open->addResult(ListReply(
                objects, u"7"_s, isLast ? QString() : QString::number(page + 1), isLast ? 0 : -1));
        }
        open->finish();
    }

    QStringList asked; // page/limit
    std::shared_ptr<QPromise<ListReply>> open; // of the newest request
    int failing = -1; // this page
    bool isHeld = false; // answers come by hand

private:
    const int m_pages;
};

} // namespace

class tst_ListWalk : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void walks_data();
    void walks();
    void readsTenPagesAhead();
    void stops();
};

void tst_ListWalk::walks_data()
{
    QTest::addColumn<int>("pages");
    QTest::addColumn<int>("failing");
    QTest::addColumn<qint64>("limit");
    QTest::addColumn<int>("visited");
    QTest::addColumn<QStringList>("asked");
    QTest::newRow("R-26: one page") << 1 << -1 << qint64(0) << 2 << QStringList{u"0/500"_s};
    QTest::newRow("R-26: three pages")
        << 3 << -1 << qint64(2) << 6 << QStringList{u"0/2"_s, u"1/2"_s, u"2/2"_s};
    QTest::newRow("R-26: the first page fails")
        << 3 << 0 << qint64(2) << 0 << QStringList{u"0/2"_s};
    QTest::newRow("R-26: a later page has expired: no whole list instead of it")
        << 3 << 2 << qint64(2) << 4 << QStringList{u"0/2"_s, u"1/2"_s, u"2/2"_s};
}

void tst_ListWalk::walks()
{
    QFETCH(const int, pages);
    QFETCH(const int, failing);
    QFETCH(const qint64, limit);
    QFETCH(const int, visited);
    PagedServer &server = *new PagedServer(pages); // its holders own it
    const Client client(server);
    server.failing = failing;
    QStringList names;
    const Status status
        = eachListItem(client, kPod, RequestOptions().limit(limit), [&](const Object &object) {
              names += object.name();
              return Status();
          });
    QCOMPARE(status.error().code(), failing < 0 ? ErrorCode::Unset : ErrorCode::Expired);
    QStringList wanted;
    for (int i = 0; i < visited; ++i)
        wanted += u"p%1"_s.arg(i);
    QCOMPARE(names, wanted);
    QTEST(server.asked, "asked");
}

void tst_ListWalk::readsTenPagesAhead()
{
    PagedServer &server = *new PagedServer(40); // its holders own it
    const Client client(server);
    QList<qsizetype> asked; // requests before each item
    const Status status
        = eachListItem(client, kPod, RequestOptions().limit(2), [&](const Object &) {
              asked += server.asked.size();
              return Status();
          });
    QVERIFY(status.isOk());
    QCOMPARE(asked.size(), 80);
    for (qsizetype i = 0; i < asked.size(); ++i)
        QVERIFY(asked[i] <= i / 2 + 1 + 10);
    QCOMPARE(asked[40], 31); // of page 20: as far ahead as it may be
    QCOMPARE(server.asked.size(), 40);
}

// By the visitor's error; what is under way is let go.
void tst_ListWalk::stops()
{
    PagedServer &server = *new PagedServer(5); // its holders own it
    const Client client(server);
    int visited = 0;
    const Status status
        = eachListItem(client, kPod, RequestOptions().limit(2), [&](const Object &) {
              server.isHeld = true; // the pages to come
              if (++visited == 2)
                  return Status(ErrorCode::InvalidArgument, u"enough"_s);
              return Status();
          });
    QCOMPARE(status.error().message(), u"enough"_s);
    QCOMPARE(visited, 2);
    QVERIFY(server.open->isCanceled());
}

QTEST_GUILESS_MAIN(tst_ListWalk)
#include "tst_listwalk.moc"
