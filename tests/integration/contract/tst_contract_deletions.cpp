// Deletions: preconditions, finalizers, owners, namespaces.
#include "tst_contract.h"

void tst_Contract::deletePreconditions()
{
    const QByteArray space = server().newNamespace("pre");
    const ApiAnswer made = makeConfigMap(space, "a");
    const QByteArray path = spaced(space, "configmaps/a");
    const QString uid = text(made, "metadata.uid");
    const ApiAnswer otherUid = server().remove(path, R"({"preconditions":{"uid":"other"}})");
    QCOMPARE(otherUid.code, 409);
    QCOMPARE(otherUid.message(),
        QStringLiteral("Operation cannot be fulfilled on ConfigMap \"a\": the UID in the "
                       "precondition (other) does not match the UID in record (%1). The object "
                       "might have been deleted and then recreated")
            .arg(uid));
    const ApiAnswer otherVersion
        = server().remove(path, R"({"preconditions":{"resourceVersion":"1"}})");
    QCOMPARE(otherVersion.code, 409);
    QCOMPARE(otherVersion.message(),
        QStringLiteral("Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in "
                       "the precondition (1) does not match the ResourceVersion in record (%1). "
                       "The object might have been modified")
            .arg(version(made)));
    QCOMPARE(
        server().remove(path, R"({"preconditions":{"uid":")" + uid.toUtf8() + R"("}})").code, 200);
}

void tst_Contract::finalizers()
{
    const QByteArray space = server().newNamespace("finalizers");
    const QByteArray path = spaced(space, "configmaps/a");
    const ApiAnswer made = server().post(spaced(space, "configmaps"),
        R"({"metadata":{"name":"a","finalizers":["davit.dev/one","davit.dev/two"]}})");
    QCOMPARE(made.code, 201);
    const QByteArray start = version(made).toUtf8();
    const ApiAnswer removed = server().remove(path);
    QCOMPARE(removed.code, 200);
    QCOMPARE(text(removed, "kind"), QStringLiteral("ConfigMap"));
    QVERIFY(!text(removed, "metadata.deletionTimestamp").isEmpty());
    QCOMPARE(at(removed.json(), "metadata.deletionGracePeriodSeconds").toInt(-1), 0);
    QCOMPARE(text(server().remove(path), "metadata.deletionTimestamp"),
        text(removed, "metadata.deletionTimestamp"));
    const ApiAnswer more = server().patch(path, kMerge,
        R"({"metadata":{"finalizers":["davit.dev/one","davit.dev/two","davit.dev/three"]}})");
    QCOMPARE(more.code, 422);
    QVERIFY2(more.message().contains(QLatin1String(
                 "metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
                 "being deleted, found new finalizers []string{\"davit.dev/three\"}")),
        qPrintable(more.message()));
    QCOMPARE(makeConfigMap(space, "a").code, 409); // still there
    QCOMPARE(
        server().patch(path, kMerge, R"({"metadata":{"finalizers":["davit.dev/two"]}})").code, 200);
    const ApiAnswer last = server().patch(path, kMerge, R"({"metadata":{"finalizers":null}})");
    QCOMPARE(last.code, 200);
    QCOMPARE(server().get(path).code, 404);
    ApiWatch watch(server().address(),
        spaced(space,
            "configmaps?watch=true&timeoutSeconds=30&fieldSelector=metadata.name%3Da&"
            "resourceVersion="
                + start));
    QVERIFY(watch.waitForCount(3));
    QCOMPARE(watch.summary(),
        (QStringList{QStringLiteral("MODIFIED a"), QStringLiteral("MODIFIED a"),
            QStringLiteral("DELETED a")}));
}

namespace {

// An owner, and a dependent that names it.
QByteArray owned(
    const QByteArray &name, const QString &ownerUid, const QByteArray &finalizers = "[]")
{
    return R"({"metadata":{"name":")" + name + R"(","finalizers":)" + finalizers
        + R"(,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":")"
        + ownerUid.toUtf8() + R"(","blockOwnerDeletion":true}]}})";
}

} // namespace

void tst_Contract::backgroundDeletion()
{
    const QByteArray space = server().newNamespace("background");
    const ApiAnswer owner = makeConfigMap(space, "owner");
    server().post(spaced(space, "configmaps"), owned("child", text(owner, "metadata.uid")));
    const ApiAnswer child = server().get(spaced(space, "configmaps/child"));
    server().post(spaced(space, "configmaps"),
        R"({"metadata":{"name":"grandchild","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"child","uid":")"
            + text(child, "metadata.uid").toUtf8() + R"("}]}})");
    QCOMPARE(text(server().remove(spaced(space, "configmaps/owner")), "status"),
        QStringLiteral("Success"));
    QVERIFY(server().waitForCode(spaced(space, "configmaps/child"), 404));
    QVERIFY(server().waitForCode(spaced(space, "configmaps/grandchild"), 404));
}

void tst_Contract::foregroundDeletion()
{
    const QByteArray space = server().newNamespace("foreground");
    const ApiAnswer owner = makeConfigMap(space, "owner");
    server().post(spaced(space, "configmaps"),
        owned("child", text(owner, "metadata.uid"), R"(["davit.dev/hold"])"));
    // The real collector learns of the child by its own watch; an owner that it believes childless
    // goes at once.
    if (!server().isEmbedded())
        QTest::qWait(2000);
    const ApiAnswer removed = server().remove(
        spaced(space, "configmaps/owner"), R"({"propagationPolicy":"Foreground"})");
    QCOMPARE(text(removed, "metadata.finalizers.0"), QStringLiteral("foregroundDeletion"));
    QVERIFY(QTest::qWaitFor(
        [&] {
            return !text(
                server().get(spaced(space, "configmaps/child")), "metadata.deletionTimestamp")
                        .isEmpty();
        },
        30000));
    QCOMPARE(server().get(spaced(space, "configmaps/owner")).code, 200); // waits for the child
    server().patch(
        spaced(space, "configmaps/child"), kMerge, R"({"metadata":{"finalizers":null}})");
    QVERIFY(server().waitForCode(spaced(space, "configmaps/owner"), 404));
}

void tst_Contract::orphans()
{
    const QByteArray space = server().newNamespace("orphans");
    const ApiAnswer owner = makeConfigMap(space, "owner");
    server().post(spaced(space, "configmaps"), owned("child", text(owner, "metadata.uid")));
    if (!server().isEmbedded())
        QTest::qWait(2000);
    QCOMPARE(server()
                 .remove(spaced(space, "configmaps/owner"), R"({"propagationPolicy":"Orphan"})")
                 .code,
        200);
    QVERIFY(server().waitForCode(spaced(space, "configmaps/owner"), 404));
    const ApiAnswer child = server().get(spaced(space, "configmaps/child"));
    QCOMPARE(child.code, 200);
    QVERIFY(at(child.json(), "metadata.ownerReferences").isUndefined());
}

void tst_Contract::danglingOwner()
{
    const QByteArray space = server().newNamespace("dangling");
    const ApiAnswer made = server().post(spaced(space, "configmaps"),
        owned("child", QStringLiteral("00000000-0000-4000-8000-000000000000")));
    QCOMPARE(made.code, 201);
    QVERIFY(server().waitForCode(spaced(space, "configmaps/child"), 404));
}

void tst_Contract::namespaceDeletion()
{
    const QByteArray space = server().newNamespace("gone");
    makeConfigMap(space, "a");
    const ApiAnswer removed = server().remove("/api/v1/namespaces/" + space);
    QCOMPARE(removed.code, 200);
    QCOMPARE(text(removed, "status.phase"), QStringLiteral("Terminating"));
    QVERIFY(server().waitForCode("/api/v1/namespaces/" + space, 404));
    QCOMPARE(server().get(spaced(space, "configmaps/a")).code, 404);
}

void tst_Contract::terminatingNamespace()
{
    const QByteArray space = server().newNamespace("terminating");
    server().post(spaced(space, "configmaps"),
        R"({"metadata":{"name":"held","finalizers":["davit.dev/hold"]}})");
    makeConfigMap(space, "free");
    server().remove("/api/v1/namespaces/" + space);
    QVERIFY(server().waitForCode(spaced(space, "configmaps/free"), 404));
    QCOMPARE(text(server().get("/api/v1/namespaces/" + space), "status.phase"),
        QStringLiteral("Terminating"));
    const ApiAnswer refused = makeConfigMap(space, "new");
    QCOMPARE(refused.code, 403);
    QCOMPARE(refused.message(),
        QStringLiteral("configmaps \"new\" is forbidden: unable to create new content in namespace "
                       "%1 because it is being terminated")
            .arg(QString::fromUtf8(space)));
    QCOMPARE(text(refused, "details.causes.0.reason"), QStringLiteral("NamespaceTerminating"));
    server().patch(spaced(space, "configmaps/held"), kMerge, R"({"metadata":{"finalizers":null}})");
    QVERIFY(server().waitForCode("/api/v1/namespaces/" + space, 404));
}

void tst_Contract::deleteCollection()
{
    const QByteArray space = server().newNamespace("many");
    const QByteArray secrets = spaced(space, "secrets");
    for (const char *name : {"a", "b", "c"})
        server().post(secrets,
            R"({"metadata":{"name":")" + QByteArray(name) + R"(","labels":{"n":")" + name
                + R"("}}})");
    const ApiAnswer removed = server().remove(secrets + "?labelSelector=" + percent("n in (a,b)"));
    QCOMPARE(removed.code, 200);
    QCOMPARE(names(removed), (QStringList{QStringLiteral("a"), QStringLiteral("b")}));
    QCOMPARE(names(server().get(secrets)), QStringList{QStringLiteral("c")});
    const ApiAnswer dry = server().remove(
        secrets, R"({"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"]})");
    QCOMPARE(dry.code, 200);
    QCOMPARE(names(server().get(secrets)), QStringList{QStringLiteral("c")});
}
