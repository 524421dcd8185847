// "davit plugin inspect": what a plugin file says that it is, whether this davit accepts that, and
// what in its symbols is amiss. Runs none of its code, so whether the library can be loaded is not
// known: "davit plugin try" loads it. Tests: tst_examples; tst_pluginhost, inspects.
#pragma once

#include <QtCore/qstringlist.h>

namespace davit::host {

// Lines for people. `isGood` becomes false when it would be refused. [host-thread]
QString inspectPlugin(const QString &path, bool *isGood);

} // namespace davit::host
