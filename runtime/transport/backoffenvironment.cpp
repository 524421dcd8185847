#include "backoffenvironment.h"

#include <optional>
#include <tuple>

namespace davit::transport {
namespace {

constexpr char kBase[] = "KUBE_CLIENT_BACKOFF_BASE";
constexpr char kDuration[] = "KUBE_CLIENT_BACKOFF_DURATION";
constexpr int kMostSeconds = 24 * 3600;

// Of a variable that is set.
std::optional<std::chrono::seconds> secondsOf(const QString &text)
{
    bool isNumber = false;
    const int number = text.toInt(&isNumber);
    if (!isNumber || number < 1 || number > kMostSeconds)
        return std::nullopt;
    return std::chrono::seconds(number);
}

} // namespace

Status readBackoff(const LoadEnvironment &environment, ClusterConfig *config)
{
    HostBackoff backoff;
    int set = 0;
    for (const auto &[name, other, seconds] : {std::tuple(kBase, kDuration, &backoff.base),
             std::tuple(kDuration, kBase, &backoff.longest)}) {
        const QString text = environment.variable(name);
        if (text.isEmpty())
            continue;
        const std::optional<std::chrono::seconds> value = secondsOf(text);
        if (!value)
            return Status(ErrorCode::InvalidConfiguration,
                QStringLiteral("%1 in the environment is \"%2\"; write whole seconds from 1 to %3, "
                               "or unset it")
                    .arg(QLatin1StringView(name), text)
                    .arg(kMostSeconds));
        *seconds = *value;
        ++set;
        if (environment.variable(other).isEmpty())
            config->warnings.append(
                QStringLiteral("%1 is set and %2 is not: without both there is no back-off")
                    .arg(QLatin1StringView(name), QLatin1StringView(other)));
    }
    if (set == 2)
        config->backoff = backoff;
    return Status::ok();
}

} // namespace davit::transport
