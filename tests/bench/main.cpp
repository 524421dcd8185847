// davit-bench: fills the shared cache with a cluster's Pods, follows events and prints what that
// cost. It runs what `davit run` runs, from the socket to the plugins' slots; only its plugins are
// compiled in. Exit codes: 0, or 1 with a sentence on standard error.
#include "benchplugin.h"
#include "benchrun.h"
#include "micro.h"
#include "podgenerator.h"

#include <host/runtimeservices.h>
#include <observability/logwriter.h>
#include <observability/metricsregistry.h>
#include <pluginhost/guardedapplication.h>
#include <transport/kubeconfig.h>

#include <cstdio>
#include <future>
#include <unistd.h>

using namespace davit;

namespace {

int refuse(const QString &sentence)
{
    std::fprintf(stderr, "davit-bench: %s\n", qUtf8Printable(sentence));
    return 1;
}

// Waits until the cluster's discovery knows Pods.
Status resolvePods(host::RuntimeServices &services)
{
    auto outcome = std::make_shared<std::promise<Status>>();
    auto isTold = std::make_shared<std::atomic<bool>>(false);
    const auto tell = [outcome, isTold](const Status &status) {
        if (!isTold->exchange(true))
            outcome->set_value(status);
    };
    services.resolve(
        bench::BenchPlugin::podGvk(), [tell] { tell(Status::ok()); },
        [tell](const QString &reason) { tell(Status(ErrorCode::KindNotServed, reason)); });
    return outcome->get_future().get();
}

enum class Mode : quint8 {
    Phases,
    Micro // single operations, on the cache and on a work queue
};

int runBench(Mode mode, const bench::BenchInput &input, host::RuntimeServices &services)
{
    if (const Status status = resolvePods(services); !status.isOk())
        return refuse(status.error().message());
    services.start();
    bench::BenchRun run(input);
    std::vector<std::unique_ptr<bench::BenchPlugin>> plugins;
    for (int i = 0; i < input.plugins; ++i) {
        plugins.push_back(
            std::make_unique<bench::BenchPlugin>(i, run, services, support::systemTimeSource()));
        if (const Status status = plugins.back()->start(); !status.isOk())
            return refuse(status.error().message());
    }
    const Lister &pods = plugins.front()->lister();
    bool isDone = false;
    if (mode == Mode::Micro) {
        isDone = run.waitForObjects();
        bench::printReads(pods);
    } else {
        isDone = run.run([&] { return pods.count(); });
    }
    plugins.clear();
    services.stopInformers();
    return isDone ? 0 : refuse(QStringLiteral("the objects did not come in time"));
}

// A line each.
int printPods(int count)
{
    bench::PodGenerator generator;
    for (int i = 0; i < count; ++i)
        std::puts(generator.next().constData());
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    pluginhost::GuardedApplication app(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 3 && arguments.at(1) == QStringLiteral("--pods"))
        return printPods(arguments.at(2).toInt());
    const bool isMicro = arguments.contains(QStringLiteral("--micro"));
    if (isMicro) {
        bench::printQueue();
        bench::printFanOut();
    }
    const Result<transport::ClusterConfig> cluster = transport::loadClusterConfig({});
    if (!cluster.isOk())
        return refuse(cluster.error().message());
    observability::LogSettings settings;
    settings.level = LogLevel::Warning;
    observability::LogWriter log(support::systemTimeSource(), STDERR_FILENO, settings);
    log.takeQtMessages();
    observability::MetricsRegistry metrics;
    const Result<host::Configuration> read
        = host::readConfiguration(qEnvironmentVariable("BENCH_CONFIG"));
    if (!read.isOk())
        return refuse(read.error().message());
    host::Configuration configuration = read.value();
    bench::BenchInput input = bench::readInput();
    input.asksForProtobuf = input.asksForProtobuf && configuration.prefersProtobuf;
    configuration.prefersProtobuf = input.asksForProtobuf;
    host::RuntimeServices services(
        cluster.value(), support::systemTimeSource(), log, metrics, configuration);
    return runBench(isMicro ? Mode::Micro : Mode::Phases, input, services);
}
