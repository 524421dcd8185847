// What `kubectl get` prints: rows and columns as the server makes them of a kind's objects (a CRD's
// additionalPrinterColumns among them). A view of a Table object; header-only.
// Source: Kubernetes API concepts, "Receiving resources as Tables". Test: tst_clientreal.
#pragma once

#include <davit/object.h>

DAVIT_BEGIN_NAMESPACE
// All methods: [thread-safe].
class Table
{
public:
    Table() = default;
    explicit Table(const Object &object) : m_object(object) { }
    bool isNull() const { return m_object.isNull(); }
    // The Table object itself; its metadata has resourceVersion and continue.
    Object object() const { return m_object; }
    qsizetype columnCount() const { return columns().size(); }
    // name, type, format, description, priority (0: shown without -o wide). Missing out of range.
    Value column(qsizetype i) const { return columns().at(i); }
    qsizetype rowCount() const { return rows().size(); }
    // A string, number, boolean or null.
    Value cell(qsizetype row, qsizetype column) const
    {
        return rows().at(row)[QLatin1StringView("cells")].at(column);
    }
    // The metadata of the row's object (a PartialObjectMetadata).
    Value rowObject(qsizetype row) const { return rows().at(row)[QLatin1StringView("object")]; }
    // Empty on the last page.
    QString continueToken() const
    {
        return m_object[QLatin1StringView("metadata")][QLatin1StringView("continue")].toString();
    }

private:
    Value columns() const { return m_object[QLatin1StringView("columnDefinitions")]; }
    Value rows() const { return m_object[QLatin1StringView("rows")]; }
    Object m_object;
};
DAVIT_END_NAMESPACE
