// A kubeconfig: either a configuration with a server, one identity that fits into header lines and
// a proxy that can be used; or an error with a sentence. YAML and JSON come with it.
#include "fuzzing.h"

#include "transport/credential.h"
#include "transport/kubeconfig.h"
#include "transport/proxyenvironment.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace davit;

static void checkIdentity(const transport::ClusterConfig &config)
{
    const bool isBasic = !config.basicUser.isEmpty();
    fuzzing::require(
        int(!config.token.isEmpty()) + int(isBasic) + int(config.exec.has_value()) <= 1);
    fuzzing::require(transport::isHeaderSafe(config.token));
    fuzzing::require(isBasic || config.basicPassword.isEmpty());
    fuzzing::require(transport::isHeaderSafe(
        transport::basicAuthorization(config.basicUser, config.basicPassword)));
    for (const auto &[name, values] : transport::impersonationHeaders(config.impersonation)) {
        fuzzing::require(name.startsWith("Impersonate-") && !name.contains(':')
            && !name.contains(' ') && transport::isHeaderSafe(name));
        for (const QByteArray &value : values)
            fuzzing::require(transport::isHeaderSafe(value));
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static const int file = memfd_create("kubeconfig", MFD_CLOEXEC);
    fuzzing::require(
        file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == ssize_t(size));
    transport::LoadEnvironment environment;
    environment.variable = [](const char *) { return QString(); };
    environment.homeFolder = QStringLiteral("/nonexistent");
    environment.serviceAccountFolder = QStringLiteral("/nonexistent");
    transport::LoadRequest request;
    request.kubeconfig = QStringLiteral("/proc/self/fd/%1").arg(file);
    const Result<transport::ClusterConfig> loaded
        = transport::loadClusterConfig(request, environment);
    if (loaded.isOk()) {
        const transport::ClusterConfig &config = loaded.value();
        fuzzing::require(!config.server.host().isEmpty() && config.server.userInfo().isEmpty());
        fuzzing::require(
            config.proxyUrl.isEmpty() || transport::proxyFault(config.proxyUrl).isEmpty());
        checkIdentity(config);
    } else
        fuzzing::require(!loaded.error().message().isEmpty());
    return 0;
}
