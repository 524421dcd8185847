// DAVIT_ASSERT_THREAD(owner): the first line of a method that belongs to one thread (rules 14 and
// 15 of CONVENTIONS.md). In debug builds it ends the process, with the method's name, when the
// caller is not on the thread of `owner`: a QObject, or anything with isCurrent() (Strand,
// IoThread). Release builds do nothing. Test: tst_strand.
#pragma once

#include <QtCore/qobject.h>
#include <QtCore/qthread.h>

namespace davit::support {

// [thread-safe]
inline bool isOnThreadOf(const QObject &owner)
{
    return owner.thread() == QThread::currentThread();
}
template <typename Owner> auto isOnThreadOf(const Owner &owner) -> decltype(owner.isCurrent())
{
    return owner.isCurrent();
}

} // namespace davit::support

#define DAVIT_ASSERT_THREAD(owner)                                                                 \
    Q_ASSERT_X(davit::support::isOnThreadOf(owner), Q_FUNC_INFO, "called on the wrong thread")
