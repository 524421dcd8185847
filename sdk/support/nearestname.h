// "did you mean": the name that was meant most likely by one that is not known. Test:
// tst_pluginmetadata, faults; tst_commandline, refused.
#pragma once

#include <QtCore/qstringlist.h>

namespace davit::support {

// The one of `known` that differs least: by up to three single-letter edits, and by half of the
// letters at most; the other case of a letter is none. Empty when none does. O(letters * letters)
// a name. [thread-safe]
QString nearestName(const QString &name, const QStringList &known);

} // namespace davit::support
