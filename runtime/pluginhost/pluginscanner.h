// Finds what looks like a plugin in a directory: NAME.so, and NAME.davit/ with a NAME.so inside.
// Hidden files and all others are passed over; a NAME.so that is no regular file has a fault. Test:
// tst_pluginmanager.
#pragma once

#include "pluginspec.h"

namespace davit::pluginhost {

// Appends the plugins of `directory`, sorted by name; it may be a single .so file too.
// InvalidConfiguration when it does not exist or cannot be read. Paths are absolute. [host-thread]
Status scanPlugins(const QString &directory, QList<PluginFile> *files);

} // namespace davit::pluginhost
