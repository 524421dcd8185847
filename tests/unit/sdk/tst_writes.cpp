// Retry on conflict, create or update, create or patch, finalizers beside other writers; B54, B55.
#include <davit/finalizers.h>
#include <davit/priv/backends.h>
#include <davit/writes.h>

#include <QTest>
#include <QtCore/qfile.h>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qpromise.h>
#include <functional>
#include <support/patch.h>

using namespace davit;
using namespace std::chrono_literals;

namespace {

const Gvk kWidget{QStringLiteral("demo.example"), QStringLiteral("v1"), QStringLiteral("Widget")};
const ObjectKey kW{QStringLiteral("apps"), QStringLiteral("w")};
const QString kOurs = QStringLiteral("demo.example/davit");

Object object(const QByteArray &json)
{
    Object made;
    const Status status = Object::fromJson(json, &made);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return made;
}

Object withVersion(const Object &object, int version)
{
    return ObjectBuilder(object)
        .set({QStringLiteral("metadata"), QStringLiteral("resourceVersion")},
            QString::number(version))
        .build();
}

QByteArray caseFile(const char *name)
{
    QFile file(QStringLiteral(DAVIT_TEST_DATA "/cases/") + QString::fromLatin1(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QStringList finalizersOf(const Object &object)
{
    QStringList names;
    const Value list = object[QLatin1StringView("metadata")][QLatin1StringView("finalizers")];
    for (qsizetype i = 0; i < list.size(); ++i)
        names += list.at(i).toString();
    return names;
}

// A server of one object: versions, optimistic locks, merge patches.
class OneObject final : public priv::ClientBackend
{
public:
    QFuture<ObjectReply> call(Verb verb, const Gvk &, const ObjectKey &, const Object &sent,
        const Patch *patch, const RequestOptions &options) override
    {
        seen += QString::fromLatin1(names[int(verb)])
            + (options.subresource().isEmpty() ? QString()
                                               : QLatin1Char('/') + options.subresource());
        lastBody = patch ? patch->body() : sent.toJson();
        lastType = patch ? patch->type() : PatchType::Unset;
        if (verb != Verb::Get && meanwhile)
            std::exchange(meanwhile, nullptr)();
        QPromise<ObjectReply> promise;
        promise.start();
        promise.addResult(answer(verb, sent, patch));
        promise.finish();
        return promise.future();
    }
    QFuture<ListReply> list(const Gvk &, const RequestOptions &) override { return {}; }

    void put(const Object &object) { stored = withVersion(object, ++version); }

    Object stored; // null: none
    int version = 9;
    QStringList seen;
    QByteArray lastBody;
    PatchType lastType = PatchType::Unset;
    std::function<void()> meanwhile; // once, before a write is looked at

private:
    static constexpr const char *names[] = {"get", "list", "create", "update", "patch"};

    ObjectReply answer(Verb verb, const Object &sent, const Patch *patch)
    {
        const auto refused
            = [](ErrorCode code) { return ObjectReply(Error(code, QStringLiteral("refused"))); };
        if (verb == Verb::Create) {
            if (!stored.isNull())
                return refused(ErrorCode::AlreadyExists);
            put(sent);
            return ObjectReply(stored);
        }
        if (stored.isNull())
            return refused(ErrorCode::NotFound);
        if (verb == Verb::Get)
            return ObjectReply(stored);
        Object after = sent;
        if (patch)
            after = object(support::mergePatch(stored.toJson(), patch->body()).json);
        if (after.resourceVersion() != stored.resourceVersion())
            return refused(ErrorCode::Conflict);
        if (stored.isBeingDeleted() && finalizersOf(after).size() > finalizersOf(stored).size())
            return refused(ErrorCode::Invalid);
        put(after);
        if (stored.isBeingDeleted() && finalizersOf(stored).isEmpty())
            stored = Object();
        return ObjectReply(after);
    }
};

// Time passes when someone sleeps.
class SleepingClock final : public priv::ClockBackend
{
public:
    std::chrono::nanoseconds monotonic() const override { return {}; }
    std::chrono::nanoseconds utc() const override { return {}; }
    void sleepFor(std::chrono::nanoseconds span) const override { slept.append(span); }
    mutable QList<std::chrono::nanoseconds> slept;
};

} // namespace

class tst_Writes : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void retry_data();
    void retry();
    void waits_data();
    void waits();
    void createOrWrite_data();
    void createOrWrite();
    void mutateFails_data();
    void mutateFails();
    void lostRaces_data();
    void lostRaces();
    void twoFinalizers();
    void finalizerCases_data();
    void finalizerCases();
    void applyIntent_data();
    void applyIntent();
};

void tst_Writes::retry_data() // E-16
{
    QTest::addColumn<QList<int>>("answers"); // ErrorCode of each call; the last one repeats
    QTest::addColumn<int>("steps");
    QTest::addColumn<int>("calls");
    QTest::addColumn<ErrorCode>("outcome");
    const int ok = int(ErrorCode::Unset);
    const int conflict = int(ErrorCode::Conflict);
    QTest::newRow("E-16 at once") << QList<int>{ok} << 5 << 1 << ErrorCode::Unset;
    QTest::newRow("E-16 third time")
        << QList<int>{conflict, conflict, ok} << 5 << 3 << ErrorCode::Unset;
    QTest::newRow("E-16 steps run out: the conflict itself")
        << QList<int>{conflict} << 5 << 5 << ErrorCode::Conflict;
    QTest::newRow("E-16 another error ends it")
        << QList<int>{conflict, int(ErrorCode::Forbidden), ok} << 5 << 2 << ErrorCode::Forbidden;
    QTest::newRow("E-16 AlreadyExists is no conflict")
        << QList<int>{int(ErrorCode::AlreadyExists)} << 5 << 1 << ErrorCode::AlreadyExists;
    QTest::newRow("no steps: once") << QList<int>{conflict} << 0 << 1 << ErrorCode::Conflict;
}

void tst_Writes::retry()
{
    QFETCH(const QList<int>, answers);
    QFETCH(const int, steps);
    QFETCH(const int, calls);
    SleepingClock time;
    const Clock clock(time);
    int called = 0;
    const auto next = [&] {
        const ErrorCode code = ErrorCode(answers.value(called, answers.last()));
        ++called;
        return code == ErrorCode::Unset ? Status() : Status(code, QStringLiteral("no"));
    };
    const Backoff backoff{steps, 10ms, 1.0, 0.1};
    const Status status = retryOnConflict(backoff, clock, next);
    QTEST(status.error().code(), "outcome");
    QCOMPARE(called, calls);
    QCOMPARE(time.slept.size(), calls - 1);
    // The same with a Result.
    called = 0;
    const Result<int> result = retryOnConflict(backoff, clock, [&]() -> Result<int> {
        const Status step = next();
        return step.isOk() ? Result<int>(called) : Result<int>(step.error());
    });
    QCOMPARE(called, calls);
    if (result.isOk())
        QCOMPARE(result.value(), calls);
    else
        QTEST(result.error().code(), "outcome");
}

void tst_Writes::waits_data() // E-16: value·(1 + u·jitter), growing by factor
{
    QTest::addColumn<bool>("isBusyPreset");
    QTest::addColumn<int>("tries");
    QTest::addColumn<int>("leastMs");
    QTest::newRow("default retry, first") << false << 1 << 10;
    QTest::newRow("default retry, fourth") << false << 4 << 10;
    QTest::newRow("default backoff, first") << true << 1 << 10;
    QTest::newRow("default backoff, second") << true << 2 << 50;
    QTest::newRow("default backoff, third") << true << 3 << 250;
}

void tst_Writes::waits()
{
    QFETCH(const bool, isBusyPreset);
    QFETCH(const int, tries);
    QFETCH(const int, leastMs);
    const Backoff backoff = isBusyPreset ? kDefaultBackoff : kDefaultRetry;
    QCOMPARE(backoff.steps, isBusyPreset ? 4 : 5);
    const std::chrono::nanoseconds least = std::chrono::milliseconds(leastMs);
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        const std::chrono::nanoseconds wait = waitAfterTry(backoff, tries);
        QVERIFY(wait >= least);
        QVERIFY(wait <= least + least / 10);
        differs |= wait != least;
    }
    QVERIFY(differs);
    QCOMPARE(waitAfterTry({1, 8ms, 2.0, 0.0}, tries), 8ms * (1 << (tries - 1)));
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_Writes::createOrWrite_data()
{
    QTest::addColumn<bool>("patches");
    QTest::addColumn<QByteArray>("stored"); // spec and status; empty: no object
    QTest::addColumn<QByteArray>("wanted");
    QTest::addColumn<QStringList>("calls");
    QTest::addColumn<OperationResult>("result");
    QTest::addColumn<QByteArray>("body"); // of the last write
    const auto row = [](const char *name, bool patches, const char *stored, const char *wanted,
                         const char *calls, OperationResult result, const char *body) {
        QTest::newRow(name) << patches << QByteArray(stored) << QByteArray(wanted)
                            << QString::fromLatin1(calls).split(QLatin1Char(' ')) << result
                            << QByteArray(body);
    };
    const char kStored[] = R"({"spec":{"a":1,"b":2},"status":{"s":1}})";
    row("E-25 absent", false, "", R"({"spec":{"a":1}})", "get create", OperationResult::Created,
        R"({"spec":{"a":1}})");
    row("E-25 no difference", false, kStored, kStored, "get", OperationResult::Unchanged, "");
    row("E-25 another order is no difference", false, kStored,
        R"({"status":{"s":1},"spec":{"b":2,"a":1}})", "get", OperationResult::Unchanged, "");
    row("E-25 differs: the whole object", false, kStored, R"({"spec":{"a":2}})", "get update",
        OperationResult::Updated, R"({"spec":{"a":2}})");
    row("E-26 absent", true, "", R"({"spec":{"a":1},"status":{"s":1}})", "get create",
        OperationResult::Created, R"({"spec":{"a":1},"status":{"s":1}})");
    row("E-26 no difference", true, kStored, kStored, "get", OperationResult::Unchanged, "");
    row("E-26 spec differs", true, kStored, R"({"spec":{"a":2,"b":2},"status":{"s":1}})",
        "get patch", OperationResult::Updated, R"({"spec":{"a":2}})");
    row("E-26 status differs", true, kStored, R"({"spec":{"a":1,"b":2},"status":{"s":2}})",
        "get patch/status", OperationResult::UpdatedStatusOnly, R"({"status":{"s":2}})");
    row("E-26 both differ", true, kStored, R"({"spec":{"a":1},"status":{"t":1}})",
        "get patch patch/status", OperationResult::UpdatedStatus, R"({"status":{"s":null,"t":1}})");
    row("E-26 status goes", true, kStored, R"({"spec":{"a":1,"b":2}})", "get patch/status",
        OperationResult::UpdatedStatusOnly, R"({"status":null})");
}

void tst_Writes::createOrWrite()
{
    QFETCH(const bool, patches);
    QFETCH(const QByteArray, stored);
    QFETCH(const QByteArray, wanted);
    auto *server = new OneObject;
    const Client client(*server);
    const Object bare = ObjectBuilder(kWidget, kW).build();
    const auto filled = [](const Object &base, const QByteArray &parts) {
        const Object from = object(parts);
        ObjectBuilder builder(base);
        for (const QString &part : {QStringLiteral("spec"), QStringLiteral("status")})
            builder.set({part}, from.root()[part]);
        return builder.build();
    };
    if (!stored.isEmpty())
        server->put(filled(bare, stored));
    const auto mutate = [&](const Object &seen) { return filled(seen, wanted); };
    const Result<Written> written = patches
        ? createOrPatch(client.blocking(), kWidget, kW, mutate)
        : createOrUpdate(client.blocking(), kWidget, kW, mutate);
    QVERIFY2(written.isOk(), qPrintable(written.status().error().message()));
    QTEST(written.value().result, "result");
    QTEST(server->seen, "calls");
    QVERIFY(!written.value().object.isNull());
    QFETCH(const QByteArray, body);
    if (body.isEmpty())
        return;
    QJsonObject sent = QJsonDocument::fromJson(server->lastBody).object();
    for (const char *name : {"apiVersion", "kind", "metadata"})
        sent.remove(QLatin1StringView(name));
    QCOMPARE(sent, QJsonDocument::fromJson(body).object());
}

void tst_Writes::mutateFails_data()
{
    QTest::addColumn<int>("kind"); // of failure
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("its error ends it") << 0 << ErrorCode::Forbidden;
    QTest::newRow("null object") << 1 << ErrorCode::InvalidArgument;
    QTest::newRow("another name") << 2 << ErrorCode::InvalidArgument;
    QTest::newRow("another namespace") << 3 << ErrorCode::InvalidArgument;
    QTest::newRow("another kind") << 4 << ErrorCode::InvalidArgument;
}

void tst_Writes::mutateFails()
{
    QFETCH(const int, kind);
    auto *server = new OneObject;
    const Client client(*server);
    const auto mutate = [kind](const Object &seen) -> Result<Object> {
        const auto metadata = [&](const char *name) {
            return ObjectBuilder(seen)
                .set({QStringLiteral("metadata"), QString::fromLatin1(name)}, QStringLiteral("x"))
                .build();
        };
        switch (kind) {
        case 0:
            return Error(ErrorCode::Forbidden, QStringLiteral("no"));
        case 1:
            return Object();
        case 2:
            return metadata("name");
        case 3:
            return metadata("namespace");
        default:
            return ObjectBuilder(seen).set({QStringLiteral("kind")}, QStringLiteral("X")).build();
        }
    };
    for (const bool isThere : {false, true}) {
        if (isThere)
            server->put(ObjectBuilder(kWidget, kW).build());
        QTEST(
            createOrUpdate(client.blocking(), kWidget, kW, mutate).status().error().code(), "code");
        QTEST(
            createOrPatch(client.blocking(), kWidget, kW, mutate).status().error().code(), "code");
    }
    QCOMPARE(server->seen.count(QStringLiteral("get")), server->seen.size()); // nothing is written
}

void tst_Writes::lostRaces_data() // E-27
{
    QTest::addColumn<bool>("isThere");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("E-27 someone else creates it") << false << ErrorCode::AlreadyExists;
    QTest::newRow("E-27 someone else updates it") << true << ErrorCode::Conflict;
}

void tst_Writes::lostRaces()
{
    QFETCH(const bool, isThere);
    auto *server = new OneObject;
    const Client client(*server);
    const Object bare = ObjectBuilder(kWidget, kW).build();
    if (isThere)
        server->put(bare);
    server->meanwhile = [&] { server->put(bare); };
    const Result<Written> written
        = createOrUpdate(client.blocking(), kWidget, kW, [](const Object &seen) {
              return ObjectBuilder(seen).set({QStringLiteral("spec")}, 1).build();
          });
    QTEST(written.status().error().code(), "code");
    QCOMPARE(server->seen.size(), 2); // no second try
}

void tst_Writes::twoFinalizers() // B54
{
    const QJsonArray steps = QJsonDocument::fromJson(caseFile("B54-scenario.json"))
                                 .object()[QLatin1StringView("steps")]
                                 .toArray();
    const auto shown = [&](int step) {
        return object(QJsonDocument(
            steps[step][QLatin1StringView("reply")][QLatin1StringView("json")].toObject())
                          .toJson());
    };
    auto *server = new OneObject;
    const Client client(*server);
    SleepingClock time;
    server->stored = shown(0);
    server->version = 10;
    Object known = shown(0);
    server->meanwhile = [&] {
        server->stored = shown(3);
        server->version = 11;
    };
    const Status added = ensureFinalizer(client, &known, kOurs, Clock(time));
    QVERIFY2(added.isOk(), qPrintable(added.error().message()));
    QCOMPARE(
        finalizersOf(server->stored), (QStringList{QStringLiteral("other.example/hold"), kOurs}));
    QCOMPARE(server->seen,
        (QStringList{QStringLiteral("patch"), QStringLiteral("get"), QStringLiteral("patch")}));
    QVERIFY(server->lastBody.contains(R"("resourceVersion":"11")"));
    QCOMPARE(time.slept.size(), 1);
    QCOMPARE(finalizersOf(known), finalizersOf(server->stored));
}

void tst_Writes::finalizerCases_data()
{
    QTest::addColumn<bool>("adds");
    QTest::addColumn<QByteArray>("known"); // metadata, of version 10
    QTest::addColumn<QByteArray>("meanwhile"); // metadata, or empty; "gone": no object
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QStringList>("finalizers");
    QTest::addColumn<QStringList>("calls");
    const auto row
        =
            [](const char *name, bool adds, const char *known, const char *meanwhile,
                ErrorCode code, const char *finalizers, const char *calls) {
                QTest::newRow(name)
                    << adds << QByteArray(known) << QByteArray(meanwhile) << code
                    << QString::fromLatin1(finalizers).split(QLatin1Char(' '), Qt::SkipEmptyParts)
                    << QString::fromLatin1(calls).split(QLatin1Char(' '), Qt::SkipEmptyParts);
            };
    const ErrorCode ok = ErrorCode::Unset;
    row("B54 ours goes although x went meanwhile", false,
        R"("finalizers":["x","demo.example/davit","y"])",
        R"("finalizers":["demo.example/davit","y"])", ok, "y", "patch get patch");
    row("B54 others stay", false, R"("finalizers":["x","demo.example/davit","y"])", "", ok, "x y",
        "patch");
    row("B54 404 while removing is success", false, R"("finalizers":["demo.example/davit"])",
        "gone", ok, "", "patch");
    row("B54 no new one on an object being deleted", true,
        R"("deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["x"])", "", ErrorCode::Invalid,
        "x", "");
    row("B54 deleted meanwhile: 422, not tried for ever", true, R"("finalizers":["x"])",
        R"("deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["x"])", ErrorCode::Invalid, "x",
        "patch get");
    row("added meanwhile by our other self", true, R"("finalizers":[])",
        R"("finalizers":["demo.example/davit"])", ok, "demo.example/davit", "patch get");
    row("it is there: nothing is sent", true, R"("finalizers":["demo.example/davit"])", "", ok,
        "demo.example/davit", "");
    row("it is not there: nothing is sent", false, R"("finalizers":["x"])", "", ok, "x", "");
    row("the last one lets the object go", false,
        R"("deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["demo.example/davit"])", "", ok,
        "", "patch");
    row("gone while adding is an error", true, R"("finalizers":[])", "gone", ErrorCode::NotFound,
        "", "patch");
}

void tst_Writes::finalizerCases()
{
    QFETCH(const bool, adds);
    QFETCH(const QByteArray, known);
    QFETCH(const QByteArray, meanwhile);
    const auto widget = [](const QByteArray &metadata) {
        return object(R"({"apiVersion":"demo.example/v1","kind":"Widget","metadata":{"name":"w",)"
                      R"("namespace":"apps",)"
            + metadata + "}}");
    };
    auto *server = new OneObject;
    const Client client(*server);
    SleepingClock time;
    server->put(widget(known));
    Object object = server->stored;
    if (meanwhile == "gone")
        server->meanwhile = [&] { server->stored = Object(); };
    else if (!meanwhile.isEmpty())
        server->meanwhile = [&] { server->put(widget(meanwhile)); };
    const Status status = adds ? ensureFinalizer(client, &object, kOurs, Clock(time))
                               : releaseFinalizer(client, object, kOurs, Clock(time));
    QTEST(status.error().code(), "code");
    QTEST(finalizersOf(server->stored), "finalizers");
    QTEST(server->seen, "calls");
}

void tst_Writes::applyIntent_data()
{
    QTest::addColumn<Object>("object");
    QTest::addColumn<QString>("subresource");
    QTest::addColumn<QByteArray>("body");
    const Object cached
        = ObjectBuilder(object(caseFile("B55-cached.json")))
              .set({QStringLiteral("data"), QStringLiteral("k")}, QStringLiteral("v2"))
              .build();
    QTest::newRow("B55 from the cache")
        << cached << QString()
        << QJsonDocument(QJsonDocument::fromJson(caseFile("B55-want.json"))
                             .object()[QLatin1StringView("body")]
                             .toObject())
               .toJson();
    QTest::newRow("B55 other annotations stay, the status goes")
        << object(
               R"({"kind":"W","metadata":{"annotations":{"a":"1","kubectl.kubernetes.io/last-applied-configuration":"{}"}},"status":{"s":1}})")
        << QString() << QByteArray(R"({"kind":"W","metadata":{"annotations":{"a":"1"}}})");
    QTest::newRow("the status subresource sends the status")
        << object(R"({"kind":"W","metadata":{"name":"w","uid":"u"},"status":{"s":1}})")
        << QStringLiteral("status")
        << QByteArray(R"({"kind":"W","metadata":{"name":"w"},"status":{"s":1}})");
}

void tst_Writes::applyIntent()
{
    QFETCH(const Object, object);
    QFETCH(const QString, subresource);
    QFETCH(const QByteArray, body);
    auto *server = new OneObject;
    const Client client(*server);
    client.apply(object, RequestOptions().subresource(subresource)).waitForFinished();
    QCOMPARE(server->lastType, PatchType::Apply);
    QCOMPARE(
        QJsonDocument::fromJson(server->lastBody).object(), QJsonDocument::fromJson(body).object());
}

QTEST_GUILESS_MAIN(tst_Writes)
#include "tst_writes.moc"
