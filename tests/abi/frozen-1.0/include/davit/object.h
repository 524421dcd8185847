// One Kubernetes object, immutable, eight bytes wide. Equal parts of all objects in the process are
// stored once. Contract:
//   - A copy costs one atomic increment; reading never takes a lock and never touches the network.
//   - What is read back is what was sent: member order, exact numbers, unknown fields.
//   managedFields are dropped unless asked for.
//   - To change an object, start an ObjectBuilder from it.
// Source: Kubernetes API conventions, "Objects". Test: tst_object, tst_pool.
#pragma once

#include <davit/gvk.h>
#include <davit/objectkey.h>
#include <davit/value.h>

DAVIT_BEGIN_NAMESPACE
class DAVIT_EXPORT Object
{
public:
    // The null object.
    Object() noexcept;
    Object(const Object &other) noexcept;
    Object(Object &&other) noexcept;
    Object &operator=(const Object &other) noexcept;
    Object &operator=(Object &&other) noexcept;
    ~Object();

    // Parses one JSON object (UTF-8); fills `object`, or says what is wrong and where. The result
    // is private: it joins the shared pool when a cache takes it. managedFields are kept. O(bytes).
    // [thread-safe]
    static Status fromJson(QByteArrayView json, Object *object);

    // [thread-safe]
    bool isNull() const noexcept;
    // Only metadata, apiVersion and kind are there: the informer was asked for no more.
    // [thread-safe]
    bool isMetadataOnly() const noexcept;

    // The whole tree; keeps the object alive. Missing for the null object. [thread-safe]
    Value root() const noexcept;
    // root()[name]. A member that is absent is a missing Value, never an error. O(members).
    // [thread-safe]
    Value operator[](QLatin1StringView name) const noexcept;

    // The usual metadata; empty when absent. Strings are made on each call: keep them when you need
    // them twice. [thread-safe]
    Gvk gvk() const;
    ObjectKey key() const;
    QString name() const;
    QString namespaceName() const;
    QString uid() const;
    QString resourceVersion() const;
    qint64 generation() const noexcept;
    // True once someone asked for the deletion (metadata.deletionTimestamp is there). [thread-safe]
    bool isBeingDeleted() const noexcept;
    // The value, or empty; hasAnnotation() tells an empty one from none. [thread-safe]
    QString label(QLatin1StringView name) const;
    QString annotation(QLatin1StringView name) const;
    bool hasAnnotation(QLatin1StringView name) const noexcept;

    // Compact JSON, UTF-8. O(size). [thread-safe]
    QByteArray toJson() const;
    // Deep equality; one comparison when both are in the pool. [thread-safe]
    DAVIT_EXPORT friend bool operator==(const Object &a, const Object &b) noexcept;
    friend bool operator!=(const Object &a, const Object &b) noexcept { return !(a == b); }

private:
    friend struct davit::priv::PoolAccess;
    explicit Object(quint64 adopted) noexcept : m_handle(adopted) { }
    quint64 m_handle; // ABI: frozen. A reference and flags; 0 is null. See sdk/src/pool.
};
DAVIT_END_NAMESPACE
Q_DECLARE_METATYPE(davit::Object)
