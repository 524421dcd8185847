#include <davit/objectbuilder.h>
#include <davit/ownership.h>

DAVIT_BEGIN_NAMESPACE

namespace {

Value referencesOf(const Object &object)
{
    return object[QLatin1StringView("metadata")][QLatin1StringView("ownerReferences")];
}

QStringList pathOf(qsizetype index)
{
    return {QStringLiteral("metadata"), QStringLiteral("ownerReferences"), QString::number(index)};
}

QString text(const Value &reference, const char *member)
{
    return reference[QLatin1StringView(member)].toString();
}

bool isController(const Value &reference)
{
    return reference[QLatin1StringView("controller")].toBool();
}

// By group, kind and name: versions come and go, and a uid may be of an earlier life.
bool refersTo(const Value &reference, const Object &owner)
{
    const Gvk theirs = gvkFrom(text(reference, "apiVersion"), text(reference, "kind"));
    const Gvk ours = owner.gvk();
    return theirs.group == ours.group && theirs.kind == ours.kind
        && text(reference, "name") == owner.name();
}

qsizetype indexOf(const Object &object, const Object &owner)
{
    const Value list = referencesOf(object);
    for (qsizetype i = 0; i < list.size(); ++i)
        if (refersTo(list.at(i), owner))
            return i;
    return -1;
}

QString nameOf(const Object &object)
{
    return toString(object.gvk()) + QLatin1Char(' ') + toString(object.key());
}

Status refusal(const Object &owner, const Object &object, const QString &why)
{
    return Status(ErrorCode::InvalidArgument,
        QStringLiteral("%1 as owner of %2: %3").arg(nameOf(owner), nameOf(object), why));
}

Status checkOwner(const Object &owner, const Object &object) // E-19
{
    if (object.isNull())
        return refusal(owner, object, QStringLiteral("the object is null"));
    if (owner.gvk().kind.isEmpty() || owner.name().isEmpty() || owner.uid().isEmpty())
        return refusal(owner, object,
            QStringLiteral("the owner needs kind, name and uid; take it as the server gave it"));
    const QString space = owner.namespaceName();
    if (space.isEmpty())
        return Status::ok();
    if (object.namespaceName().isEmpty())
        return refusal(owner, object,
            QStringLiteral("an owner in a namespace cannot own what is in none; use labels"));
    if (object.namespaceName() != space)
        return refusal(owner, object,
            QStringLiteral("an owner must be in the same namespace, or in none; use labels"));
    return Status::ok();
}

Status setReference(const Object &owner, Object *object, bool controls)
{
    QVariantMap reference{{QStringLiteral("apiVersion"), apiVersion(owner.gvk())},
        {QStringLiteral("kind"), owner.gvk().kind}, {QStringLiteral("name"), owner.name()},
        {QStringLiteral("uid"), owner.uid()}};
    if (controls) {
        reference.insert(QStringLiteral("controller"), true);
        reference.insert(QStringLiteral("blockOwnerDeletion"), true);
    }
    const Value list = referencesOf(*object);
    const qsizetype index = indexOf(*object, owner);
    ObjectBuilder builder(*object);
    if (!list.isArray())
        builder.set(pathOf(0).mid(0, 2), QVariantList());
    builder.set(pathOf(index < 0 ? list.size() : index), reference);
    *object = builder.build();
    return builder.status();
}

Status removeReference(const Object &owner, Object *object, bool mustControl)
{
    const qsizetype index = indexOf(*object, owner);
    if (index < 0)
        return Status(ErrorCode::NotFound,
            QStringLiteral("%1 has no owner reference to %2").arg(nameOf(*object), nameOf(owner)));
    if (mustControl && !isController(referencesOf(*object).at(index)))
        return refusal(owner, *object, QStringLiteral("it is an owner, but not the controller"));
    *object = ObjectBuilder(*object).remove(pathOf(index)).build();
    return Status::ok();
}

} // namespace

Status setControllerReference(const Object &owner, Object *object)
{
    if (const Status status = checkOwner(owner, *object); !status.isOk())
        return status;
    const Value other = controllerOf(*object);
    if (!other.isMissing() && !refersTo(other, owner))
        return Status(ErrorCode::AlreadyOwned,
            QStringLiteral("%1 cannot become the controller of %2: %3 %4 is, already")
                .arg(nameOf(owner), nameOf(*object), text(other, "kind"), text(other, "name")));
    return setReference(owner, object, true);
}

Status setOwnerReference(const Object &owner, Object *object)
{
    if (const Status status = checkOwner(owner, *object); !status.isOk())
        return status;
    return setReference(owner, object, false);
}

Status removeOwnerReference(const Object &owner, Object *object)
{
    return removeReference(owner, object, false);
}

Status removeControllerReference(const Object &owner, Object *object)
{
    return removeReference(owner, object, true);
}

bool hasOwnerReference(const Object &owner, const Object &object)
{
    return indexOf(object, owner) >= 0;
}

Value controllerOf(const Object &object)
{
    const Value list = referencesOf(object);
    for (qsizetype i = 0; i < list.size(); ++i)
        if (isController(list.at(i)))
            return list.at(i);
    return {};
}

bool isControlledBy(const Object &owner, const Object &object)
{
    const Value controller = controllerOf(object);
    return !controller.isMissing() && text(controller, "uid") == owner.uid();
}

DAVIT_END_NAMESPACE
