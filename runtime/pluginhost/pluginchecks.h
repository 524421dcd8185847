// What is checked before any code of a plugin runs. Contract:
//   - Order: readable metadata, IID, SDK ABI, Qt version, kinds and rights; then, over all plugins
//   of the host, duplicates and dependencies.
//   - Each refusal is one sentence with the file, the reason and what to do.
// Tests: tst_pluginchecks, tst_pluginhost.
#pragma once

#include "pluginspec.h"

#include <memory>
#include <vector>

namespace davit::pluginhost {

// What QPluginLoader reads from a file without mapping it.
struct RawMetadata
{
    QString iid;
    int qtVersion = 0; // 0x060400: without the patch release
    QJsonObject json;
};

// Reads the file. InvalidConfiguration when it is no Qt plugin. The path is absolute. [thread-safe]
Status readRawMetadata(const QString &path, RawMetadata *raw);
// Checks one plugin alone and fills its metadata. [thread-safe]
Status checkPlugin(const QString &path, const RawMetadata &raw, PluginMetadata *metadata);

using Specs = std::vector<std::unique_ptr<PluginSpec>>;

// Refuses plugins whose Id is taken, whose dependencies are missing, of the wrong version or
// refused themselves, and those that depend on each other. What remains is Checked; returned is
// their order: dependencies first, else by place. Looks at specs in state Found only. [host-thread]
std::vector<PluginSpec *> checkTogether(const Specs &specs);

} // namespace davit::pluginhost
