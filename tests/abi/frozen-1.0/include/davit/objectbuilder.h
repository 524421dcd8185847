// Makes a new object, or a changed copy of one: objects from the cache never change. Not
// thread-safe; cheap to make. Paths are lists of member names and array indexes: {"spec",
// "replicas"}. Test: tst_objectbuilder.
#pragma once

#include <QtCore/qvariant.h>
#include <davit/object.h>

DAVIT_BEGIN_NAMESPACE
class ObjectBuilderPrivate;

// All methods: [any one thread].
class DAVIT_EXPORT ObjectBuilder
{
public:
    // An empty object.
    ObjectBuilder();
    // apiVersion, kind, metadata.name and, unless empty, metadata.namespace.
    ObjectBuilder(const Gvk &gvk, const ObjectKey &key);
    // A copy to change.
    explicit ObjectBuilder(const Object &base);
    ~ObjectBuilder();
    Q_DISABLE_COPY(ObjectBuilder)

    // Sets the value at `path`, making the objects on the way; an index equal to the array's size
    // appends. Values: null, bool, integers, double, QString, QByteArray (UTF-8 text), QStringList,
    // QVariantList, QVariantMap. A path through something that is neither object nor array replaces
    // it.
    ObjectBuilder &set(const QStringList &path, const QVariant &value);
    // Copies a part of another object to `path`; a missing one removes.
    ObjectBuilder &set(const QStringList &path, const Value &value);
    // Sets the parsed JSON at `path`; wrong JSON makes build() fail.
    ObjectBuilder &setJson(const QStringList &path, QByteArrayView json);
    ObjectBuilder &remove(const QStringList &path);
    ObjectBuilder &setLabel(const QString &name, const QString &value);
    ObjectBuilder &setAnnotation(const QString &name, const QString &value);
    // Adds or replaces an owner reference to `owner` by uid; with `isController` it is the
    // controlling one (E-17). Checks nothing: in a reconciler prefer setControllerReference()
    // (davit/ownership.h), which knows another controller and what may own what.
    ObjectBuilder &addOwner(const Object &owner, bool isController = true);

    // The object built so far; null when a step failed. The builder may go on.
    Object build() const;
    // Why build() gives null.
    Status status() const;
    // The JSON built so far, compact.
    QByteArray toJson() const;

private:
    ObjectBuilderPrivate *const d;
};
DAVIT_END_NAMESPACE
