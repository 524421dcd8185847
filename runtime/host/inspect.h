// "davit plugin inspect": what a plugin file is, whether this davit would load it, and what in its
// symbols is amiss. Runs none of its code. Test: tst_examples.
#pragma once

#include <QtCore/qstringlist.h>

namespace davit::host {

// Lines for people. `isGood` becomes false when it would be refused. [host-thread]
QString inspectPlugin(const QString &path, bool *isGood);

} // namespace davit::host
