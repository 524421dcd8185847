// Why a key was queued, for logs and people. Cheap to keep: its texts are shared, and the sentence
// is made only when someone reads it. Test: tst_priorityqueue, causes.
#pragma once

#include <davit/objectkey.h>

namespace davit::workqueue {

struct Cause
{
    enum class Type : quint8 { Unset = 0, Added, Updated, Deleted, Retry, Requeued, Other };
    Type type = Type::Unset;
    QString subject; // the kind ("v1 Secret"), or free text for Other
    ObjectKey object; // of Added, Updated, Deleted
    qint64 attempt = 0; // of Retry, from 1
};

// "updated v1 Secret team-a/key", "retry 3", "requeued". [thread-safe]
QString toString(const Cause &cause);

} // namespace davit::workqueue
