#include "pluginspec.h"

#include <array>

namespace davit::pluginhost {

QLatin1StringView pluginStateName(PluginState state) noexcept
{
    static constexpr std::array kNames = {"Unset", "Found", "Checked", "Loaded", "Initialized",
        "Running", "Draining", "Retired", "Refused", "Faulted", "Quarantined"};
    static_assert(kNames.size() == size_t(PluginState::Quarantined) + 1);
    return QLatin1StringView(kNames[size_t(state)]);
}

PluginSpec::PluginSpec(const PluginFile &file) : m_file(file) { }

QString PluginSpec::shownName() const
{
    return id().isEmpty() ? m_file.path.section(u'/', -1) : id();
}

PluginState PluginSpec::state() const
{
    const std::lock_guard lock(m_mutex);
    return m_state;
}

QString PluginSpec::reason() const
{
    const std::lock_guard lock(m_mutex);
    return m_reason;
}

void PluginSpec::setState(PluginState state, const QString &reason)
{
    const std::lock_guard lock(m_mutex);
    m_state = state;
    m_reason = reason;
}

} // namespace davit::pluginhost
