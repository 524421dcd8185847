// One object of a write that the server took: what the client tells the cache, which do not know
// each other.
#pragma once

#include <davit/object.h>

namespace davit::priv {

struct OwnWrite
{
    // What became of it.
    enum class Outcome : quint8 {
        Unset = 0,
        Stands, // in this state
        Gone,
        GoneOrTerminating // which of the two the answer does not tell
    };

    Outcome outcome = Outcome::Unset;
    Gvk gvk;
    ObjectKey key;
    // The newest version that is known: that of the write, or, unless it stands, maybe an older
    // one. Empty: none is known.
    QString resourceVersion;
    QString uid; // empty: not known
    Object object; // with the labels and fields of that version, or null
};

} // namespace davit::priv
