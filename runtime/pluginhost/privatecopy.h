// The copy of a plugin that is loaded. Each generation has a path of its own, so that a file in
// the plugin directory that is written over does not crash what runs, and so that the dynamic
// linker takes a new file for a new library. Layout:
// <state>/plugin-copies/<pid>/<id>/<generation>/… Source: measurements of QPluginLoader and dlopen
// with GCC 12, glibc 2.36. Test: tst_pluginmanager.
#pragma once

#include "pluginspec.h"

namespace davit::pluginhost {

// InvalidConfiguration when the directory of the copies is one of the places that plugins are found
// in, holds one or lies in one, or is a symbolic link: nothing but copies may be removed.
// [host-thread]
Status checkCopiesApart(const QString &stateDir, const QStringList &places);

// Removes copies that earlier processes left in the state directory: directories that are named by
// the number of a process that is no more. Nothing else, and no link is followed. [host-thread]
void removeOldCopies(const QString &stateDir);

// Copies the file, or the folder whole, and gives the absolute path of the library's copy.
// InvalidConfiguration names the file that could not be copied. [host-thread]
Status copyPlugin(const QString &stateDir, const PluginFile &file, const QString &id,
    int generation, QString *copy);

} // namespace davit::pluginhost
