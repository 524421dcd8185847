// The rows of the client contract about less common verbs, discovery, and the helpers that write.
#include "clientfixture.h"

#include <davit/conditions.h>
#include <davit/finalizers.h>
#include <davit/ownership.h>
#include <davit/writes.h>

#include <QTest>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qpromise.h>

using namespace davit;
using namespace std::chrono_literals;

namespace {

const Gvk kPod{QString(), QStringLiteral("v1"), QStringLiteral("Pod")};
const Gvk kAccount{QString(), QStringLiteral("v1"), QStringLiteral("ServiceAccount")};
const Gvk kCrd{QStringLiteral("apiextensions.k8s.io"), QStringLiteral("v1"),
    QStringLiteral("CustomResourceDefinition")};
const Gvk kGadget{
    QStringLiteral("later.davit.dev"), QStringLiteral("v1"), QStringLiteral("Gadget")};

const char kGadgetCrd[]
    = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"gadgets.later.davit.dev"},"spec":{"group":"later.davit.dev","scope":"Namespaced",
    "names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList","shortNames":["gg"],
    "categories":["later"]},"versions":[{"name":"v1","served":true,"storage":true,
    "subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
    "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
    "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";

Object labeled(const QByteArray &name, const char *row)
{
    return ObjectBuilder(configMap(name))
        .setLabel(QStringLiteral("row"), QString::fromLatin1(row))
        .build();
}

// No Pod without its service account on a real server.
Status makeAccount(const Client::Blocking &client)
{
    const Result<Object> account = client.create(parsed(
        R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default","namespace":"default"}})"));
    return account.isOk() || isAlreadyExists(account.error()) ? Status() : account.status();
}

// One that has a node, and so is not gone at once.
Status makePod(const Client::Blocking &client, const QByteArray &name)
{
    const Status account = makeAccount(client);
    if (!account.isOk())
        return account;
    return client
        .create(
            parsed(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":")"
                + name + R"("},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})"))
        .status();
}

// A ConfigMap whose dependent has a finalizer.
Status makeOwner(const Client::Blocking &client, const QByteArray &name)
{
    const Result<Object> owner = client.create(configMap(name));
    if (!owner.isOk())
        return owner.status();
    return client
        .create(parsed(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")"
            + name
            + R"(-child","finalizers":["davit.dev/hold"],"ownerReferences":[{"apiVersion":"v1",
            "kind":"ConfigMap","blockOwnerDeletion":true,"name":")"
            + name + R"(","uid":")" + owner.value().uid().toUtf8() + R"("}]}})"))
        .status();
}

RequestOptions selected(const char *row)
{
    return RequestOptions()
        .inNamespace(QStringLiteral("default"))
        .labelSelector(QStringLiteral("row=") + QString::fromLatin1(row));
}

} // namespace

void ClientContract::removeCollection()
{
    for (const char *name : {"many-x", "many-y"})
        DAVIT_VERIFY_OK(client().create(labeled(name, "collection")));
    DAVIT_VERIFY_OK(client().create(labeled("many-z", "other")));
    DAVIT_VERIFY_STATUS(client().removeCollection(kConfigMap, selected("collection").dryRun()));
    QCOMPARE(client().list(kConfigMap, selected("collection")).value().objects().size(), 2);
    DAVIT_VERIFY_STATUS(client().removeCollection(kConfigMap, selected("collection")));
    QCOMPARE(client().list(kConfigMap, selected("collection")).value().objects().size(), 0);
    QCOMPARE(client().list(kConfigMap, selected("other")).value().objects().size(), 1);
    QCOMPARE(client().removeCollection(kConfigMap).error().code(), ErrorCode::InvalidArgument);
}

void ClientContract::fieldValidation_data() // E-34
{
    QTest::addColumn<FieldValidation>("validation");
    QTest::addColumn<bool>("isRefused");
    QTest::newRow("field-default") << FieldValidation::Unset << false;
    QTest::newRow("field-ignore") << FieldValidation::Ignore << false;
    QTest::newRow("field-warn") << FieldValidation::Warn << false;
    QTest::newRow("field-strict") << FieldValidation::Strict << true;
}

void ClientContract::fieldValidation()
{
    QFETCH(const FieldValidation, validation);
    QFETCH(const bool, isRefused);
    const Object typo = ObjectBuilder(configMap(QTest::currentDataTag()))
                            .set({QStringLiteral("dta")}, QVariantMap())
                            .build();
    const Result<Object> created
        = client().create(typo, RequestOptions().fieldValidation(validation));
    QCOMPARE(created.isOk(), !isRefused);
    if (created.isOk()) {
        QVERIFY(created.value()[QLatin1StringView("dta")].isMissing());
        return;
    }
    QVERIFY(isBadRequest(created.error()));
    QVERIFY(created.error().message().contains(QStringLiteral("unknown field \"dta\"")));
}

// C-18: whatever says it, and however often.
void ClientContract::warnsOnce()
{
    const RequestOptions warn = RequestOptions().fieldValidation(FieldValidation::Warn);
    for (const char *name : {"warned-x", "warned-y"}) {
        const Object typo
            = ObjectBuilder(configMap(name)).set({QStringLiteral("warned")}, QVariantMap()).build();
        DAVIT_VERIFY_OK(client().create(typo, warn));
        DAVIT_VERIFY_OK(client().patch(
            kConfigMap, key(name), Patch::merge(R"({"data":{"b":"1"},"warned":{}})"), warn));
    }
    QCOMPARE(m_fixture->lines.seen.filter(QStringLiteral("warned")),
        QStringList{
            QStringLiteral("2|client|the API server warns|warning=unknown field \"warned\"")});
}

void ClientContract::deleteOptions_data() // E-34
{
    QTest::addColumn<Gvk>("gvk");
    QTest::addColumn<RequestOptions>("options");
    QTest::addColumn<QString>("kept"); // "grace period, finalizers" afterwards; empty: it is gone
    QTest::addColumn<bool>("isOfController"); // what keeps it
    const auto row = [](const char *name, const Gvk &gvk, const RequestOptions &options,
                         const char *kept, bool isOfController) {
        QTest::newRow(name) << gvk << options << QString::fromLatin1(kept) << isOfController;
    };
    const RequestOptions none;
    const RequestOptions seven = RequestOptions().gracePeriod(7s);
    const auto with
        = [](Propagation propagation) { return RequestOptions().propagation(propagation); };
    row("propagation-background", kConfigMap, with(Propagation::Background), "", false);
    row("propagation-foreground", kConfigMap, with(Propagation::Foreground), "0 foregroundDeletion",
        false);
    row("propagation-orphan", kConfigMap, with(Propagation::Orphan), "0 orphan", true);
    row("grace-unset", kPod, none, "30", true);
    row("grace-7-s", kPod, seven, "7", true);
    row("grace-0-s", kPod, RequestOptions().gracePeriod(0s), "", false);
}

// Of an object with a dependent that is not gone either: what the server says and what is left.
void ClientContract::deleteOptions()
{
    QFETCH(const Gvk, gvk);
    QFETCH(const RequestOptions, options);
    QFETCH(const QString, kept);
    QFETCH(const bool, isOfController);
    const QByteArray name = QTest::currentDataTag();
    if (gvk == kPod)
        DAVIT_VERIFY_STATUS(makePod(client(), name));
    else
        DAVIT_VERIFY_STATUS(makeOwner(client(), name));
    const Result<Object> removed = client().remove(gvk, key(name), options);
    DAVIT_VERIFY_OK(removed);
    const Result<Object> left = client().get(gvk, key(name));
    if (kept.isEmpty() || (isOfController && endsAtOnce())) {
        QCOMPARE(left.status().error().code(), ErrorCode::NotFound);
        return;
    }
    DAVIT_VERIFY_OK(left);
    QCOMPARE(removed.value().uid(), left.value().uid());
    const Value metadata = left.value()[QLatin1StringView("metadata")];
    QStringList found{
        QString::number(metadata[QLatin1StringView("deletionGracePeriodSeconds")].toInt())};
    for (qsizetype i = 0; i < metadata[QLatin1StringView("finalizers")].size(); ++i)
        found << metadata[QLatin1StringView("finalizers")].at(i).toString();
    QVERIFY(left.value().isBeingDeleted());
    QCOMPARE(found.join(u' '), kept);
}

void ClientContract::scale()
{
    DAVIT_VERIFY_OK(client().create(deployment("scaled")));
    const Result<Object> read = client().getScale(kDeployment, key("scaled"));
    DAVIT_VERIFY_OK(read);
    QCOMPARE(read.value().gvk().kind, QStringLiteral("Scale"));
    QCOMPARE(replicasIn(read.value(), "spec"), qint64(1));
    const Object three = ObjectBuilder(read.value())
                             .set({QStringLiteral("spec"), QStringLiteral("replicas")}, 3)
                             .build();
    const Result<Object> updated = client().updateScale(kDeployment, key("scaled"), three);
    DAVIT_VERIFY_OK(updated);
    QCOMPARE(replicasIn(updated.value(), "spec"), qint64(3));
    const Result<Object> stale = client().updateScale(kDeployment, key("scaled"), three);
    QVERIFY(isConflict(stale.status().error()));
    const Result<Object> patched = client().patchScale(
        kDeployment, key("scaled"), Patch::merge(R"({"spec":{"replicas":0}})"));
    DAVIT_VERIFY_OK(patched);
    QCOMPARE(replicasIn(client().get(kDeployment, key("scaled")).value(), "spec"), qint64(0));
}

void ClientContract::eviction()
{
    DAVIT_VERIFY_STATUS(makeAccount(client()));
    const Result<Object> pod = client().create(parsed(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"evicted","namespace":"default","labels":{"app":"evicted"}},
        "spec":{"containers":[{"name":"c","image":"i"}]}})"));
    DAVIT_VERIFY_OK(pod);
    DAVIT_VERIFY_OK(client().updateStatus(
        ObjectBuilder(pod.value())
            .set({QStringLiteral("status"), QStringLiteral("phase")}, QStringLiteral("Running"))
            .build()));
    const Result<Object> budget = client().create(parsed(
        R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"evicted","namespace":"default"},
        "spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"evicted"}}}})"));
    DAVIT_VERIFY_OK(budget);
    const auto allowed = [&](int disruptions) {
        return client().patch(budget.value().gvk(), key("evicted"),
            Patch::merge(R"({"status":{"observedGeneration":1,"disruptionsAllowed":)"
                + QByteArray::number(disruptions)
                + R"(,"currentHealthy":0,"desiredHealthy":1,"expectedPods":1}})"),
            RequestOptions().subresource(QStringLiteral("status")));
    };
    const auto evict = [&] {
        const Object body = parsed(
            R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"evicted","namespace":"default"}})");
        return client().createSubresource(kPod, key("evicted"), QStringLiteral("eviction"), body);
    };
    DAVIT_VERIFY_OK(allowed(0));
    const Result<Object> refused = evict();
    QVERIFY(isTooManyRequests(refused.status().error()));
    QCOMPARE(refused.error().causes().value(0).reason, QStringLiteral("DisruptionBudget"));
    DAVIT_VERIFY_OK(client().get(kPod, key("evicted")));
    DAVIT_VERIFY_OK(allowed(1));
    const Result<Object> done = evict();
    DAVIT_VERIFY_OK(done);
    QCOMPARE(done.value().gvk().kind, QStringLiteral("Status"));
    QVERIFY(isNotFound(client().get(kPod, key("evicted")).status().error()));
    const Result<Object> left = client().get(budget.value().gvk(), key("evicted"));
    DAVIT_VERIFY_OK(left);
    QCOMPARE(
        left.value()[QLatin1StringView("status")][QLatin1StringView("disruptionsAllowed")].toInt(),
        qint64(0)); // it paid for it
}

void ClientContract::token()
{
    DAVIT_VERIFY_OK(client().create(parsed(
        R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"robot","namespace":"default"}})")));
    const Object request = parsed(
        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}})");
    const Result<Object> made
        = client().createSubresource(kAccount, key("robot"), QStringLiteral("token"), request);
    DAVIT_VERIFY_OK(made);
    QVERIFY(!made.value()[QLatin1StringView("status")][QLatin1StringView("token")]
                 .toString()
                 .isEmpty());
}

void ClientContract::metadataOnly()
{
    DAVIT_VERIFY_OK(client().create(labeled("partial", "partial")));
    const RequestOptions metadata = RequestOptions().payload(Payload::Metadata);
    const Result<Object> one = client().get(kConfigMap, key("partial"), metadata);
    DAVIT_VERIFY_OK(one);
    const Result<ListReply> all
        = client().list(kConfigMap, selected("partial").payload(Payload::Metadata));
    DAVIT_VERIFY_OK(all);
    QCOMPARE(all.value().objects().size(), 1);
    for (const Object &object : {one.value(), all.value().objects()[0]}) {
        QVERIFY(object.gvk() == kConfigMap);
        QVERIFY(object.isMetadataOnly());
        QVERIFY(object[QLatin1StringView("data")].isMissing());
        QCOMPARE(object.label(QLatin1StringView("row")), QStringLiteral("partial"));
    }
}

void ClientContract::tables()
{
    for (const char *name : {"row-a", "row-b", "row-c"})
        DAVIT_VERIFY_OK(client().create(labeled(name, "tables")));
    const Result<Table> table = client().table(kConfigMap, selected("tables").limit(2));
    DAVIT_VERIFY_OK(table);
    QStringList columns;
    for (qsizetype i = 0; i < table.value().columnCount(); ++i)
        columns += table.value().column(i)[QLatin1StringView("name")].toString();
    QCOMPARE(columns,
        (QStringList{QStringLiteral("Name"), QStringLiteral("Data"), QStringLiteral("Age")}));
    QCOMPARE(table.value().rowCount(), 2);
    QCOMPARE(table.value().cell(0, 0).toString(), QStringLiteral("row-a"));
    QCOMPARE(table.value().cell(0, 1).toInt(), qint64(1));
    QCOMPARE(table.value()
                 .rowObject(1)[QLatin1StringView("metadata")][QLatin1StringView("name")]
                 .toString(),
        QStringLiteral("row-b"));
    const Result<Table> rest = client().table(
        kConfigMap, selected("tables").limit(2).continueToken(table.value().continueToken()));
    DAVIT_VERIFY_OK(rest);
    QCOMPARE(rest.value().rowCount(), 1);
    QVERIFY(rest.value().continueToken().isEmpty());
}

void ClientContract::rawPaths()
{
    const Result<QByteArray> version = client().getRaw("/version");
    DAVIT_VERIFY_OK(version);
    QCOMPARE(
        QJsonDocument::fromJson(version.value()).object()[QLatin1StringView("minor")].toString(),
        QStringLiteral("37"));
    DAVIT_VERIFY_OK(client().create(configMap("raw")));
    const Result<QByteArray> object
        = client().getRaw("/api/v1/namespaces/default/configmaps/raw?pretty=false");
    DAVIT_VERIFY_OK(object);
    QCOMPARE(parsed(object.value()).name(), QStringLiteral("raw"));
    DAVIT_VERIFY_OK(client().getRaw("/livez"));
    QVERIFY(isNotFound(client().getRaw("/nowhere").status().error()));
    const Client::Blocking limited = m_fixture->limited.blocking();
    DAVIT_VERIFY_OK(limited.getRaw("/api/v1/namespaces/default/configmaps/raw"));
    QCOMPARE(limited.getRaw("/version").status().error().code(), ErrorCode::MissingRbac);
}

namespace {
QString found(davit::client::RestMapper &mapper, const QString &name, bool isCategory = false)
{
    const auto promise = std::make_shared<QPromise<QString>>();
    promise->start();
    const auto answer = [promise](const Result<std::vector<davit::client::ApiResource>> &result) {
        QStringList names;
        if (result.isOk())
            for (const davit::client::ApiResource &entry : result.value())
                names += entry.resource.plural + QLatin1Char('.') + apiVersion(entry.resource.gvk);
        promise->addResult(result.isOk() ? names.join(QLatin1Char(' '))
                                         : QString(errorCodeName(result.error().code())));
        promise->finish();
    };
    if (isCategory)
        mapper.category(name, answer);
    else
        mapper.find(name, answer);
    return promise->future().result();
}
} // namespace

void ClientContract::names_data()
{
    QTest::addColumn<QString>("first"); // of what is found
    const auto row = [](const char *name, const char *first) {
        QTest::newRow(name) << QString::fromLatin1(first);
    };
    row("configmaps", "configmaps.v1");
    row("cm", "configmaps.v1");
    row("ConfigMap", "configmaps.v1");
    row("deploy", "deployments.apps/v1");
    row("deployments.apps", "deployments.apps/v1");
    row("deployment.v1.apps", "deployments.apps/v1");
    row("crd", "customresourcedefinitions.apiextensions.k8s.io/v1");
    row("events", "events.v1"); // before those of events.k8s.io
    row("nothings", "KindNotServed");
}

void ClientContract::names()
{
    const QString names = found(m_fixture->mapper, QString::fromLatin1(QTest::currentDataTag()));
    QTEST(names.section(QLatin1Char(' '), 0, 0), "first");
    const QStringList all
        = found(m_fixture->mapper, QStringLiteral("all"), true).split(QLatin1Char(' '));
    for (const char *name : {"pods.v1", "services.v1", "deployments.apps/v1"})
        QVERIFY2(all.contains(QLatin1StringView(name)), name);
    QVERIFY(!all.contains(QStringLiteral("configmaps.v1")));
}

void ClientContract::laterKind() // a kind that appears later, by a CRD, is found
{
    const Object gadget = ObjectBuilder(kGadget, key("g")).build();
    QCOMPARE(client().create(gadget).status().error().code(), ErrorCode::KindNotServed);
    QCOMPARE(found(m_fixture->mapper, QStringLiteral("gg")), QStringLiteral("KindNotServed"));
    DAVIT_VERIFY_OK(client().create(parsed(kGadgetCrd)));
    // The real server takes a moment until it serves a definition.
    const auto isThere = [&] {
        const Result<Object> made = client().create(gadget);
        return made.isOk() || isAlreadyExists(made.error());
    };
    QTRY_VERIFY_WITH_TIMEOUT(isThere(), 60000);
    QTRY_COMPARE_WITH_TIMEOUT(found(m_fixture->mapper, QStringLiteral("gg")),
        QStringLiteral("gadgets.later.davit.dev/v1"), 60000);
    QCOMPARE(found(m_fixture->mapper, QStringLiteral("later"), true),
        QStringLiteral("gadgets.later.davit.dev/v1"));
    // E-30
    const Result<Object> strategic
        = client().patch(kGadget, key("g"), Patch::strategicMerge(R"({"spec":{"size":1}})"));
    QVERIFY(isUnsupportedMediaType(strategic.status().error()));
    DAVIT_VERIFY_OK(client().remove(kCrd, {QString(), QStringLiteral("gadgets.later.davit.dev")}));
    QTRY_VERIFY_WITH_TIMEOUT(!client().get(kGadget, key("g")).isOk(), 60000);
}

void ClientContract::writeHelpers() // E-16, E-25, E-26
{
    const auto write = [&](int size) {
        return createOrUpdate(client(), kDeployment, key("helped"), [&](const Object &seen) {
            const Object full = seen.uid().isEmpty() ? deployment("helped") : seen;
            return ObjectBuilder(full)
                .set({QStringLiteral("spec"), QStringLiteral("replicas")}, size)
                .build();
        });
    };
    const Result<Written> created = write(1);
    DAVIT_VERIFY_OK(created);
    QCOMPARE(created.value().result, OperationResult::Created);
    QCOMPARE(write(1).value().result, OperationResult::Unchanged);
    const Result<Written> updated = write(2);
    DAVIT_VERIFY_OK(updated);
    QCOMPARE(updated.value().result, OperationResult::Updated);
    QCOMPARE(replicasIn(updated.value().object, "spec"), qint64(2));

    const auto patch = [&](int replicas, int ready) {
        return createOrPatch(client(), kDeployment, key("helped"), [=](const Object &seen) {
            return ObjectBuilder(seen)
                .set({QStringLiteral("spec"), QStringLiteral("replicas")}, replicas)
                .set({QStringLiteral("status"), QStringLiteral("replicas")}, ready)
                .build();
        });
    };
    QCOMPARE(patch(2, 4).value().result, OperationResult::UpdatedStatusOnly);
    QCOMPARE(patch(2, 4).value().result, OperationResult::Unchanged);
    QCOMPARE(patch(3, 5).value().result, OperationResult::UpdatedStatus);
    const Result<Object> now = client().get(kDeployment, key("helped"));
    DAVIT_VERIFY_OK(now);
    QCOMPARE(replicasIn(now.value(), "spec"), qint64(3));
    QCOMPARE(replicasIn(now.value(), "status"), qint64(5));

    Object stale = now.value(); // of before the next write
    DAVIT_VERIFY_OK(write(4));
    int tries = 0;
    const Result<Object> retried = retryOnConflict(kDefaultRetry, Clock(), [&]() -> Result<Object> {
        if (++tries > 1)
            stale = client().get(kDeployment, key("helped")).value();
        return client().update(
            ObjectBuilder(stale).setLabel(QStringLiteral("tried"), QStringLiteral("yes")).build());
    });
    DAVIT_VERIFY_OK(retried);
    QCOMPARE(tries, 2);
}

void ClientContract::finalizersBesideOthers() // B54
{
    const QString ours = QStringLiteral("davit.dev/ours");
    const QString theirs = QStringLiteral("other.example/hold");
    const Result<Object> created = client().create(configMap("held"));
    DAVIT_VERIFY_OK(created);
    Object other = created.value();
    DAVIT_VERIFY_STATUS(ensureFinalizer(m_fixture->contract, &other, theirs));
    Object known = created.value(); // older than the other one's write
    DAVIT_VERIFY_STATUS(ensureFinalizer(m_fixture->contract, &known, ours));
    QVERIFY(containsFinalizer(known, theirs) && containsFinalizer(known, ours));
    DAVIT_VERIFY_OK(client().remove(kConfigMap, key("held")));
    QCOMPARE(ensureFinalizer(m_fixture->contract, &known, QStringLiteral("davit.dev/new"))
                 .error()
                 .code(),
        ErrorCode::Invalid); // it is being deleted
    DAVIT_VERIFY_STATUS(releaseFinalizer(m_fixture->contract, other, theirs));
    DAVIT_VERIFY_STATUS(releaseFinalizer(m_fixture->contract, known, ours));
    QVERIFY(isNotFound(client().get(kConfigMap, key("held")).status().error()));
    DAVIT_VERIFY_STATUS(releaseFinalizer(m_fixture->contract, known, ours)); // gone is fine
}

void ClientContract::ownersAndConditions()
{
    const Result<Object> owner = client().create(deployment("owner"));
    DAVIT_VERIFY_OK(owner);
    Object owned = configMap("owned");
    DAVIT_VERIFY_STATUS(setControllerReference(owner.value(), &owned));
    const Result<Object> created = client().create(owned);
    DAVIT_VERIFY_OK(created);
    QVERIFY(isControlledBy(owner.value(), created.value()));
    Object changed = owner.value();
    const QString type = QStringLiteral("Available");
    QVERIFY(setStatusCondition(&changed,
        {type, QStringLiteral("True"), QStringLiteral("Fine"), QStringLiteral("all is well")}));
    const Result<Object> status = client().updateStatus(changed);
    DAVIT_VERIFY_OK(status);
    QVERIFY(isStatusConditionTrue(status.value(), type));
    changed = status.value();
    QVERIFY(!setStatusCondition(&changed,
        {type, QStringLiteral("True"), QStringLiteral("Fine"), QStringLiteral("all is well")}));
}
