// The two forms of an Event: core/v1 and events.k8s.io/v1 are views of one object.
#include "tst_contract.h"

namespace {

QByteArray newEvents(const QByteArray &space)
{
    return "/apis/events.k8s.io/v1/namespaces/" + space + "/events";
}

// In "SPACE" stands the row's namespace.
QByteArray placed(QByteArray text, const QByteArray &space)
{
    return text.replace("SPACE", space);
}

// Without what is the same in both forms, or the server's own.
QJsonObject content(const ApiAnswer &answer)
{
    QJsonObject object = answer.json();
    for (const char *name : {"apiVersion", "kind", "metadata"})
        object.remove(QLatin1String(name));
    return object;
}

const QByteArray kNewEvent
    = R"({"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","action":"Copying",)"
      R"("reason":"Copied","regarding":{"kind":"Pod","name":"p","namespace":"SPACE","uid":"u"},)"
      R"("reportingController":"c","reportingInstance":"c-h","note":"n","type":"Normal"})";

// That one with another member in place of one.
QByteArray newEventWith(const char *member, const QByteArray &json)
{
    QJsonObject object = QJsonDocument::fromJson(kNewEvent).object();
    object.remove(QLatin1String(member));
    const QJsonObject more = QJsonDocument::fromJson('{' + json + '}').object();
    for (auto at = more.begin(); at != more.end(); ++at)
        object.insert(at.key(), at.value());
    return asJson(object);
}

} // namespace

void tst_Contract::eventForms_data()
{
    QTest::addColumn<bool>("isNew"); // created by events.k8s.io
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QByteArray>("asCore"); // what is read of it, in either group
    QTest::addColumn<QByteArray>("asNew");
    const QByteArray about = R"({"kind":"Pod","name":"p","namespace":"SPACE","uid":"u"})";
    const QByteArray moment = R"("2026-01-01T00:00:00.000000Z")";
    const QByteArray series
        = R"("series":{"count":2,"lastObservedTime":"2026-01-01T00:01:00.000000Z"},)";
    QTest::newRow("a new one") << true << kNewEvent
                               << R"({"involvedObject":)" + about
            + R"(,"reason":"Copied","message":"n","source":{},)"
            + R"("firstTimestamp":null,"lastTimestamp":null,"type":"Normal","eventTime":)" + moment
            + R"(,"action":"Copying","reportingComponent":"c","reportingInstance":"c-h"})"
                               << R"({"eventTime":)" + moment
            + R"(,"reportingController":"c","reportingInstance":"c-h",)"
            + R"("action":"Copying","reason":"Copied","regarding":)" + about
            + R"(,"note":"n","type":"Normal","deprecatedSource":{},)"
            + R"("deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})";
    QTest::newRow("one with a series and a related object")
        << true << newEventWith("note", series + R"("related":{"kind":"Node","name":"n"})")
        << R"({"involvedObject":)" + about + R"(,"reason":"Copied","source":{},)"
            + R"("firstTimestamp":null,"lastTimestamp":null,"type":"Normal","eventTime":)" + moment
            + ',' + series + R"("action":"Copying","related":{"kind":"Node","name":"n"},)"
            + R"("reportingComponent":"c","reportingInstance":"c-h"})"
        << R"({"eventTime":)" + moment + ',' + series
            + R"("reportingController":"c","reportingInstance":"c-h",)"
            + R"("action":"Copying","reason":"Copied","regarding":)" + about
            + R"(,"related":{"kind":"Node","name":"n"},"type":"Normal","deprecatedSource":{},)"
            + R"("deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})";
    const QByteArray source = R"({"component":"c","host":"h"})";
    const QByteArray times = R"("2026-01-01T00:00:00Z")";
    QTest::newRow("a classic one")
        << false
        << R"({"metadata":{"name":"e"},"involvedObject":)" + about + R"(,"reason":"R",)"
            + R"("message":"m","source":)" + source + R"(,"firstTimestamp":)" + times
            + R"(,"lastTimestamp":)" + times + R"(,"count":3,"type":"Warning",)"
            + R"("reportingComponent":"c","reportingInstance":"h"})"
        << R"({"involvedObject":)" + about + R"(,"reason":"R","message":"m","source":)" + source
            + R"(,"firstTimestamp":)" + times + R"(,"lastTimestamp":)" + times
            + R"(,"count":3,"type":"Warning","eventTime":null,"reportingComponent":"c",)"
            + R"("reportingInstance":"h"})"
        << R"({"eventTime":null,"reportingController":"c","reportingInstance":"h","reason":"R",)"
           R"("regarding":)"
            + about + R"(,"note":"m","type":"Warning","deprecatedSource":)" + source
            + R"(,"deprecatedFirstTimestamp":)" + times + R"(,"deprecatedLastTimestamp":)" + times
            + R"(,"deprecatedCount":3})";
    QTest::newRow("next to nothing, and a member of the other form")
        << false << R"({"metadata":{"name":"e"},"involvedObject":)" + about + R"(,"note":"no"})"
        << R"({"involvedObject":)" + about + R"(,"source":{},"firstTimestamp":null,)"
            + R"("lastTimestamp":null,"eventTime":null,"reportingComponent":"",)"
            + R"("reportingInstance":""})"
        << R"({"eventTime":null,"regarding":)" + about + R"(,"deprecatedSource":{},)"
            + R"("deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})";
}

void tst_Contract::eventForms()
{
    QFETCH(const bool, isNew);
    QFETCH(const QByteArray, body);
    QFETCH(const QByteArray, asCore);
    QFETCH(const QByteArray, asNew);
    const QByteArray space = server().newNamespace("events");
    const QByteArray core = spaced(space, "events");
    const ApiAnswer made = server().post(isNew ? newEvents(space) : core, placed(body, space));
    QVERIFY2(made.code == 201, made.body);
    const ApiAnswer readCore = server().get(core + "/e");
    const ApiAnswer readNew = server().get(newEvents(space) + "/e");
    QCOMPARE(text(readCore, "apiVersion"), QStringLiteral("v1"));
    QCOMPARE(text(readNew, "apiVersion"), QStringLiteral("events.k8s.io/v1"));
    QCOMPARE(content(readCore), QJsonDocument::fromJson(placed(asCore, space)).object());
    QCOMPARE(content(readNew), QJsonDocument::fromJson(placed(asNew, space)).object());
    QCOMPARE(content(made), content(isNew ? readNew : readCore));
    QCOMPARE(text(readCore, "metadata.uid"), text(readNew, "metadata.uid"));
    QCOMPARE(version(readCore), version(readNew));
    const QJsonObject inList = at(server().get(newEvents(space)).json(), "items.0").toObject();
    QCOMPARE(inList[QLatin1String("regarding")], readNew.json()[QLatin1String("regarding")]);
}

void tst_Contract::eventFaults_data()
{
    QTest::addColumn<QByteArray>("body"); // empty: a patch of one that is there
    QTest::addColumn<QByteArray>("patch");
    QTest::addColumn<QString>("message");
    const auto made = [](const char *name, const QByteArray &body, const char *message) {
        QTest::newRow(name) << body << QByteArray() << QString::fromLatin1(message);
    };
    const auto patched = [](const char *name, const char *patch, const char *message) {
        QTest::newRow(name) << QByteArray() << QByteArray(patch) << QString::fromLatin1(message);
    };
    made("no time", newEventWith("eventTime", {}), "eventTime: Required value");
    made("no action", newEventWith("action", {}), "action: Required value");
    made("no reason", newEventWith("reason", {}), "reason: Required value");
    made("no instance", newEventWith("reportingInstance", {}), "reportingInstance: Required value");
    made("a long action", newEventWith("action", R"("action":")" + QByteArray(129, 'a') + '"'),
        "action: Invalid value: \"\": can have at most 128 characters");
    made("a long note", newEventWith("note", R"("note":")" + QByteArray(1025, 'a') + '"'),
        "message: Invalid value: \"\": can have at most 1024 characters");
    made("another type", newEventWith("type", R"("type":"Bad")"),
        "type: Invalid value: \"\": has invalid value: Bad");
    made("a count", newEventWith("series", R"("deprecatedCount":1)"),
        "count: Invalid value: \"\": needs to be unset");
    made("a series of one",
        newEventWith(
            "series", R"("series":{"count":1,"lastObservedTime":"2026-01-01T00:01:00.000000Z"})"),
        "series.count: Invalid value: \"\": should be at least 2");
    patched("another note", R"({"note":"other"})",
        "message: Invalid value: \"other\": field is immutable");
    patched("a patch with a series of one and another note",
        R"({"note":"x","series":{"count":1,"lastObservedTime":"2026-01-01T00:01:00.000000Z"}})",
        "[series.count: Invalid value: \"\": should be at least 2, message: Invalid value: \"x\": "
        "field is immutable]");
}

void tst_Contract::eventFaults()
{
    QFETCH(const QByteArray, body);
    QFETCH(const QByteArray, patch);
    QFETCH(const QString, message);
    const QByteArray space = server().newNamespace("events");
    ApiAnswer refused;
    if (patch.isEmpty()) {
        refused = server().post(newEvents(space), placed(body, space));
    } else {
        QCOMPARE(server().post(newEvents(space), placed(kNewEvent, space)).code, 201);
        refused = server().patch(newEvents(space) + "/e", kStrategic, patch);
    }
    QCOMPARE(refused.message(), QStringLiteral("Event \"e\" is invalid: ") + message);
    QCOMPARE(refused.code, 422);
    QVERIFY(!at(refused.json(), "details").toObject().contains(QLatin1String("group")));
}

// In core/v1 less is asked of one; where it is must fit.
void tst_Contract::eventOfAnotherNamespace()
{
    const QByteArray space = server().newNamespace("events");
    const ApiAnswer refused = server().post(spaced(space, "events"),
        R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p","namespace":"x"}})");
    QCOMPARE(refused.code, 422);
    QCOMPARE(refused.message(),
        QStringLiteral("Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"x\": "
                       "does not match event.namespace"));
}

void tst_Contract::eventSelectors_data()
{
    QTest::addColumn<bool>("isNew"); // asked of events.k8s.io
    QTest::addColumn<QByteArray>("selector");
    QTest::addColumn<QString>("found"); // names, or what is wrong
    const auto row = [](const char *name, bool isNew, const char *selector, const char *found) {
        QTest::newRow(name) << isNew << QByteArray(selector) << QString::fromLatin1(found);
    };
    row("by object", true, "regarding.name=p", "e");
    row("by object, in the words of core/v1", false, "involvedObject.name=p", "e");
    row("by controller", true, "reportingController=c,type=Normal", "e");
    row("by controller, as a component", false, "reportingComponent=c,reason=Copied", "e");
    row("by source", false, "source=c", "e");
    row("by another object", true, "regarding.name=q", "");
    row("words of the other form", true, "involvedObject.name=p",
        "field label not supported: involvedObject.name");
    row("words of the new form", false, "regarding.name=p",
        "field label not supported: regarding.name");
}

void tst_Contract::eventSelectors()
{
    QFETCH(const bool, isNew);
    QFETCH(const QByteArray, selector);
    const QByteArray space = server().newNamespace("events");
    QCOMPARE(server().post(newEvents(space), placed(kNewEvent, space)).code, 201);
    const ApiAnswer list = server().get((isNew ? newEvents(space) : spaced(space, "events"))
        + "?fieldSelector=" + percent(selector));
    const QString found = list.code == 200 ? names(list).join(QLatin1Char(' ')) : list.message();
    QTEST(found, "found");
}

// A series as the recorder writes it, seen by a watch of the other group; gone in both.
void tst_Contract::eventIsOne()
{
    const QByteArray space = server().newNamespace("events");
    const QByteArray start = version(server().get(spaced(space, "events"))).toUtf8();
    const ApiWatch watch(server().address(),
        spaced(space, "events") + "?watch=true&timeoutSeconds=60&resourceVersion=" + start);
    QCOMPARE(server().post(newEvents(space), placed(kNewEvent, space)).code, 201);
    const QByteArray series
        = R"({"series":{"count":2,"lastObservedTime":"2026-01-01T00:01:00.000000Z"}})";
    const ApiAnswer patched = server().patch(newEvents(space) + "/e", kStrategic, series);
    QCOMPARE(patched.code, 200);
    QCOMPARE(version(server().patch(newEvents(space) + "/e", kMerge, series)), version(patched));
    QCOMPARE(server().remove(newEvents(space) + "/e").code, 200);
    QVERIFY(watch.waitForCount(3));
    QCOMPARE(watch.summary(),
        (QStringList{
            QStringLiteral("ADDED e"), QStringLiteral("MODIFIED e"), QStringLiteral("DELETED e")}));
    const QJsonObject seen = watch.events()[1];
    QCOMPARE(at(seen, "object.apiVersion").toString(), QStringLiteral("v1"));
    QCOMPARE(at(seen, "object.message").toString(), QStringLiteral("n"));
    QCOMPARE(at(seen, "object.series.count").toInt(), 2);
    QCOMPARE(text(server().get(newEvents(space) + "/e"), "message"),
        QStringLiteral("events.events.k8s.io \"e\" not found"));
    QCOMPARE(server().get(spaced(space, "events/e")).code, 404);
}
