// How much of a server's answer is taken at once, in bytes of its JSON text. What is larger is left
// out with a sentence that names object, size and limit; what stands beside it is not affected.
// Nesting is limited by the pool: 1024 levels (poolaccess.h). Case B20. Tests: tst_watchdecoder,
// tst_listdecoder, tst_reflector.
#pragma once

#include <QtCore/qglobal.h>

namespace davit::codec {

struct Limits
{
    qsizetype maxEventBytes = qsizetype(16) << 20; // one watch event: a line without its newline
    qsizetype maxItemBytes = qsizetype(16) << 20; // one item of a list, or another member of it
};

// Kept of what is too large, to name it by.
constexpr qsizetype kHeadBytes = qsizetype(64) << 10;

} // namespace davit::codec
