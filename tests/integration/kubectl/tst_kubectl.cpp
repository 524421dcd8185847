// kubectl as people use it, on the embedded API server: every row is one command of one story, in
// order; each asserts exit code and output.
#include <testing/embeddedapiserver.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

namespace {

const char *const kObjects = R"(apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {app: web}
data:
  mode: "on"
  port: "8080"
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: main
        image: example/web:1
        env:
        - {name: A, value: "1"}
)";

const char *const kCrd = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.demo.example
spec:
  group: demo.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

const char *const kWidget = R"(apiVersion: demo.example/v1
kind: Widget
metadata:
  name: big
spec:
  size: 3
)";

struct Run
{
    int exitCode = -1;
    QString out;
    QString err;
};

QString findKubectl()
{
    const QString cache = QDir::homePath() + QStringLiteral("/.cache/davit/controlplane");
    QStringList places{qEnvironmentVariable("DAVIT_KUBECTL"),
        qEnvironmentVariable("KUBEBUILDER_ASSETS") + QStringLiteral("/kubectl")};
    for (const QString &version :
        QDir(cache).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name | QDir::Reversed))
        places.append(cache + QLatin1Char('/') + version + QStringLiteral("/kubectl"));
    for (const QString &place : places)
        if (QFileInfo(place).isExecutable() && QFileInfo(place).isFile())
            return place;
    return QStandardPaths::findExecutable(QStringLiteral("kubectl"));
}

} // namespace

class tst_Kubectl : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void story_data();
    void story();
    void watchPrintsEvents();
    void waitForDelete();
    void yamlRoundTrip();

private:
    void start(QProcess &process, const QStringList &arguments) const;
    Run run(const QString &commandLine) const;

    davit::testing::EmbeddedApiServer m_server;
    QTemporaryDir m_folder;
    QString m_kubectl;
};

void tst_Kubectl::initTestCase()
{
    m_kubectl = findKubectl();
    QVERIFY2(
        !m_kubectl.isEmpty(), "no kubectl: tests/controlplane builds one, or set DAVIT_KUBECTL");
    QVERIFY(m_server.start().isOk());
    QVERIFY(m_server.writeKubeconfig(m_folder.filePath(QStringLiteral("kubeconfig"))).isOk());
    for (const auto &[name, text] : {std::pair("objects.yaml", kObjects),
             std::pair("crd.yaml", kCrd), std::pair("widget.yaml", kWidget)}) {
        QFile file(m_folder.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
}

void tst_Kubectl::start(QProcess &process, const QStringList &arguments) const
{
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(
        QStringLiteral("KUBECONFIG"), m_folder.filePath(QStringLiteral("kubeconfig")));
    environment.insert(QStringLiteral("HOME"), m_folder.path()); // its discovery cache
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(m_folder.path());
    process.start(m_kubectl, arguments);
}

Run tst_Kubectl::run(const QString &commandLine) const
{
    QProcess process;
    start(process, QProcess::splitCommand(commandLine));
    if (!process.waitForFinished(60000))
        return {};
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
        QString::fromUtf8(process.readAllStandardError())};
}

// `want`: lines that stdout and stderr together must have, by their words; * is any one word.
// NOLINTNEXTLINE(readability-function-size): a table
void tst_Kubectl::story_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("want");
    const auto row
        = [](const char *command, std::initializer_list<const char *> lines, int exitCode = 0) {
              QStringList want;
              for (const char *line : lines)
                  want.append(QString::fromUtf8(line));
              QTest::addRow("%s", command) << QString::fromUtf8(command) << exitCode << want;
          };
    row("api-resources",
        {"configmaps cm v1 true ConfigMap", "deployments deploy apps/v1 true Deployment",
            "namespaces ns v1 false Namespace"});
    row("api-versions", {"v1", "apps/v1", "coordination.k8s.io/v1"});
    row("get namespaces",
        {"NAME STATUS AGE", "default Active *", "kube-system Active *", "kube-public Active *",
            "kube-node-lease Active *"});
    row("create -f objects.yaml", {"configmap/settings created", "deployment.apps/web created"});
    row("create -f objects.yaml --validate=false",
        {"Error from server (AlreadyExists): error when creating \"objects.yaml\": configmaps "
         "\"settings\" already exists"},
        1);
    row("get configmaps", {"NAME DATA AGE", "settings 2 *"});
    row("get cm,deploy -A",
        {"NAMESPACE NAME DATA AGE", "default configmap/settings 2 *",
            "default deployment.apps/web 0/2 0 0 *"});
    row("get cm -l app=web", {"settings 2 *"});
    row("get cm -l app!=web", {"No resources found in default namespace."});
    row("get cm -l app", {"settings 2 *"});
    row("get cm settings -o jsonpath={.data.port}", {"8080"});
    row("get cm nothing", {"Error from server (NotFound): configmaps \"nothing\" not found"}, 1);
    row("delete -f objects.yaml",
        {"configmap \"settings\" deleted from default namespace",
            "deployment.apps \"web\" deleted from default namespace"});
    row("apply -f objects.yaml", {"configmap/settings created", "deployment.apps/web created"});
    row("apply -f objects.yaml --overwrite",
        {"configmap/settings unchanged", "deployment.apps/web unchanged"});
    row("diff -f objects.yaml", {});
    row("apply --server-side -f objects.yaml",
        {"configmap/settings serverside-applied", "deployment.apps/web serverside-applied"});
    row("apply --server-side -f objects.yaml --field-manager=kubectl",
        {"configmap/settings serverside-applied", "deployment.apps/web serverside-applied"});
    row("annotate cm settings note=hello", {"configmap/settings annotated"});
    row("get cm settings -o jsonpath={.metadata.annotations.note}", {"hello"});
    row("annotate cm settings note-", {"configmap/settings annotated"});
    row("label cm settings tier=one", {"configmap/settings labeled"});
    row("label cm settings tier=two",
        {"error: 'tier' already has a value (one), and --overwrite is false"}, 1);
    row("label cm settings tier=two --overwrite", {"configmap/settings labeled"});
    row("get cm -l tier=two", {"settings 2 *"});
    row("patch cm settings -p {\"data\":{\"extra\":\"1\"}}", {"configmap/settings patched"});
    row("patch cm settings --type=merge -p {\"data\":{\"extra\":null}}",
        {"configmap/settings patched"});
    row("patch deploy web --type=json -p "
        "[{\"op\":\"replace\",\"path\":\"/spec/paused\",\"value\":true}]",
        {"The request is invalid: the server rejected our request due to an error in our request"},
        1);
    row("patch deploy web --type=json -p "
        "[{\"op\":\"add\",\"path\":\"/spec/paused\",\"value\":true}]",
        {"deployment.apps/web patched"});
    row("scale deploy web --replicas=5", {"deployment.apps/web scaled"});
    row("scale deploy web --replicas=6 --current-replicas=9",
        {"error: Expected replicas to be 9, was 5"}, 1);
    row("get deploy web", {"web 0/5 0 0 *"});
    row("set image deploy/web main=example/web:2", {"deployment.apps/web image updated"});
    row("get deploy web -o jsonpath={.spec.template.spec.containers[0].image}", {"example/web:2"});
    row("apply -f crd.yaml",
        {"customresourcedefinition.apiextensions.k8s.io/widgets.demo.example created"});
    row("wait --for=condition=established crd/widgets.demo.example --timeout=10s",
        {"customresourcedefinition.apiextensions.k8s.io/widgets.demo.example condition met"});
    row("api-resources --api-group=demo.example", {"widgets wd demo.example/v1 true Widget"});
    row("apply -f widget.yaml", {"widget.demo.example/big created"});
    row("apply -f widget.yaml --overwrite=true", {"widget.demo.example/big unchanged"});
    row("get wd", {"NAME SIZE", "big 3"});
    row("scale widget big --replicas=4", {"widget.demo.example/big scaled"});
    row("get widget big -o jsonpath={.spec.replicas}", {"4"});
    row("describe cm settings", {"Name: settings", "Namespace: default"});
    row("delete widget big", {"widget.demo.example \"big\" deleted from default namespace"});
    row("delete cm -l app=web", {"configmap \"settings\" deleted from default namespace"});
    row("delete deploy web --cascade=foreground --timeout=20s",
        {"deployment.apps \"web\" deleted from default namespace"});
    row("delete crd widgets.demo.example",
        {"customresourcedefinition.apiextensions.k8s.io \"widgets.demo.example\" deleted"});
    row("create namespace team-a", {"namespace/team-a created"});
    row("create configmap typed -n team-a --from-literal=k=v", {"configmap/typed created"});
    row("get cm typed -n team-a -o jsonpath={.data.k}", {"v"});
    row("create secret generic typed -n team-a --from-literal=k=v", {"secret/typed created"});
    row("get secret typed -n team-a -o jsonpath={.data.k}{.type}", {"dg==Opaque"});
    row("create serviceaccount typed -n team-a", {"serviceaccount/typed created"});
    row("run typed -n team-a --image=example/web:1", {"pod/typed created"});
    row("get pod typed -n team-a", {"NAME READY STATUS RESTARTS AGE", "typed 0/1 Pending 0 *"});
    row("delete namespace team-a", {"namespace \"team-a\" deleted"});
    row("get all,cm -n team-a", {"No resources found in team-a namespace."});
    row("get wd --request-timeout=5s",
        {"Error from server (NotFound): Unable to list \"demo.example/v1, Resource=widgets\": the "
         "server could not find the requested resource"},
        1);
    row("delete namespace default",
        {"Error from server (Forbidden): namespaces \"default\" is forbidden: this namespace may "
         "not be deleted"},
        1);
}

void tst_Kubectl::story()
{
    QFETCH(const QString, command);
    QFETCH(const int, exitCode);
    QFETCH(const QStringList, want);
    // Braces and quotes of patches are arguments as they stand.
    QProcess process;
    start(process, command.split(QLatin1Char(' ')));
    QVERIFY(process.waitForFinished(60000));
    const QString all
        = QString::fromUtf8(process.readAllStandardOutput() + process.readAllStandardError());
    QVERIFY2(process.exitCode() == exitCode, qPrintable(all));
    QStringList lines;
    for (const QString &line : all.split(QLatin1Char('\n')))
        lines.append(line.simplified());
    for (const QString &line : want) {
        const QRegularExpression pattern(QRegularExpression::anchoredPattern(
            QRegularExpression::escape(line).replace(QLatin1String("\\*"), QLatin1String("\\S+"))));
        QVERIFY2(
            lines.indexOf(pattern) >= 0, qPrintable(line + QLatin1String(" is not in:\n") + all));
    }
}

void tst_Kubectl::watchPrintsEvents()
{
    QProcess watch;
    start(watch, {QStringLiteral("get"), QStringLiteral("cm"), QStringLiteral("-w")});
    QVERIFY(QTest::qWaitFor([&] { return m_server.openWatches() > 0; }, 20000));
    const auto put = [this](const QByteArray &data) {
        return m_server
            .put(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"seen"},"data":)"
                + data + "}")
            .isOk();
    };
    QVERIFY(put(R"({"a":"1"})"));
    QVERIFY(put(R"({"a":"1","b":"2"})"));
    QByteArray out;
    const bool hasBoth = QTest::qWaitFor(
        [&] {
            out += watch.readAllStandardOutput();
            return out.count("seen") >= 2;
        },
        20000);
    watch.kill();
    watch.waitForFinished();
    QVERIFY2(hasBoth, out.constData());
    const QStringList lines = QString::fromUtf8(out).trimmed().split(QLatin1Char('\n'));
    QCOMPARE(lines.size(), 3); // one header
    QCOMPARE(lines[1].simplified().left(6), QStringLiteral("seen 1"));
    QCOMPARE(lines[2].simplified().left(6), QStringLiteral("seen 2"));
}

void tst_Kubectl::waitForDelete()
{
    QVERIFY(
        m_server
            .put(
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"going","finalizers":["davit.dev/hold"]}})")
            .isOk());
    QTRY_COMPARE_WITH_TIMEOUT(m_server.openWatches(), 0, 20000); // those of rows before
    QProcess wait;
    start(wait,
        {QStringLiteral("wait"), QStringLiteral("--for=delete"), QStringLiteral("cm/going"),
            QStringLiteral("--timeout=120s")});
    QVERIFY(QTest::qWaitFor([&] { return m_server.openWatches() > 0; }, 20000));
    QCOMPARE(run(QStringLiteral("delete cm going --wait=false")).exitCode, 0);
    QVERIFY2(wait.state() == QProcess::Running, // the finalizer holds it
        (wait.readAllStandardOutput() + wait.readAllStandardError()).constData());
    const auto freed = m_server.request("PATCH", "/api/v1/namespaces/default/configmaps/going",
        R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
    QCOMPARE(freed.httpStatus, 200);
    QVERIFY(wait.waitForFinished(60000));
    QCOMPARE(QString::fromUtf8(wait.readAllStandardOutput()).simplified(),
        QStringLiteral("configmap/going condition met"));
    QCOMPARE(wait.exitCode(), 0);
}

void tst_Kubectl::yamlRoundTrip()
{
    QVERIFY(
        m_server
            .put(
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"round"},"data":{"text":"two\nlines","yes":"no","n":"1"}})")
            .isOk());
    const Run read = run(QStringLiteral("get cm round -o yaml"));
    QCOMPARE(read.exitCode, 0);
    QVERIFY2(read.out.contains(QLatin1String("kind: ConfigMap\n")), qPrintable(read.out));
    QFile file(m_folder.filePath(QStringLiteral("round.yaml")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(read.out.toUtf8());
    file.close();
    const Run replaced = run(QStringLiteral("replace -f round.yaml"));
    QVERIFY2(replaced.exitCode == 0, qPrintable(replaced.err));
    const QByteArray now
        = m_server.request("GET", "/api/v1/namespaces/default/configmaps/round").body;
    const QJsonObject data
        = QJsonDocument::fromJson(now).object()[QLatin1String("data")].toObject();
    QCOMPARE(data,
        (QJsonObject{{QStringLiteral("n"), QStringLiteral("1")},
            {QStringLiteral("text"), QStringLiteral("two\nlines")},
            {QStringLiteral("yes"), QStringLiteral("no")}}));
}

QTEST_GUILESS_MAIN(tst_Kubectl)
#include "tst_kubectl.moc"
