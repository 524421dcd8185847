// What people type first, against both servers: each row is a short story of kubectl in a namespace
// of its own, run on the real API server and on the embedded one.
#include "controlplane.h"

#include <testing/embeddedapiserver.h>

#include <QDir>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>
#include <csignal>

using namespace Qt::StringLiterals;

// One command and what it has to do.
struct Step
{
    enum class Run : quint8 {
        ToTheEnd,
        Beside, // started, and left running for the next steps
        EndBeside, // no command: waits for the one beside until it ends by itself
        StopBeside // no command: waits for its output, then interrupts it
    };

    QString command; // arguments, split at spaces
    QString output; // pattern that standard output and error together have to match
    int exitCode = 0;
    QByteArray input;
    Run run = Run::ToTheEnd;
};
using Steps = std::vector<Step>;

class tst_KubectlStories : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void story_data();
    void story();

private:
    QStringList arguments(const QString &command) const;
    void take(const Step &step);

    ControlPlane m_real;
    davit::testing::EmbeddedApiServer m_embedded;
    QTemporaryDir m_folder; // kubeconfig of the embedded one, caches of kubectl
    QString m_kubeconfig;
    QString m_cacheDir;
    QString m_namespace;
    std::unique_ptr<QProcess> m_beside;
    int m_stories = 0;
};

static const char kConfigMap[] = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {tier: front}}
data: {colour: blue}
)";
static const char kConfigMapRed[] = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {tier: front}}
data: {colour: red}
)";
static const char kOther[]
    = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}})";
static const char kDeployment[] = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "example.davit.dev/web:1"}]
)";

static Step run(const char *command, const char *output, int exitCode = 0)
{
    return {QString::fromLatin1(command), QString::fromLatin1(output), exitCode, {}, {}};
}
static Step feed(const char *command, const QByteArray &input, const char *output, int exitCode = 0)
{
    return {QString::fromLatin1(command), QString::fromLatin1(output), exitCode, input, {}};
}
static Step beside(const char *command)
{
    return {QString::fromLatin1(command), {}, 0, {}, Step::Run::Beside};
}
static Step endBeside(const char *output)
{
    return {{}, QString::fromLatin1(output), 0, {}, Step::Run::EndBeside};
}
static Step stopBeside(const char *output)
{
    return {{}, QString::fromLatin1(output), 0, {}, Step::Run::StopBeside};
}

void tst_KubectlStories::initTestCase()
{
    QVERIFY2(m_real.start(ControlPlane::ControllerManager::Yes), qPrintable(m_real.errorText()));
    const davit::Status started = m_embedded.start();
    QVERIFY2(started.isOk(), qPrintable(started.error().message()));
    QVERIFY(m_embedded.writeKubeconfig(m_folder.filePath(QStringLiteral("embedded"))).isOk());
}

using Row = std::pair<const char *, Steps>;

static std::vector<Row> readRows()
{
    return {
        {"api-resources",
            {run("api-resources", "(?m)^configmaps +cm +v1 +true +ConfigMap *$"),
                run("api-resources", "(?m)^deployments +deploy +apps/v1 +true +Deployment *$"),
                run("api-resources", "(?m)^namespaces +ns +v1 +false +Namespace *$")}},
        {"create -f",
            {feed("create -f -", kConfigMap, "configmap/settings created"),
                feed("create -f -", kDeployment, "deployment.apps/web created"),
                feed("create -f -", kConfigMap, "AlreadyExists", 1)}},
        {"get, as a table and -o yaml",
            {feed("create -f -", kConfigMap, "created"),
                run("get configmap settings", "NAME +DATA +AGE\\s+settings +1 +"),
                run("get cm settings -o yaml", "(?s)colour: blue.*kind: ConfigMap"),
                run("get cm absent", "\\(NotFound\\).*\"absent\" not found", 1)}},
        {"get -l and -A",
            {feed("create -f -", kConfigMap, "created"), feed("create -f -", kOther, "created"),
                run("get cm -l tier=front -o name", "\\Aconfigmap/settings\\n\\z"),
                run("get cm -l tier!=front,absent -o name", "\\A\\z"),
                run("get cm -A -l tier=front", "(?m)^NAMESPACE +NAME +DATA +AGE *$")}},
        {"get -A without -l",
            {feed("create -f -", kConfigMap, "created"),
                feed("create -f - --namespace=default", kOther, "created"),
                run("get cm -A",
                    "(?s)\\ANAMESPACE +NAME +DATA +AGE *\n(.*\n)?default +other +0 .*\n"
                    "story-\\d+ +settings +1 "),
                run("delete cm other --namespace=default", "deleted"),
                run("get cm --namespace=default -o "
                    "jsonpath={.items[?(@.metadata.name==\"other\")].kind}",
                    "\\A\\z")}},
        {"get -w, its events",
            {feed("create -f -", kConfigMap, "created"), beside("get cm -w --output-watch-events"),
                feed("create -f -", kOther, "created"),
                run("patch cm other --type merge -p {\"data\":{\"a\":\"1\"}}", "patched"),
                run("delete cm other", "deleted"),
                stopBeside("(?s)EVENT +NAME +DATA +AGE *\n.*ADDED +settings +1 .*ADDED +other +0 "
                           ".*MODIFIED +other +1 .*DELETED +other +1 ")}},
        {"get -w, what the objects hold",
            {feed("create -f -", kConfigMap, "created"),
                beside("get cm settings -w -o jsonpath={.kind}/{.data.colour};"),
                feed("apply -f -", kConfigMapRed, "configured"),
                stopBeside("\\AConfigMap/blue;ConfigMap/red;\\z")}},
        {"wait --for=delete",
            {feed("create -f -", kConfigMap, "created"),
                beside("wait --for=delete cm/settings --timeout=30s"),
                run("delete cm settings", "configmap \"settings\" deleted"),
                endBeside("configmap/settings condition met")}},
    };
}

static std::vector<Row> writeRows()
{
    return {
        {"apply -f, twice and changed",
            {feed("apply -f -", kConfigMap, "configmap/settings created"),
                feed("apply -f -", kConfigMap, "configmap/settings unchanged"),
                feed("apply -f -", kConfigMapRed, "configmap/settings configured"),
                run("get cm settings -o jsonpath={.data.colour}", "\\Ared\\z"),
                feed("apply -f -", kDeployment, "deployment.apps/web created"),
                feed("apply -f -", kDeployment, "deployment.apps/web unchanged")}},
        {"apply --server-side",
            {feed("apply --server-side -f -", kConfigMap, "settings serverside-applied"),
                feed("apply --server-side -f - --field-manager=other", kConfigMapRed,
                    "conflict with \"kubectl\"", 1),
                feed("apply --server-side -f - --field-manager=other --force-conflicts",
                    kConfigMapRed, "settings serverside-applied"),
                run("get cm settings -o jsonpath={.data.colour}", "\\Ared\\z")}},
        {"annotate and label",
            {feed("create -f -", kConfigMap, "created"),
                run("annotate cm settings note=hello", "settings annotated"),
                run("annotate cm settings note=again", "note", 1),
                run("label cm settings tier=back --overwrite", "settings labeled"),
                run("get cm settings -o jsonpath={.metadata.annotations.note},{.metadata.labels}",
                    "\\Ahello,\\{\"tier\":\"back\"\\}\\z"),
                run("label cm settings tier-", "settings unlabeled")}},
        {"patch, three kinds",
            {feed("create -f -", kDeployment, "created"),
                run("patch deploy web --type merge -p {\"spec\":{\"replicas\":3}}", "web patched"),
                run("patch deploy web --type json -p "
                    "[{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":4}]",
                    "web patched"),
                run("patch deploy web -p "
                    "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"side\","
                    "\"image\":\"side:1\"}]}}}}",
                    "web patched"),
                run("get deploy web -o "
                    "jsonpath={.spec.replicas},{.spec.template.spec.containers[*].name}",
                    "\\A4,(side web|web side)\\z"),
                run("patch deploy web --type json -p "
                    "[{\"op\":\"remove\",\"path\":\"/spec/absent\"}]",
                    "The request is invalid", 1)}},
        {"scale",
            {feed("create -f -", kDeployment, "created"),
                run("scale deployment web --replicas=3", "deployment.apps/web scaled"),
                run("get deploy web -o jsonpath={.spec.replicas}", "\\A3\\z")}},
        {"delete",
            {feed("create -f -", kConfigMap, "created"),
                run("delete cm settings", "configmap \"settings\" deleted"),
                run("get cm settings", "NotFound", 1), run("delete cm settings", "NotFound", 1),
                run("delete cm settings --ignore-not-found", "\\A\\z")}},
    };
}

void tst_KubectlStories::story_data()
{
    QTest::addColumn<bool>("isReal");
    QTest::addColumn<Steps>("steps");
    for (const bool isReal : {true, false}) {
        for (const auto &rows : {readRows(), writeRows()}) {
            for (const Row &row : rows)
                QTest::addRow("%s: %s", isReal ? "real" : "embedded", row.first)
                    << isReal << row.second;
        }
    }
}

QStringList tst_KubectlStories::arguments(const QString &command) const
{
    return QStringList{QStringLiteral("--kubeconfig"), m_kubeconfig, QStringLiteral("--cache-dir"),
               m_cacheDir, QStringLiteral("--namespace"), m_namespace}
    + command.split(QLatin1Char(' '));
}

void tst_KubectlStories::take(const Step &step)
{
    if (step.run == Step::Run::ToTheEnd || step.run == Step::Run::Beside) {
        auto process = std::make_unique<QProcess>();
        process->setProcessChannelMode(QProcess::MergedChannels);
        process->start(QDir(ControlPlane::assetsFolder()).filePath(QStringLiteral("kubectl")),
            arguments(step.command));
        process->write(step.input);
        process->closeWriteChannel();
        if (step.run == Step::Run::Beside) {
            m_beside = std::move(process);
            QTest::qWait(1500); // kubectl has no sign for "I watch now"
            return;
        }
        QVERIFY2(process->waitForFinished(30000), qPrintable(step.command + u" did not end"_s));
        const QString output = QString::fromUtf8(process->readAll());
        QVERIFY2(process->exitCode() == step.exitCode
                && output.contains(QRegularExpression(step.output)),
            qPrintable(
                QStringLiteral("kubectl %1: exit %2 (wanted %3), output \"%4\" (wanted /%5/)")
                    .arg(step.command)
                    .arg(process->exitCode())
                    .arg(step.exitCode)
                    .arg(output, step.output)));
        return;
    }
    QString output;
    const auto matches = [&] {
        output += QString::fromUtf8(m_beside->readAll());
        return output.contains(QRegularExpression(step.output));
    };
    if (step.run == Step::Run::StopBeside) {
        QTRY_VERIFY2_WITH_TIMEOUT(matches(), qPrintable(output), 15000);
        ::kill(pid_t(m_beside->processId()), SIGINT);
    }
    QVERIFY(m_beside->waitForFinished(30000));
    QVERIFY2(matches(), qPrintable(output));
    m_beside.reset();
}

void tst_KubectlStories::story()
{
    QFETCH(const bool, isReal);
    QFETCH(const Steps, steps);
    m_kubeconfig = isReal ? m_real.kubeconfigPath() : m_folder.filePath(QStringLiteral("embedded"));
    m_cacheDir = m_folder.filePath(
        isReal ? QStringLiteral("cache-real") : QStringLiteral("cache-embedded"));
    m_namespace = QStringLiteral("story-%1").arg(++m_stories);
    m_beside.reset();
    // As JSON: "create namespace" sends protobuf, which is a row of tst_kubectl.
    take(feed("create -f -",
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + m_namespace.toLatin1()
            + R"("}})",
        "created"));
    for (const Step &step : steps) {
        if (QTest::currentTestFailed())
            return;
        take(step);
    }
}

QTEST_GUILESS_MAIN(tst_KubectlStories)
#include "tst_kubectlstories.moc"
