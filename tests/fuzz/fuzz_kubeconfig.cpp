// A kubeconfig: either a configuration with a server, or an error with a sentence. YAML and JSON
// come with it.
#include "fuzzing.h"

#include "transport/kubeconfig.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace davit;

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
    if (loaded.isOk())
        fuzzing::require(!loaded.value().server.host().isEmpty());
    else
        fuzzing::require(!loaded.error().message().isEmpty());
    return 0;
}
