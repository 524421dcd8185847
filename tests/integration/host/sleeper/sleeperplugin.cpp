// For the tests of stopping: a reconcile that takes its time and does not look at isStopping().
#include <davit/controllerbuilder.h>
#include <davit/controllerplugin.h>

#include <QtCore/qfile.h>
#include <QtCore/qthread.h>
#include <QtCore/qtimer.h>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <thread>
#include <unistd.h>

using namespace Qt::StringLiterals;

static void fail()
{
    throw std::runtime_error("the sleeper threw");
}

// For the test of last words: SLEEPER_ENDS=initialize:exit and the like.
static void endIfAsked(const QByteArray &where)
{
    const QByteArray asked = qgetenv("SLEEPER_ENDS");
    if (!asked.startsWith(where + ':'))
        return;
    const QByteArray how = asked.mid(where.size() + 1);
    if (how == "exit")
        std::exit(0);
    if (how == "quick_exit")
        std::quick_exit(0);
    if (how == "qFatal")
        qFatal("the sleeper is fatal");
    if (how == "abort")
        std::abort();
    if (how == "terminate")
        std::terminate();
    if (how == "throw")
        []() noexcept { fail(); }();
    if (how == "SIGSEGV")
        std::raise(SIGSEGV);
    if (how == "null") {
        auto *const nowhere = reinterpret_cast<volatile int *>(quintptr(where.isEmpty())); // 0
        *nowhere = 1;
    }
}

// The trial passes, and so the host loads it.
static bool isTrial()
{
    QFile file(u"/proc/self/cmdline"_s);
    return file.open(QIODevice::ReadOnly) && file.readAll().split('\0').contains("try");
}

[[maybe_unused]] static const int kLoaded = [] {
    if (qgetenv("SLEEPER_ENDS") == "load:throw" && !isTrial())
        fail();
    return 0;
}();

// For the test of stopping: it tells when static destructors run.
static const struct Parting
{
    ~Parting()
    {
        constexpr char kLine[] = "the sleeper's static destructor runs\n";
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine, sizeof kLine - 1);
    }
} s_parting;

// For the test of threads.
static davit::LogField here()
{
    return {"thread", qint64(::gettid())};
}

class SleepReconciler final : public davit::Reconciler
{
public:
    SleepReconciler(const davit::Lister &lister, const davit::EventRecorder &events)
        : m_lister(lister), m_events(events)
    { }
    davit::ReconcileResult reconcile(
        const davit::ReconcileRequest &request, davit::ReconcileContext &context) override
    {
        endIfAsked("reconcile");
        const davit::Object object = m_lister.find(request.key());
        context.log().info("falls asleep", {here()});
        QThread::msleep(ulong(object["data"_L1]["seconds"_L1].toString().toDouble() * 1000));
        context.log().info("woke up");
        const int events = object["data"_L1]["events"_L1].toString().toInt();
        for (int i = 1; i <= events; ++i)
            m_events.record(
                object, davit::EventSeverity::Normal, u"Awake%1"_s.arg(i), u"at last"_s);
        return davit::ReconcileResult::done();
    }

private:
    const davit::Lister m_lister;
    const davit::EventRecorder m_events;
};

class SleeperPlugin final : public QObject, public davit::ControllerPlugin
{
    Q_OBJECT
    Q_PLUGIN_METADATA(IID DAVIT_CONTROLLER_PLUGIN_IID FILE "sleeper.json")
    Q_INTERFACES(davit::ControllerPlugin)
public:
    davit::Status initialize(davit::HostContext &host) override
    {
        endIfAsked("initialize");
        m_log = host.log();
        m_log.info("initializes", {here()});
        if (qgetenv("SLEEPER_ENDS").startsWith("thread:"))
            std::thread([] { endIfAsked("thread"); }).join();
        QTimer::singleShot(0, this, [] { endIfAsked("event"); });
        const davit::InformerRequest sleepers(davit::Gvk{{}, u"v1"_s, u"ConfigMap"_s});
        const davit::Result<davit::Informer *> informer = host.informer(sleepers);
        if (!informer.isOk())
            return informer.error();
        connect(informer.value(), &davit::Informer::added, this, &SleeperPlugin::onAdded);
        return davit::ControllerBuilder(host, u"sleeper"_s)
            .watches(sleepers)
            .workers(2)
            .reconcileWith(std::make_unique<SleepReconciler>(host.lister(sleepers), host.events()));
    }

private:
    // Does not return before the file data.until is there.
    void onAdded(const davit::Object &object)
    {
        m_log.info("hears", {{"name", object.name()}, here()});
        const QString until = object["data"_L1]["until"_L1].toString();
        while (!until.isEmpty() && !QFile::exists(until))
            QThread::msleep(10);
    }

    davit::Logger m_log;
};

#include "sleeperplugin.moc"
