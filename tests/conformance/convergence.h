// What the convergence test believes in: whether what a handler heard, what the store holds and
// what the server lists are the same world. No I/O; its own rows show that it sees a single dropped
// event.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qmap.h>
#include <QtCore/qstring.h>
#include <QtCore/qstringlist.h>
#include <vector>

namespace convergence {

struct Version
{
    QString uid;
    QString resourceVersion;
    QByteArray content = {}; // digestOf() the object
};
inline bool operator==(const Version &a, const Version &b)
{
    return a.uid == b.uid && a.resourceVersion == b.resourceVersion && a.content == b.content;
}

// Eight letters that stand for all that an object says, but for what a list leaves out of its items
// and a cache out of its objects: kind, apiVersion and managedFields.
QByteArray digestOf(QJsonObject object);

using World = QMap<QString, Version>; // "namespace/name" to what is there

// One notification, as a handler heard it.
struct Heard
{
    enum class Kind : quint8 { Added, Updated, Deleted };
    Kind kind = Kind::Added;
    QString key;
    Version before; // Updated: what the handler was told it knew; Deleted: the last known state
    Version object; // Added, Updated
};

// Whether the versions of a uid may go back: only when the server was restored from a backup.
enum class History : quint8 { Grows, MayGoBack };

// Applies the notifications in order. Each that does not fit what came before adds a sentence to
// `faults`: added twice, updated or deleted from a state that was never told, a uid whose versions
// go back.
World replay(
    const std::vector<Heard> &heard, QStringList *faults, History history = History::Grows);

// One sentence a difference, at most 20; empty when both are equal.
QStringList differences(const World &want, const World &got);

// The world of a list's JSON (any List kind). Empty with `ok` false when it is none.
World worldOfList(const QByteArray &json, bool *ok);

} // namespace convergence
