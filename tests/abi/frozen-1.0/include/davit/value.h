// A place inside an Object: an object, array, string, number, boolean, null, or nothing. Contract:
//   - A Value keeps its object alive, so a chain such as object["spec"_L1]["replicas"_L1].toInt()
//   has no dangling step.
//   - Asking a Value of the wrong type for something gives the default you named, never an error.
// Test: tst_object.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qmetatype.h>
#include <QtCore/qstring.h>
#include <QtCore/qstringlist.h>
#include <davit/fwd.h>

DAVIT_BEGIN_NAMESPACE
enum class ValueType : quint8 {
    Missing = 0, // no such member or element
    Null,
    Boolean,
    Integer, // whole and within qint64 or quint64
    Double, // any other number, one beyond the range of double included (toText() has it exactly)
    String,
    Array,
    Object
};

class DAVIT_EXPORT Value
{
public:
    // Missing.
    Value() noexcept;
    Value(const Value &other) noexcept;
    Value(Value &&other) noexcept;
    Value &operator=(const Value &other) noexcept;
    Value &operator=(Value &&other) noexcept;
    ~Value();

    // [thread-safe]
    ValueType type() const noexcept;
    bool isMissing() const noexcept { return type() == ValueType::Missing; }
    // Missing or null.
    bool isNull() const noexcept { return type() <= ValueType::Null; }
    bool isObject() const noexcept { return type() == ValueType::Object; }
    bool isArray() const noexcept { return type() == ValueType::Array; }
    bool isString() const noexcept { return type() == ValueType::String; }

    // A member of an object; Missing when absent or when this is no object. UTF-8 names go through
    // the second. O(members). [thread-safe]
    Value operator[](QLatin1StringView name) const &noexcept;
    Value operator[](QLatin1StringView name) &&noexcept;
    Value operator[](QByteArrayView utf8Name) const noexcept;
    Value operator[](QStringView name) const;
    // Members of an object or elements of an array; 0 for anything else. [thread-safe]
    qsizetype size() const noexcept;
    // Element or member number i in the order they were sent; Missing when out of range. O(i).
    // [thread-safe]
    Value at(qsizetype i) const noexcept;
    // Name of member i; empty when out of range or no object. [thread-safe]
    QString nameAt(qsizetype i) const;
    QStringList names() const;

    // [thread-safe]
    QString toString(const QString &fallback = {}) const;
    // The string's bytes; empty for anything else. Base64 is not decoded.
    QByteArray toUtf8() const;
    // Compares without making a string.
    bool equals(QLatin1StringView text) const noexcept;
    qint64 toInt(qint64 fallback = 0) const noexcept;
    double toDouble(double fallback = 0) const noexcept;
    bool toBool(bool fallback = false) const noexcept;
    // An integer or a string, as Kubernetes' IntOrString: its text either way.
    QString toText() const;

    // Compact JSON of this part; empty when Missing. [thread-safe]
    QByteArray toJson() const;
    // Deep equality, member order included; one comparison for shared parts. Two Missing are equal.
    // [thread-safe]
    DAVIT_EXPORT friend bool operator==(const Value &a, const Value &b) noexcept;
    friend bool operator!=(const Value &a, const Value &b) noexcept { return !(a == b); }

private:
    friend struct davit::priv::PoolAccess;
    quint64 m_root; // ABI: frozen. The owned handle of the object.
    quint64 m_position; // ABI: frozen. Where in it.
};
DAVIT_END_NAMESPACE
Q_DECLARE_METATYPE(davit::Value)
