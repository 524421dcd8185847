// Objects, lists, and what stands beside them; and which rows ran on which server.
#include "tst_contract.h"

void tst_Contract::initTestCase_data()
{
    QTest::addColumn<QString>("server");
    QTest::newRow("embedded") << QStringLiteral("embedded");
    if (qEnvironmentVariableIsSet("DAVIT_REAL_KUBECONFIG"))
        QTest::newRow("real") << QStringLiteral("real");
}

ContractServer &tst_Contract::server()
{
    QFETCH_GLOBAL(const QString, server);
    auto &place = m_servers[server];
    if (!place)
        place = std::make_unique<ContractServer>(server);
    return *place;
}

void tst_Contract::init()
{
    QCOMPARE(server().get("/version").code, 200);
    QFETCH_GLOBAL(const QString, server);
    m_ran[server] += currentRow();
}

QString tst_Contract::currentRow()
{
    const char *const tag = QTest::currentDataTag();
    return QString::fromLatin1(QTest::currentTestFunction())
        + (tag ? QLatin1Char(' ') + QString::fromUtf8(tag) : QString());
}

void tst_Contract::cleanupTestCase()
{
    for (const auto &[server, rows] : m_ran) {
        for (const auto &[other, wanted] : m_ran)
            for (const QString &row : wanted)
                if (!rows.contains(row))
                    m_skipped += QStringLiteral("%1 on %2 alone").arg(row, other);
        qInfo("%s: %lld rows, skipped: %s", qPrintable(server), qint64(rows.size()),
            m_skipped.isEmpty() ? "none" : qPrintable(m_skipped.join(QLatin1String(", "))));
    }
    QVERIFY(!m_ran.empty());
    QVERIFY2(m_skipped.isEmpty(), qPrintable(m_skipped.join(QLatin1String(", "))));
}

ApiAnswer tst_Contract::makeConfigMap(
    const QByteArray &space, const QByteArray &name, const QByteArray &rest)
{
    return server().post(spaced(space, "configmaps"), configMap(name, rest));
}

void tst_Contract::createReadUpdateDelete()
{
    const QByteArray space = server().newNamespace("crud");
    const ApiAnswer made = makeConfigMap(space, "a");
    QCOMPARE(made.code, 201);
    QCOMPARE(text(made, "kind"), QStringLiteral("ConfigMap"));
    QCOMPARE(text(made, "metadata.namespace").toUtf8(), space);
    QCOMPARE(text(made, "metadata.uid").size(), 36);
    QVERIFY(text(made, "metadata.creationTimestamp").endsWith(QLatin1Char('Z')));
    QVERIFY(version(made).toULongLong() > 0);
    const QByteArray path = spaced(space, "configmaps/a");
    const ApiAnswer read = server().get(path);
    QCOMPARE(read.code, 200);
    QCOMPARE(read.json(), made.json());

    QJsonObject changed = read.json();
    changed[QLatin1String("data")] = QJsonObject{{QStringLiteral("k"), QStringLiteral("2")}};
    const ApiAnswer updated = server().put(path, asJson(changed));
    QCOMPARE(updated.code, 200);
    QCOMPARE(text(updated, "data.k"), QStringLiteral("2"));
    QCOMPARE(text(updated, "metadata.uid"), text(made, "metadata.uid"));
    QCOMPARE(text(updated, "metadata.creationTimestamp"), text(made, "metadata.creationTimestamp"));
    QVERIFY(version(updated).toULongLong() > version(made).toULongLong());

    const ApiAnswer removed = server().remove(path);
    QCOMPARE(removed.code, 200);
    QCOMPARE(text(removed, "kind"), QStringLiteral("Status"));
    QCOMPARE(text(removed, "status"), QStringLiteral("Success"));
    QCOMPARE(text(removed, "details.uid"), text(made, "metadata.uid"));
    QCOMPARE(server().get(path).code, 404);
}

void tst_Contract::optimisticLock()
{
    const QByteArray space = server().newNamespace("lock");
    QJsonObject stale = makeConfigMap(space, "a").json();
    const QByteArray path = spaced(space, "configmaps/a");
    QCOMPARE(server().patch(path, kMerge, R"({"data":{"k":"2"}})").code, 200);
    stale[QLatin1String("data")] = QJsonObject{{QStringLiteral("k"), QStringLiteral("3")}};
    const ApiAnswer refused = server().put(path, asJson(stale));
    QCOMPARE(refused.code, 409);
    QCOMPARE(refused.reason(), QStringLiteral("Conflict"));
    QCOMPARE(refused.message(),
        QStringLiteral("Operation cannot be fulfilled on configmaps \"a\": the object has been "
                       "modified; please apply your changes to the latest version and try again"));
    QCOMPARE(text(refused, "details.name"), QStringLiteral("a"));
    QCOMPARE(text(refused, "details.kind"), QStringLiteral("configmaps"));
    QJsonObject metadata = stale[QLatin1String("metadata")].toObject();
    metadata.remove(QLatin1String("resourceVersion"));
    metadata[QLatin1String("uid")] = QStringLiteral("other");
    QJsonObject recreated = stale;
    recreated[QLatin1String("metadata")] = metadata;
    const ApiAnswer otherUid = server().put(path, asJson(recreated));
    QCOMPARE(otherUid.code, 409);
    QCOMPARE(otherUid.message(),
        QStringLiteral(
            "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid "
            "object, Code: 4, Key: /registry/configmaps/%1/a, ResourceVersion: 0, "
            "AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in "
            "object meta: %2")
            .arg(QString::fromUtf8(space), text(server().get(path), "metadata.uid")));
    const QByteArray old = at(stale, "metadata.resourceVersion").toString().toUtf8();
    const ApiAnswer patched = server().patch(
        path, kMerge, R"({"metadata":{"resourceVersion":")" + old + R"("},"data":{"k":"4"}})");
    QCOMPARE(patched.code, 409);
    QCOMPARE(patched.message(), refused.message());
    QCOMPARE(text(server().get(path), "data.k"), QStringLiteral("2"));
}

void tst_Contract::withoutVersion()
{
    const QByteArray space = server().newNamespace("unconditional");
    QCOMPARE(makeConfigMap(space, "a").code, 201);
    const ApiAnswer updated
        = server().put(spaced(space, "configmaps/a"), configMap("a", R"("data":{"k":"9"})"));
    QCOMPARE(updated.code, 200); // built-in kinds take it
    QVERIFY(server().serveWidgets());
    const QByteArray widgets = kWidgets + space + "/widgets";
    QCOMPARE(server().post(widgets, widget("w", R"("spec":{"a":1})")).code, 201);
    const ApiAnswer refused = server().put(widgets + "/w", widget("w", R"("spec":{"a":2})"));
    QCOMPARE(refused.code, 422); // custom resources do not
    QVERIFY2(refused.message().contains(QLatin1String("metadata.resourceVersion: Invalid value: "))
            && refused.message().endsWith(QLatin1String("must be specified for an update")),
        qPrintable(refused.message()));
}

void tst_Contract::noOpWrites()
{
    const QByteArray space = server().newNamespace("noop");
    const ApiAnswer made = makeConfigMap(space, "a");
    const QByteArray path = spaced(space, "configmaps/a");
    QCOMPARE(version(server().put(path, made.body)), version(made));
    QCOMPARE(version(server().patch(path, kMerge, R"({"data":{"k":"1"}})")), version(made));
    QCOMPARE(version(server().patch(path, kJsonPatch, "[]")), version(made));
    QCOMPARE(version(server().get(path)), version(made));
}

void tst_Contract::generatedNames()
{
    const QByteArray space = server().newNamespace("generated");
    const QByteArray body = R"({"metadata":{"generateName":"pre-"}})";
    const QString first = text(server().post(spaced(space, "configmaps"), body), "metadata.name");
    const QString second = text(server().post(spaced(space, "configmaps"), body), "metadata.name");
    QVERIFY(first != second);
    QVERIFY2(first.startsWith(QLatin1String("pre-")) && first.size() == 9, qPrintable(first));
    // A name that is given counts, and what says that it is taken speaks of the generator.
    const QByteArray named = R"({"metadata":{"generateName":"pre-","name":"taken"}})";
    QCOMPARE(server().post(spaced(space, "configmaps"), named).code, 201);
    const ApiAnswer again = server().post(spaced(space, "configmaps"), named);
    QCOMPARE(again.code, 409);
    QCOMPARE(text(again, "reason"), QStringLiteral("AlreadyExists"));
    QCOMPARE(text(again, "message"),
        QStringLiteral("configmaps \"taken\" already exists, the server was not able to generate a "
                       "unique name for the object"));
    QCOMPARE(at(again.json(), "details.retryAfterSeconds").toInt(), 1);
}

// Items of built-in kinds come without their type, those of custom resources with it.
void tst_Contract::listForm()
{
    const QByteArray space = server().newNamespace("form");
    makeConfigMap(space, "a");
    QVERIFY(server().serveWidgets());
    server().post(kWidgets + space + "/widgets", widget("w", R"("spec":{})"));
    const ApiAnswer maps = server().get(spaced(space, "configmaps?labelSelector=%21none"));
    QCOMPARE(text(maps, "kind"), QStringLiteral("ConfigMapList"));
    QVERIFY(names(maps).contains(QStringLiteral("a")));
    QVERIFY(!at(maps.json(), "items.0").toObject().contains(QLatin1String("kind")));
    const ApiAnswer widgets = server().get(kWidgets + space + "/widgets");
    QCOMPARE(text(widgets, "kind"), QStringLiteral("WidgetList"));
    QCOMPARE(text(widgets, "items.0.kind"), QStringLiteral("Widget"));
    const ApiAnswer everywhere = server().get("/api/v1/configmaps");
    QVERIFY(names(everywhere).contains(QStringLiteral("a")));
}

void tst_Contract::listVersions()
{
    const QByteArray space = server().newNamespace("versions");
    const QByteArray list = spaced(space, "configmaps?labelSelector=own");
    const ApiAnswer empty = server().get(list);
    const QByteArray own = R"({"metadata":{"name":"a","labels":{"own":"1"}}})";
    const ApiAnswer made = server().post(spaced(space, "configmaps"), own);
    QCOMPARE(made.code, 201);
    const ApiAnswer now = server().get(list);
    QCOMPARE(names(now), QStringList{QStringLiteral("a")});
    QVERIFY(version(now).toULongLong() >= version(made).toULongLong());
    QVERIFY(version(empty).toULongLong() < version(made).toULongLong());
    const QByteArray before = version(empty).toUtf8();
    const ApiAnswer exact
        = server().get(list + "&resourceVersion=" + before + "&resourceVersionMatch=Exact");
    QCOMPARE(exact.code, 200);
    QCOMPARE(names(exact), QStringList());
    QCOMPARE(version(exact).toUtf8(), before);
    const ApiAnswer notOlder = server().get(list + "&resourceVersion=" + version(made).toUtf8());
    QCOMPARE(names(notOlder), QStringList{QStringLiteral("a")});
    const ApiAnswer any = server().get(list + "&resourceVersion=0");
    QCOMPARE(any.code, 200);
}

void tst_Contract::pages()
{
    const QByteArray space = server().newNamespace("pages");
    const QByteArray secrets = spaced(space, "secrets");
    for (const char name : {'a', 'b', 'c', 'd', 'e'})
        server().post(secrets, R"({"metadata":{"name":")" + QByteArray(1, name) + R"("}})");
    const ApiAnswer first = server().get(secrets + "?limit=2");
    QCOMPARE(names(first), (QStringList{QStringLiteral("a"), QStringLiteral("b")}));
    QCOMPARE(at(first.json(), "metadata.remainingItemCount").toInt(), 3);
    server().remove(secrets + "/d"); // later pages show the state of the first
    const QByteArray token = percent(text(first, "metadata.continue").toUtf8());
    const ApiAnswer second = server().get(secrets + "?limit=2&continue=" + token);
    QCOMPARE(names(second), (QStringList{QStringLiteral("c"), QStringLiteral("d")}));
    QCOMPARE(version(second), version(first));
    const QByteArray next = percent(text(second, "metadata.continue").toUtf8());
    const ApiAnswer third = server().get(secrets + "?limit=2&continue=" + next);
    QCOMPARE(names(third), QStringList{QStringLiteral("e")});
    QVERIFY(text(third, "metadata.continue").isEmpty());
    QCOMPARE(server().get(secrets + "?limit=2&resourceVersion=5&continue=" + token).code, 400);
    const ApiAnswer cached = server().get(secrets + "?limit=2&resourceVersion=0");
    QVERIFY(names(cached).size() >= 4); // the watch cache does not page
    QVERIFY(text(cached, "metadata.continue").isEmpty());
}

// Widgets: the real server began to cache them after version 2, so that only its store knows that.
void tst_Contract::expiredContinue()
{
    const QByteArray space = server().newNamespace("expired");
    QVERIFY(server().serveWidgets());
    const QByteArray widgets = kWidgets + space + "/widgets";
    server().post(widgets, widget("a", R"("spec":{})"));
    server().post(widgets, widget("b", R"("spec":{})"));
    server().forgetHistory();
    const QByteArray token
        = QByteArray(R"({"v":"meta.k8s.io/v1","rv":2,"start":"a\u0000"})")
              .toBase64(QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals);
    const ApiAnswer refused = server().get(widgets + "?limit=1&continue=" + token);
    QCOMPARE(refused.code, 410);
    QCOMPARE(refused.reason(), QStringLiteral("Expired"));
    QVERIFY2(
        refused.message().startsWith(QLatin1String(
            "The provided continue parameter is too old to display a consistent list result.")),
        qPrintable(refused.message()));
    const QByteArray again = percent(text(refused, "metadata.continue").toUtf8());
    QVERIFY(!again.isEmpty());
    const ApiAnswer rest = server().get(widgets + "?limit=1&continue=" + again);
    QCOMPARE(rest.code, 200); // goes on in the present
}

void tst_Contract::selectors_data()
{
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<QString>("found");
    const auto row = [](const char *query, const char *found) {
        QTest::addRow("%s", query) << QByteArray(query) << QString::fromLatin1(found);
    };
    row("labelSelector=app=web", "a b");
    row("labelSelector=app==web,tier=1", "a");
    row("labelSelector=app!=web", "c d");
    row("labelSelector=app in (web, db)", "a b c");
    row("labelSelector=app notin (web)", "c d");
    row("labelSelector=tier", "a b c");
    row("labelSelector=!tier", "d");
    row("labelSelector=tier>1", "b c");
    row("labelSelector=tier<2", "a");
    row("labelSelector=none=", "");
    row("labelSelector=empty=", "d");
    row("fieldSelector=metadata.name=b", "b");
    row("fieldSelector=metadata.name!=b", "a c d");
    row("fieldSelector=type=Opaque,metadata.name!=a", "b c d");
    row("labelSelector=app=web&fieldSelector=metadata.name=b", "b");
}

void tst_Contract::selectors()
{
    QFETCH(const QByteArray, query);
    static std::map<ContractServer *, QByteArray> spaces;
    QByteArray &space = spaces[&server()];
    if (space.isEmpty()) {
        space = server().newNamespace("selectors");
        const std::vector<std::pair<const char *, const char *>> labels{
            {"a", R"("app":"web","tier":"1")"}, {"b", R"("app":"web","tier":"2")"},
            {"c", R"("app":"db","tier":"3")"}, {"d", R"("empty":"")"}};
        for (const auto &[name, text] : labels)
            QCOMPARE(server()
                         .post(spaced(space, "secrets"),
                             R"({"metadata":{"name":")" + QByteArray(name) + R"(","labels":{)"
                                 + text + "}}}")
                         .code,
                201);
    }
    QByteArray encoded;
    for (const QByteArray &part : query.split('&')) {
        const qsizetype equals = part.indexOf('=');
        encoded += (encoded.isEmpty() ? "" : "&") + part.left(equals + 1)
            + percent(part.mid(equals + 1));
    }
    const ApiAnswer answer = server().get(spaced(space, "secrets?" + encoded));
    QCOMPARE(answer.code, 200);
    QTEST(names(answer).join(QLatin1Char(' ')), "found");
}

void tst_Contract::secrets()
{
    const QByteArray space = server().newNamespace("secrets");
    const QByteArray path = spaced(space, "secrets/s");
    const ApiAnswer made = server().post(spaced(space, "secrets"),
        R"({"metadata":{"name":"s"},"data":{"a":"MQ=="},"stringData":{"b":"2"}})");
    QCOMPARE(made.code, 201);
    QCOMPARE(text(made, "type"), QStringLiteral("Opaque"));
    QCOMPARE(asJson(at(made.json(), "data").toObject()), QByteArray(R"({"a":"MQ==","b":"Mg=="})"));
    QVERIFY(!made.json().contains(QLatin1String("stringData")));
    const ApiAnswer type = server().patch(path, kMerge, R"({"type":"example.com/other"})");
    QCOMPARE(type.code, 422);
    QCOMPARE(type.message(),
        QStringLiteral("Secret \"s\" is invalid: type: Invalid value: \"example.com/other\": field "
                       "is immutable"));
    QCOMPARE(server().patch(path, kMerge, R"({"immutable":true})").code, 200);
    const ApiAnswer data = server().patch(path, kMerge, R"({"stringData":{"b":"3"}})");
    QCOMPARE(data.code, 422);
    QCOMPARE(data.message(),
        QStringLiteral("Secret \"s\" is invalid: data: Forbidden: field is immutable when "
                       "`immutable` is set"));
    const ApiAnswer back = server().patch(path, kMerge, R"({"immutable":false})");
    QCOMPARE(back.code, 422);
    QCOMPARE(back.message(),
        QStringLiteral("Secret \"s\" is invalid: immutable: Forbidden: field is immutable when "
                       "`immutable` is set"));
    QCOMPARE(server().patch(path, kMerge, R"({"metadata":{"labels":{"l":"1"}}})").code, 200);
    const ApiAnswer broken = server().post(
        spaced(space, "secrets"), R"({"metadata":{"name":"t"},"data":{"a":"***"}})");
    QCOMPARE(broken.code, 400);
    QVERIFY(broken.message().contains(QLatin1String("illegal base64 data at input byte 0")));
}

void tst_Contract::immutableConfigMap()
{
    const QByteArray space = server().newNamespace("immutable");
    QCOMPARE(makeConfigMap(space, "a", R"("immutable":true,"data":{"k":"1"})").code, 201);
    const ApiAnswer refused
        = server().patch(spaced(space, "configmaps/a"), kMerge, R"({"data":{"k":"2"}})");
    QCOMPARE(refused.code, 422);
    QCOMPARE(refused.message(),
        QStringLiteral("ConfigMap \"a\" is invalid: data: Forbidden: field is immutable when "
                       "`immutable` is set"));
    QCOMPARE(server().remove(spaced(space, "configmaps/a")).code, 200);
}

void tst_Contract::metadataOnly()
{
    const QByteArray space = server().newNamespace("partial");
    const QByteArray secrets = spaced(space, "secrets");
    server().post(secrets, R"({"metadata":{"name":"a"},"stringData":{"k":"1"}})");
    const QByteArray one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const QByteArray list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const ApiAnswer read = server().get(secrets + "/a", one);
    QCOMPARE(text(read, "kind"), QStringLiteral("PartialObjectMetadata"));
    QCOMPARE(text(read, "apiVersion"), QStringLiteral("meta.k8s.io/v1"));
    QCOMPARE(text(read, "metadata.name"), QStringLiteral("a"));
    QVERIFY(!read.json().contains(QLatin1String("data")));
    const ApiAnswer all = server().get(secrets, list);
    QCOMPARE(text(all, "kind"), QStringLiteral("PartialObjectMetadataList"));
    QCOMPARE(names(all), QStringList{QStringLiteral("a")});
    QVERIFY(!at(all.json(), "items.0").toObject().contains(QLatin1String("data")));
    ApiWatch watch(
        server().address(), secrets + "?watch=true&timeoutSeconds=30&resourceVersion=0", one);
    QVERIFY(watch.waitForCount(1));
    const QJsonObject object = watch.events().first()[QLatin1String("object")].toObject();
    QCOMPARE(object[QLatin1String("kind")].toString(), QStringLiteral("PartialObjectMetadata"));
    QVERIFY(!object.contains(QLatin1String("data")));
}

void tst_Contract::tables()
{
    const QByteArray space = server().newNamespace("tables");
    server().post(spaced(space, "secrets"), R"({"metadata":{"name":"a"},"stringData":{"k":"1"}})");
    const ApiAnswer table
        = server().get(spaced(space, "secrets"), "application/json;as=Table;g=meta.k8s.io;v=v1");
    QCOMPARE(text(table, "kind"), QStringLiteral("Table"));
    QStringList columns;
    for (const auto &column : at(table.json(), "columnDefinitions").toArray())
        columns.append(column.toObject()[QLatin1String("name")].toString());
    QCOMPARE(columns,
        (QStringList{QStringLiteral("Name"), QStringLiteral("Type"), QStringLiteral("Data"),
            QStringLiteral("Age")}));
    QCOMPARE(text(table, "rows.0.cells.0"), QStringLiteral("a"));
    QCOMPARE(text(table, "rows.0.cells.1"), QStringLiteral("Opaque"));
    QCOMPARE(at(table.json(), "rows.0.cells.2").toInt(), 1);
    QCOMPARE(text(table, "rows.0.object.kind"), QStringLiteral("PartialObjectMetadata"));
}

void tst_Contract::discovery()
{
    QCOMPARE(text(server().get("/api"), "versions.0"), QStringLiteral("v1"));
    const ApiAnswer core = server().get("/api/v1");
    QCOMPARE(text(core, "kind"), QStringLiteral("APIResourceList"));
    QCOMPARE(text(core, "groupVersion"), QStringLiteral("v1"));
    QStringList resources;
    for (const auto &entry : at(core.json(), "resources").toArray())
        resources.append(entry.toObject()[QLatin1String("name")].toString());
    for (const char *name : {"configmaps", "secrets", "namespaces", "pods", "pods/status",
             "services", "serviceaccounts", "events"})
        QVERIFY2(resources.contains(QLatin1String(name)), name);
    QCOMPARE(text(server().get("/apis/apps"), "preferredVersion.groupVersion"),
        QStringLiteral("apps/v1"));
    const ApiAnswer aggregated = server().get(
        "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    QCOMPARE(text(aggregated, "kind"), QStringLiteral("APIGroupDiscoveryList"));
    QCOMPARE(server().get("/apis/no.such.group/v1").code, 404);
    QCOMPARE(text(server().get("/version"), "minor"), QStringLiteral("37"));
}

void tst_Contract::leasesAndEvents()
{
    const QByteArray space = server().newNamespace("leases");
    const QByteArray leases = "/apis/coordination.k8s.io/v1/namespaces/" + space + "/leases";
    const ApiAnswer lease = server().post(leases,
        R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"renewTime":"2026-01-01T00:00:00.000000Z"}})");
    QCOMPARE(lease.code, 201);
    QCOMPARE(text(lease, "spec.renewTime"), QStringLiteral("2026-01-01T00:00:00.000000Z"));
    const ApiAnswer event = server().post(spaced(space, "events"),
        R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p","namespace":")"
            + space + R"("},"reason":"Tested","message":"m","type":"Normal"})");
    QCOMPARE(event.code, 201);
    QCOMPARE(names(server().get(spaced(space, "events?fieldSelector=involvedObject.name%3Dp"))),
        QStringList{QStringLiteral("e")});
}

QTEST_GUILESS_MAIN(tst_Contract)
