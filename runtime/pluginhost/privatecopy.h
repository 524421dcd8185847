// The copy of a plugin that is loaded. Each generation has a path of its own, so that the file in
// the plugin directory can be replaced while its code runs, and so that the dynamic linker takes a
// new file for a new library. Layout: <state>/plugins/<pid>/<id>/<generation>/…
// Source: measurements of QPluginLoader and dlopen with GCC 12, glibc 2.36. Test:
// tst_pluginmanager.
#pragma once

#include "pluginspec.h"

namespace davit::pluginhost {

// Removes copies that earlier processes left in the state directory. [host-thread]
void removeOldCopies(const QString &stateDir);

// Copies the file, or the folder whole, and gives the absolute path of the library's copy.
// InvalidConfiguration names the file that could not be copied. [host-thread]
Status copyPlugin(const QString &stateDir, const PluginFile &file, const QString &id,
    int generation, QString *copy);

} // namespace davit::pluginhost
