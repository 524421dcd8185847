// Strict reading of one JSON object: every member is asked for by name and type, and what was not
// asked for is a fault. The first fault is kept, as a sentence that names the file, the field and
// what is wrong. [any one thread]
#pragma once

#include <davit/status.h>

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsonobject.h>
#include <QtCore/qset.h>
#include <QtCore/qstringlist.h>

namespace davit::pluginhost {

enum class Need : quint8 { Optional, Required };

class JsonReader
{
public:
    // `file` and `path` ("Resources[0]", or empty at the top) begin the sentences. `fault` is
    // shared with the readers of the members and outlives them all.
    JsonReader(const QString &file, const QString &path, const QJsonObject &object, Status *fault);

    QString string(const QString &name, Need need = Need::Optional);
    int integer(const QString &name, Need need = Need::Optional);
    bool boolean(const QString &name, bool fallback);
    QStringList strings(const QString &name, Need need = Need::Optional);
    // An array of objects; empty when absent.
    QList<QJsonObject> objects(const QString &name);
    QJsonObject object(const QString &name);
    // A reader of element i of the array `name`.
    JsonReader element(const QString &name, qsizetype i, const QJsonObject &object) const;
    // Faults at members that were never asked for.
    void finish();
    // Keeps "file: path.name what" unless a fault is kept already.
    void fail(const QString &name, const QString &what);

private:
    QJsonValue take(const QString &name, Need need);
    QString pathOf(const QString &name) const;

    const QString m_file;
    const QString m_path;
    const QJsonObject m_object;
    QSet<QString> m_asked;
    Status *const m_fault; // borrowed
};

} // namespace davit::pluginhost
