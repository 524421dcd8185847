#include "commandline.h"

#include "duration.h"
#include "version.h"

#include <support/nearestname.h>

#include <CLI/CLI.hpp>
#include <QtCore/qcoreapplication.h>
#include <QtCore/qdir.h>
#include <QtCore/qfileinfo.h>
#include <QtCore/qregularexpression.h>
#include <algorithm>
#include <cmath>
#include <optional>

namespace davit::host {

namespace {

using observability::LogEncoding;
using observability::TimeEncoding;

constexpr char kRunFooter[]
    = "Exit codes: 0 stopped as asked, 1 failed or a second signal, 2 wrong configuration,\n"
      "3 stopped as asked but reconciles were abandoned after --graceful-shutdown-timeout,\n"
      "4 the lease of --leader-elect was lost.";
constexpr char kQueryFooter[]
    = "Exit codes: 0 all is well, 1 another answer, 2 wrong configuration, 3 no connection,\n"
      "4 the credentials are refused, 5 rights are missing.";

Error refusal(const QString &sentence)
{
    return Error(ErrorCode::InvalidArgument, sentence);
}

Error unknown(const QString &argument, const CLI::App &command, const QString &commandName)
{
    const QString help = QStringLiteral("'%1 --help' lists what there is").arg(commandName);
    if (!argument.startsWith(QLatin1Char('-')))
        return refusal(QStringLiteral("argument \"%1\" is not expected; %2").arg(argument, help));
    const QString name = argument.section(QLatin1Char('='), 0, 0);
    QStringList known;
    for (const CLI::Option *option : command.get_options())
        for (const std::string &longName : option->get_lnames())
            known << QStringLiteral("--") + QString::fromStdString(longName);
    if (known.contains(name)) // "davit --plugin-dir x run"
        return refusal(QStringLiteral("flag %1 stands in front of its command; write %2 %1 …")
                           .arg(name, commandName));
    const QString nearest = support::nearestName(name, known);
    if (!nearest.isEmpty())
        return refusal(
            QStringLiteral("flag %1 is not known; did you mean %2? %3").arg(name, nearest, help));
    return refusal(QStringLiteral("flag %1 is not known; %2").arg(name, help));
}

// The flag that has an empty value, a variable that was not set most likely; else empty.
QString emptyFlag(const CLI::App &command)
{
    for (const CLI::Option *option : command.get_options())
        for (const std::string &value : option->results())
            if (value.empty())
                return QString::fromStdString(option->get_name());
    return {};
}

// The same for "--flag=", which would take the next argument for its value.
QString emptyFlag(const QStringList &arguments)
{
    for (const QString &argument : arguments)
        if (argument.startsWith(u'-') && argument.indexOf(u'=') == argument.size() - 1)
            return argument.chopped(1);
    return {};
}

Error emptyValue(const QString &flag)
{
    return refusal(
        QStringLiteral("flag %1 has an empty value; give it one or leave it out").arg(flag));
}

// "davit plugin inspect", as it is typed.
QString nameOf(const CLI::App *command)
{
    const QString name = QString::fromStdString(command->get_name());
    return command->get_parent() ? nameOf(command->get_parent()) + u' ' + name : name;
}

// The flags of "davit run" as text; run() turns them into values.
struct RunTexts
{
    std::vector<std::string> pluginDirs;
    std::string kubeconfig;
    std::string context;
    std::string embeddedObjectsDir;
    std::string metricsAddress;
    std::string probeAddress;
    std::string gracefulTimeout;
    std::string cacheSyncTimeout;
    std::string stateDir;
    std::string configFile;
    std::string level;
    std::string encoder;
    std::string timeEncoding;
    std::string verbosity;
    bool areCoreDumpsAllowed = false;
    std::string requestsPerSecond;
    std::string requestBurst;
    std::string leaseDuration;
    std::string renewDeadline;
    std::string retryPeriod;
    std::string leaseName;
    std::string leaseNamespace;
    std::string leaseLock;
    bool isLeaderElected = false;
    bool isEmbedded = false;
    bool isDevelopment = false;
};

// Adds flags with a value. Of what can only be said once, the last counts, as in Go programs.
auto textFlags(CLI::App &command)
{
    return [&command](const char *name, std::string &target, const char *type, const char *help) {
        command.add_option(name, target, help)->type_name(type)->take_last();
    };
}

// Directories of plugins; repeatable.
void addPluginDirs(CLI::App &command, std::vector<std::string> &dirs, const std::string &help)
{
    command
        .add_option(
            "--plugin-dir", dirs, help + "; repeatable [" + defaultPluginDir().toStdString() + "]")
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("DIR");
}

constexpr char kKubeconfigHelp[]
    = "How to reach the cluster [$KUBECONFIG, in a pod the service account, ~/.kube/config]";
constexpr char kContextHelp[] = "Which context of it [its current-context]";

// The names that kube-controller-manager and kubebuilder's managers use, here and below.
template <typename Texts> void addLeaseFlags(CLI::App &command, Texts &texts, const char *help)
{
    command.add_flag("--leader-elect", texts.isLeaderElected, help);
    const auto add = textFlags(command);
    add("--leader-elect-resource-name", texts.leaseName, "NAME", "Name of the Lease [davit]");
    add("--leader-elect-resource-namespace", texts.leaseNamespace, "NAME",
        "Namespace of the Lease [that of the pod]");
}

void addElectionFlags(CLI::App &run, RunTexts &texts)
{
    addLeaseFlags(run, texts,
        "Several processes, one of which works: reconcile only while this one holds the Lease");
    const auto add = textFlags(run);
    add("--leader-elect-lease-duration", texts.leaseDuration, "TIME",
        "How long the others wait for a leader that is silent; whole seconds [15s]");
    add("--leader-elect-renew-deadline", texts.renewDeadline, "TIME",
        "How long after its last renewal a leader stops; less than the lease duration [10s]");
    add("--leader-elect-retry-period", texts.retryPeriod, "TIME",
        "How long between two tries to get or renew the Lease [2s]");
    add("--leader-elect-resource-lock", texts.leaseLock, "WORD",
        "Kind of the lock: leases, there is no other any more [leases]");
}

void addRunFlags(CLI::App &run, RunTexts &texts)
{
    addPluginDirs(run, texts.pluginDirs,
        "Directory with plugins, NAME.so each, read at the start: what is added, replaced or "
        "removed later needs a restart");
    const auto add = textFlags(run);
    add("--kubeconfig", texts.kubeconfig, "FILE", kKubeconfigHelp);
    add("--context", texts.context, "NAME", kContextHelp);
    run.add_flag("--embedded", texts.isEmbedded,
        "Start an API server in this process, in memory, and work on that");
    add("--embedded-objects", texts.embeddedObjectsDir, "DIR",
        "YAML or JSON files with the objects that the embedded server has at start");
    add("--metrics-bind-address", texts.metricsAddress, "ADDRESS",
        "Where /metrics is served; 0 turns it off [:8080]");
    add("--health-probe-bind-address", texts.probeAddress, "ADDRESS",
        "Where /healthz and /readyz are served; 0 turns them off [:8081]");
    add("--graceful-shutdown-timeout", texts.gracefulTimeout, "TIME",
        "How long reconciles may go on after SIGTERM, SIGINT or SIGHUP; 0 does not wait, a "
        "negative time waits for ever [30s]");
    add("--cache-sync-timeout", texts.cacheSyncTimeout, "TIME",
        "After how long plugins that wait for a first sync are called late; they go on waiting, "
        "and the others work [2m]");
    add("--state-dir", texts.stateDir, "DIR",
        "Where copies of plugins are kept; must be writable, not noexec "
        "[$STATE_DIRECTORY, /var/lib/davit for root, else $XDG_STATE_HOME/davit or "
        "~/.local/state/davit]");
    addElectionFlags(run, texts);
    add("--kube-api-qps", texts.requestsPerSecond, "NUMBER",
        "Requests a second to the API server, watches and the Lease apart; -1 is no limit, since "
        "the server shares its time out fairly [-1]");
    add("--kube-api-burst", texts.requestBurst, "NUMBER",
        "With --kube-api-qps: so many at once after a pause [twice that]");
    add("--config", texts.configFile, "FILE",
        "YAML file with the plugins' configuration; a plugin whose part of it is wrong is refused, "
        "and the others run");
    add("--zap-log-level", texts.level, "WORD", "error, warn, info or debug [info]");
    add("--zap-encoder", texts.encoder, "WORD",
        "json or console [console on a terminal, else json]");
    add("--zap-time-encoding", texts.timeEncoding, "WORD",
        "rfc3339, rfc3339nano, iso8601, epoch, millis or nano [rfc3339]");
    run.add_flag("--allow-core-dumps", texts.areCoreDumpsAllowed,
        "Let a crash write memory, with credentials and Secrets in it, and debuggers attach");
    run.add_flag("--zap-devel", texts.isDevelopment, "The same as level debug, encoder console");
    add("-v,--v", texts.verbosity, "NUMBER", "Verbosity: 0 to 3 is info, 4 and more is debug");
    run.footer(kRunFooter);
}

Status takeDuration(const char *flag, const std::string &text, std::chrono::milliseconds *value)
{
    if (text.empty())
        return Status::ok();
    const auto parsed = parseDuration(QString::fromStdString(text));
    if (!parsed)
        return refusal(QStringLiteral("%1 \"%2\" is no duration; write it as 30s, 2m or 1h30m")
                           .arg(QString::fromUtf8(flag), QString::fromStdString(text)));
    *value = *parsed;
    return Status::ok();
}

template <typename T>
Status takeWord(const char *flag, const std::string &text,
    std::initializer_list<std::pair<const char *, T>> words, T *value)
{
    if (text.empty())
        return Status::ok();
    QStringList known;
    for (const auto &[word, meaning] : words) {
        if (text == word) {
            *value = meaning;
            return Status::ok();
        }
        known << QString::fromUtf8(word);
    }
    return refusal(QStringLiteral("%1 \"%2\" is not known; write one of %3")
                       .arg(QString::fromUtf8(flag), QString::fromStdString(text),
                           known.join(QLatin1String(", "))));
}

Status takeLog(const RunTexts &texts, RunOptions *options)
{
    observability::LogSettings &log = options->log;
    if (texts.isDevelopment) {
        log.level = LogLevel::Debug;
        log.encoding = LogEncoding::Console;
    }
    options->isEncodingChosen = texts.isDevelopment || !texts.encoder.empty();
    if (!texts.verbosity.empty()) {
        bool isNumber = false;
        const int verbosity = QString::fromStdString(texts.verbosity).toInt(&isNumber);
        if (!isNumber || verbosity < 0)
            return refusal(QStringLiteral("-v \"%1\" is no verbosity; write a number from 0 to 10")
                               .arg(QString::fromStdString(texts.verbosity)));
        log.level = verbosity >= 4 ? LogLevel::Debug : LogLevel::Info;
    }
    Status status = takeWord<LogLevel>("--zap-log-level", texts.level,
        {{"error", LogLevel::Error}, {"warn", LogLevel::Warning}, {"info", LogLevel::Info},
            {"debug", LogLevel::Debug}},
        &log.level);
    if (status.isOk())
        status = takeWord<LogEncoding>("--zap-encoder", texts.encoder,
            {{"json", LogEncoding::Json}, {"console", LogEncoding::Console}}, &log.encoding);
    if (status.isOk())
        status = takeWord<TimeEncoding>("--zap-time-encoding", texts.timeEncoding,
            {{"rfc3339", TimeEncoding::Rfc3339}, {"rfc3339nano", TimeEncoding::Rfc3339Nano},
                {"iso8601", TimeEncoding::Rfc3339}, {"epoch", TimeEncoding::Epoch},
                {"millis", TimeEncoding::Millis}, {"nano", TimeEncoding::Nanos}},
            &log.time);
    return status;
}

Status takeElection(const RunTexts &texts, RunOptions *options)
{
    options->isLeaderElected = texts.isLeaderElected;
    if (!texts.leaseName.empty())
        options->leaseName = QString::fromStdString(texts.leaseName);
    options->leaseNamespace = QString::fromStdString(texts.leaseNamespace);
    if (options->isLeaderElected && options->isEmbedded)
        return refusal(QStringLiteral("--leader-elect needs a server that others use too, and "
                                      "--embedded is in this process; leave one of them out"));
    enum class Lock : quint8 { Leases };
    Lock lock = Lock::Leases;
    Status status = takeWord<Lock>(
        "--leader-elect-resource-lock", texts.leaseLock, {{"leases", Lock::Leases}}, &lock);
    if (status.isOk())
        status = takeDuration(
            "--leader-elect-lease-duration", texts.leaseDuration, &options->leaseDuration);
    if (status.isOk())
        status = takeDuration(
            "--leader-elect-renew-deadline", texts.renewDeadline, &options->renewDeadline);
    if (status.isOk())
        status
            = takeDuration("--leader-elect-retry-period", texts.retryPeriod, &options->retryPeriod);
    return status;
}

// C-1, C-2
Status takeRequestRate(const RunTexts &texts, RunOptions *options)
{
    bool isNumber = true;
    if (!texts.requestsPerSecond.empty())
        options->requestsPerSecond
            = QString::fromStdString(texts.requestsPerSecond).toDouble(&isNumber);
    if (!isNumber || !std::isfinite(options->requestsPerSecond))
        return refusal(
            QStringLiteral("--kube-api-qps \"%1\" is no rate; write a number such as 20, "
                           "or -1 for no limit")
                .arg(QString::fromStdString(texts.requestsPerSecond)));
    options->requestBurst = int(std::clamp(std::ceil(2 * options->requestsPerSecond), 1.0, 1e6));
    if (texts.requestBurst.empty())
        return Status::ok();
    if (options->requestsPerSecond <= 0)
        return refusal(QStringLiteral("--kube-api-burst needs --kube-api-qps; add it, or leave "
                                      "--kube-api-burst out"));
    options->requestBurst = QString::fromStdString(texts.requestBurst).toInt(&isNumber);
    if (!isNumber || options->requestBurst < 1)
        return refusal(
            QStringLiteral("--kube-api-burst \"%1\" is no number of requests; write 1 or more")
                .arg(QString::fromStdString(texts.requestBurst)));
    return Status::ok();
}

Result<Command> runCommand(const RunTexts &texts)
{
    RunOptions options;
    const auto takeText = [](const std::string &text, QString *value) {
        if (!text.empty())
            *value = QString::fromStdString(text);
    };
    if (!texts.pluginDirs.empty())
        options.pluginDirs.clear();
    for (const std::string &dir : texts.pluginDirs)
        options.pluginDirs << QString::fromStdString(dir);
    takeText(texts.kubeconfig, &options.kubeconfig);
    takeText(texts.context, &options.context);
    takeText(texts.embeddedObjectsDir, &options.embeddedObjectsDir);
    takeText(texts.metricsAddress, &options.metricsAddress);
    takeText(texts.probeAddress, &options.probeAddress);
    takeText(texts.stateDir, &options.stateDir);
    takeText(texts.configFile, &options.configFile);
    options.isEmbedded = texts.isEmbedded;
    options.areCoreDumpsAllowed = texts.areCoreDumpsAllowed;
    if (options.isEmbedded && !options.kubeconfig.isEmpty())
        return refusal(
            QStringLiteral("--embedded and --kubeconfig name two clusters; leave one of them out"));
    if (options.isEmbedded && !options.context.isEmpty())
        return refusal(
            QStringLiteral("--embedded and --context name two clusters; leave one of them out"));
    if (!options.isEmbedded && !options.embeddedObjectsDir.isEmpty())
        return refusal(QStringLiteral(
            "--embedded-objects needs the embedded server; add --embedded or leave it out"));
    Status status = takeDuration(
        "--graceful-shutdown-timeout", texts.gracefulTimeout, &options.gracefulTimeout);
    if (status.isOk())
        status = takeDuration(
            "--cache-sync-timeout", texts.cacheSyncTimeout, &options.cacheSyncTimeout);
    if (status.isOk() && options.cacheSyncTimeout.count() < 0)
        return refusal(
            QStringLiteral("--cache-sync-timeout \"%1\" is negative; write it as 30s, 2m "
                           "or 1h30m")
                .arg(QString::fromStdString(texts.cacheSyncTimeout)));
    if (status.isOk())
        status = takeElection(texts, &options);
    if (status.isOk())
        status = takeRequestRate(texts, &options);
    if (status.isOk())
        status = takeLog(texts, &options);
    return status.isOk() ? Result<Command>(Command(options)) : Result<Command>(status.error());
}

// The flags of "davit check" and "davit get".
struct QueryTexts
{
    std::string kubeconfig;
    std::string context;
    std::vector<std::string> pluginDirs;
    std::string path;
    std::string leaseName;
    std::string leaseNamespace;
    bool isLeaderElected = false;
};

void addClusterFlags(CLI::App &command, QueryTexts &texts)
{
    const auto add = textFlags(command);
    add("--kubeconfig", texts.kubeconfig, "FILE", kKubeconfigHelp);
    add("--context", texts.context, "NAME", kContextHelp);
}

CLI::App *addCheck(CLI::App &app, QueryTexts &texts)
{
    CLI::App *check = app.add_subcommand(
        "check", "Say whether Davit can work with a cluster, and if not, what to do");
    addClusterFlags(*check, texts);
    addPluginDirs(*check, texts.pluginDirs, "Directory with plugins whose rights are checked");
    addLeaseFlags(*check, texts,
        "Check the rights that davit run --leader-elect needs beside those of the plugins");
    check->footer(kQueryFooter);
    return check;
}

CLI::App *addGet(CLI::App &app, QueryTexts &texts)
{
    CLI::App *get = app.add_subcommand("get", "Print what the API server says");
    textFlags (*get)("--raw", texts.path, "PATH", "What to ask for, as /api/v1/namespaces?limit=1");
    addClusterFlags(*get, texts);
    get->footer(kQueryFooter);
    return get;
}

Command checkCommand(const QueryTexts &texts)
{
    CheckOptions options;
    options.kubeconfig = QString::fromStdString(texts.kubeconfig);
    options.context = QString::fromStdString(texts.context);
    for (const std::string &dir : texts.pluginDirs)
        options.pluginDirs << QString::fromStdString(dir);
    options.isLeaderElected = texts.isLeaderElected;
    if (!texts.leaseName.empty())
        options.leaseName = QString::fromStdString(texts.leaseName);
    options.leaseNamespace = QString::fromStdString(texts.leaseNamespace);
    return options;
}

Result<Command> getCommand(const QueryTexts &texts)
{
    if (texts.path.empty())
        return refusal(
            QStringLiteral("no path was given; write davit get --raw /api/v1/namespaces"));
    return Command(GetOptions{QString::fromStdString(texts.path),
        QString::fromStdString(texts.kubeconfig), QString::fromStdString(texts.context)});
}

// What there is to say when that was all; nothing when the flags have their values.
std::optional<Result<Command>> parse(CLI::App &app, const QStringList &arguments)
{
    if (const QString flag = emptyFlag(arguments); !flag.isEmpty())
        return emptyValue(flag);
    std::vector<std::string> reversed;
    for (const QString &argument : arguments)
        reversed.insert(reversed.begin(), argument.toStdString());
    try {
        app.parse(reversed);
    } catch (const CLI::CallForHelp &) {
        return Command(Text{QString::fromStdString(app.help())}); // of the subcommand, if any
    } catch (const CLI::ArgumentMismatch &e) {
        // "--kubeconfig: 1 required TEXT missing", or another wording in another version.
        static const QRegularExpression end(QStringLiteral("[: ]"));
        return refusal(
            QStringLiteral("flag %1 needs a value; 'davit %2 --help' shows what each flag takes")
                .arg(QString::fromUtf8(e.what()).section(end, 0, 0), arguments.value(0)));
    } catch (const CLI::ParseError &e) {
        return refusal(QStringLiteral("%1; 'davit --help' shows how it is written")
                           .arg(QString::fromUtf8(e.what())));
    }
    return std::nullopt;
}

QString versionText()
{
    return QStringLiteral("davit %1 (SDK ABI %2, commit %3, built %4, Qt %5)\n")
        .arg(QStringLiteral(DAVIT_SDK_VERSION_STRING))
        .arg(DAVIT_SDK_ABI)
        .arg(QStringLiteral(DAVIT_BUILD_COMMIT), QStringLiteral(DAVIT_BUILD_DATE),
            QString::fromUtf8(qVersion()));
}

} // namespace

QString defaultPluginDir()
{
    const QString ofPrefix = QDir::cleanPath(
        QCoreApplication::applicationDirPath() + QStringLiteral("/../lib/davit/plugins"));
    return QFileInfo(ofPrefix).isDir() ? ofPrefix : QStringLiteral("/usr/lib/davit/plugins");
}

QStringList trialProgram()
{
    // Also when the file was replaced or removed since this process began.
    return {QStringLiteral("/proc/self/exe"), QStringLiteral("plugin"), QStringLiteral("try")};
}

Result<Command> parseCommandLine(const QStringList &arguments)
{
    CLI::App app("Davit hosts Kubernetes operators as plugins behind one shared cache.", "davit");
    bool isVersionAsked = false;
    app.add_flag("--version", isVersionAsked, "Print the version and what it was built from");
    RunTexts texts;
    CLI::App *run = app.add_subcommand("run", "Run the plugins of a directory against a cluster");
    addRunFlags(*run, texts);
    CLI::App *plugin = app.add_subcommand("plugin", "Look at plugins");
    std::vector<std::string> files;
    CLI::App *inspect = plugin->add_subcommand(
        "inspect", "Say what a plugin is and whether its metadata is good; runs none of its code");
    inspect->add_option("FILE", files, "Plugins, NAME.so each");
    CLI::App *trial = plugin->add_subcommand("try",
        "Load the library of a plugin in this process and end: davit run does so before it loads "
        "one itself");
    std::string tried;
    trial->add_option("FILE", tried, "A plugin's library");
    QueryTexts query;
    CLI::App *check = addCheck(app, query);
    CLI::App *get = addGet(app, query);
    for (CLI::App *command : {&app, run, plugin, inspect, trial, check, get})
        command->allow_extras();

    if (auto ended = parse(app, arguments))
        return *ended;
    if (isVersionAsked)
        return Command(Text{versionText()});
    CLI::App *command = run->parsed() ? run
        : inspect->parsed()           ? inspect
        : trial->parsed()             ? trial
        : check->parsed()             ? check
        : get->parsed()               ? get
        : plugin->parsed()            ? plugin
                                      : &app;
    const QString name = nameOf(command);
    if (const QString flag = emptyFlag(*command); !flag.isEmpty())
        return emptyValue(flag);
    if (const std::vector<std::string> rest = app.remaining(true); !rest.empty())
        return unknown(QString::fromStdString(rest.front()), *command, name);
    if (command == run)
        return runCommand(texts);
    if (command == check)
        return checkCommand(query);
    if (command == get)
        return getCommand(query);
    if (command == trial && tried.empty())
        return refusal(QStringLiteral("no file was given; write davit plugin try NAME.so"));
    if (command == trial)
        return Command(TryOptions{QString::fromStdString(tried)});
    if (command != inspect)
        return refusal(QStringLiteral("no command was given; '%1 --help' lists them").arg(name));
    InspectOptions options;
    for (const std::string &file : files)
        options.files << QString::fromStdString(file);
    if (options.files.isEmpty())
        return refusal(QStringLiteral("no file was given; write davit plugin inspect NAME.so"));
    return Command(options);
}

} // namespace davit::host
