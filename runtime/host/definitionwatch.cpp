#include "definitionwatch.h"

#include <davit/priv/plugincall.h>
#include <pluginhost/pluginmetadata.h>

#include <algorithm>
#include <array>
#include <utility>

namespace davit::host {

namespace {

// The slots of the informer are the host's own and do not throw.
class NoFaults final : public priv::FaultSink
{
public:
    void fault(const char *, const QString &, const QString &) noexcept override { }
    void entered(const char *, const QString &) noexcept override { }
    void left() noexcept override { }
};

// An answer that will be the same the next time: not that of a busy server, an old token, or a
// version that is too old.
bool isRefusal(const Error &error)
{
    constexpr std::array kPassing = {401, 408, 410, 429};
    const int status = error.httpStatus();
    return status >= 400 && status < 500
        && std::find(kPassing.begin(), kPassing.end(), status) == kPassing.end();
}

} // namespace

bool isInstallable(const QString &group)
{
    static constexpr std::array kOthers = {"*", "", "admissionregistration.k8s.io",
        "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
        "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io",
        "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
        "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
        "storagemigration.k8s.io"};
    return std::none_of(kOthers.begin(), kOthers.end(),
        [&group](const char *other) { return group == QLatin1StringView(other); });
}

bool namesInstallable(const pluginhost::PluginMetadata &metadata)
{
    const auto isDeclared = [](const pluginhost::DeclaredResource &declared) {
        return isInstallable(declared.gvk.group);
    };
    const auto isReached = [](const client::PolicyRule &rule) {
        return std::any_of(rule.apiGroups.begin(), rule.apiGroups.end(), isInstallable);
    };
    return std::any_of(metadata.resources.begin(), metadata.resources.end(), isDeclared)
        || std::any_of(metadata.rbac.begin(), metadata.rbac.end(), isReached);
}

const transport::Resource &DefinitionWatch::resource()
{
    static const transport::Resource definitions{
        {QStringLiteral("apiextensions.k8s.io"), QStringLiteral("v1"),
            QStringLiteral("CustomResourceDefinition")},
        QStringLiteral("customresourcedefinitions"), false};
    return definitions;
}

DefinitionWatch::DefinitionWatch(Surroundings around)
    : m_around(std::move(around)), m_faults(std::make_unique<NoFaults>())
{ }

DefinitionWatch::~DefinitionWatch()
{
    m_informer.reset();
    const std::lock_guard lock(m_mutex);
    m_around.time->cancel(m_timer);
    m_around.time->cancel(m_askTimer);
}

void DefinitionWatch::want(const QString &group)
{
    if (isInstallable(group) && !std::exchange(m_isWanted, true))
        ask();
}

// Before a watch that is refused again and again, with a warning each time.
void DefinitionWatch::ask()
{
    m_around.probe([this](const Error &error) {
        QMetaObject::invokeMethod(
            this, [this, error] { answered(error); }, Qt::QueuedConnection);
    });
}

void DefinitionWatch::answered(const Error &error)
{
    if (!error.isError())
        return begin();
    if (isRefusal(error))
        return refused(error);
    askIn(kAskAgain);
}

void DefinitionWatch::askIn(std::chrono::seconds delay)
{
    const std::lock_guard lock(m_mutex);
    m_askTimer = m_around.time->callAfter(delay, *m_around.executor, [this] { ask(); });
}

void DefinitionWatch::begin()
{
    InformerRequest request(resource().gvk);
    request.payload(Payload::Metadata);
    std::unique_ptr<priv::InformerBackend> backend;
    if (!m_around.makeInformer(request, *m_faults, &backend).isOk())
        return; // the caches are shut down
    if (!m_isWatchRefused && std::exchange(m_isRefused, false))
        m_around.log.info("CustomResourceDefinitions are watched now");
    m_informer = std::make_unique<Informer>(*backend.release());
    connect(m_informer.get(), &Informer::added, this,
        [this](const Object &definition, bool isInInitialList) {
            if (!isInInitialList)
                changed(definition);
        });
    connect(m_informer.get(), &Informer::updated, this,
        [this](const Object &before, const Object &after) {
            if (before.resourceVersion() != after.resourceVersion())
                changed(after);
        });
    connect(m_informer.get(), &Informer::deleted, this,
        [this](const Object &definition) { changed(definition); });
}

void DefinitionWatch::failed(const Gvk &gvk, const Error &error)
{
    if (gvk == resource().gvk && isRefusal(error))
        QMetaObject::invokeMethod(
            this,
            [this, error] {
                if (!m_informer) // it is that of a plugin alone
                    return;
                m_isWatchRefused = true;
                refused(error);
            },
            Qt::QueuedConnection);
}

void DefinitionWatch::refused(const Error &error)
{
    m_informer.reset();
    askIn(kAskRefusedAgain);
    if (std::exchange(m_isRefused, true))
        return;
    if (error.httpStatus() == 403)
        m_around.log.info("kinds that are installed or changed later are noticed 10 s late; to "
                          "hear of them at once, grant list and watch of customresourcedefinitions "
                          "in apiGroup apiextensions.k8s.io: within five minutes davit asks again",
            {{"error", error.message()}});
    else
        m_around.log.info("kinds that are installed or changed later are noticed 10 s late; the "
                          "server does not let its CustomResourceDefinitions be watched",
            {{"error", error.message()}});
}

void DefinitionWatch::changed(const Object &definition)
{
    const std::lock_guard lock(m_mutex);
    m_groups.insert(definition.name().section(u'.', 1));
    if (m_timer == 0)
        m_timer = m_around.time->callAfter(kGather, *m_around.executor, [this] { tell(); });
}

void DefinitionWatch::tell()
{
    std::set<QString> groups;
    {
        const std::lock_guard lock(m_mutex);
        m_timer = 0;
        groups.swap(m_groups);
    }
    m_around.onChanged(groups);
}

} // namespace davit::host
