// ObjectBuilder: a tree of nodes over the base object; only what a step changes is unfolded.
#include "pool/documentreader.h"
#include "pool/handle.h"

#include <cmath>
#include <davit/objectbuilder.h>
#include <davit/priv/poolaccess.h>
#include <memory>
#include <simdjson.h>

DAVIT_BEGIN_NAMESPACE

namespace pool = priv::pool;
using pool::Place;
using pool::TreeBuilder;

namespace {

Place placeOf(const Value &value) noexcept
{
    return pool::placeAt(priv::PoolAccess::rootOf(value), priv::PoolAccess::positionOf(value));
}

std::string toStd(const QString &text)
{
    return text.toStdString();
}

// Either a part of some object, as it is, or an object or array that is being changed.
struct Node
{
    enum class Form { Leaf, Object, Array };
    Form form = Form::Leaf;
    Value leaf;
    std::string name; // as a member; an element has none
    std::vector<Node> children;

    Node *find(const std::string &childName);
    Node &findOrAdd(const std::string &childName);
    void unfold();
    void makeObject();
    void replaceBy(const Value &value);
    void emitTo(TreeBuilder &builder) const;
};

void Node::unfold()
{
    if (form != Form::Leaf || !(leaf.isObject() || leaf.isArray()))
        return;
    form = leaf.isObject() ? Form::Object : Form::Array;
    const std::uint64_t root = priv::PoolAccess::rootOf(leaf);
    for (pool::Children parts(placeOf(leaf)); parts.next();) {
        Node child;
        child.leaf = priv::PoolAccess::valueAt(pool::retain(root), parts.value().position());
        child.name = parts.name();
        children.push_back(std::move(child));
    }
    leaf = Value();
}

void Node::makeObject()
{
    unfold();
    if (form == Form::Object)
        return;
    replaceBy({});
    form = Form::Object;
}

void Node::replaceBy(const Value &value)
{
    form = Form::Leaf;
    leaf = value;
    children.clear();
}

Node *Node::find(const std::string &childName)
{
    for (Node &child : children)
        if (child.name == childName)
            return &child;
    return nullptr;
}

Node &Node::findOrAdd(const std::string &childName)
{
    if (Node *child = find(childName))
        return *child;
    Node &child = children.emplace_back();
    child.name = childName;
    return child;
}

// As deep as the path that unfolded it.
void Node::emitTo(TreeBuilder &builder) const // NOLINT(misc-no-recursion)
{
    if (form == Form::Leaf) {
        builder.value(placeOf(leaf));
        return;
    }
    form == Form::Object ? builder.startObject() : builder.startArray();
    for (const Node &child : children) {
        if (form == Form::Object)
            builder.key(child.name);
        child.emitTo(builder);
    }
    form == Form::Object ? builder.endObject() : builder.endArray();
}

// False for a type that JSON has no form for; null takes its place.
bool emitScalar(const QVariant &value, TreeBuilder &builder)
{
    bool isGood = true;
    switch (value.typeId()) {
    case QMetaType::UnknownType:
    case QMetaType::Nullptr:
        builder.null();
        break;
    case QMetaType::Bool:
        builder.boolean(value.toBool());
        break;
    case QMetaType::Char:
    case QMetaType::SChar:
    case QMetaType::Short:
    case QMetaType::Int:
    case QMetaType::Long:
    case QMetaType::LongLong:
        builder.integer(value.toLongLong());
        break;
    case QMetaType::UChar:
    case QMetaType::UShort:
    case QMetaType::UInt:
    case QMetaType::ULong:
    case QMetaType::ULongLong:
        builder.unsignedInteger(value.toULongLong());
        break;
    case QMetaType::Float:
    case QMetaType::Double:
        isGood = std::isfinite(value.toDouble());
        builder.number(isGood ? value.toDouble() : 0);
        break;
    case QMetaType::QString:
        builder.string(toStd(value.toString()));
        break;
    case QMetaType::QByteArray: {
        const QByteArray text = value.toByteArray();
        isGood = simdjson::validate_utf8(text.constData(), std::size_t(text.size()));
        builder.string(isGood ? text.toStdString() : std::string());
        break;
    }
    default:
        builder.null();
        isGood = false;
    }
    return isGood;
}

// As emitScalar(), for lists and maps too.
bool emitVariant(const QVariant &value, TreeBuilder &builder) // NOLINT(misc-no-recursion)
{
    bool isGood = true;
    switch (value.typeId()) {
    case QMetaType::QStringList:
    case QMetaType::QVariantList:
        builder.startArray();
        for (const QVariant &element : value.toList())
            isGood = emitVariant(element, builder) && isGood;
        builder.endArray();
        break;
    case QMetaType::QVariantMap: {
        builder.startObject();
        const QVariantMap map = value.toMap();
        std::vector<std::string> names; // the builder looks at them until the object ends
        names.reserve(std::size_t(map.size()));
        for (auto it = map.cbegin(); it != map.cend(); ++it) {
            builder.key(names.emplace_back(toStd(it.key())));
            isGood = emitVariant(it.value(), builder) && isGood;
        }
        builder.endObject();
        break;
    }
    default:
        isGood = emitScalar(value, builder);
    }
    return isGood;
}

// A private tree of its own.
Value finished(TreeBuilder &builder)
{
    const std::uint64_t handle = builder.finish();
    return handle == 0 ? Value() : priv::PoolAccess::valueAt(handle, 0);
}

} // namespace

class ObjectBuilderPrivate
{
public:
    void fail(const QStringList &path, const QString &what);
    Node *nodeAt(const QStringList &path);
    void set(const QStringList &path, const Value &value);

    Node root;
    Status status;
};

void ObjectBuilderPrivate::fail(const QStringList &path, const QString &what)
{
    if (status.isOk())
        status = Status(ErrorCode::InvalidArgument,
            QStringLiteral("set %1: %2").arg(path.join(QLatin1Char('.')), what));
}

// The node at `path`, made on the way; null when an array index is out of range.
Node *ObjectBuilderPrivate::nodeAt(const QStringList &path)
{
    Node *node = &root;
    for (const QString &step : path) {
        node->unfold();
        if (node->form != Node::Form::Array) {
            node->makeObject();
            node = &node->findOrAdd(toStd(step));
            continue;
        }
        bool isNumber = false;
        const qulonglong index = step.toULongLong(&isNumber);
        if (!isNumber || index > node->children.size()) {
            fail(path,
                QStringLiteral("no index \"%1\" in an array of %2")
                    .arg(step)
                    .arg(node->children.size()));
            return nullptr;
        }
        if (index == node->children.size())
            node->children.emplace_back();
        node = &node->children[index];
    }
    return node;
}

void ObjectBuilderPrivate::set(const QStringList &path, const Value &value)
{
    Node *node = nodeAt(path);
    if (node == nullptr)
        return;
    node->replaceBy(value);
}

ObjectBuilder::ObjectBuilder() : d(new ObjectBuilderPrivate)
{
    d->root.form = Node::Form::Object;
}

ObjectBuilder::ObjectBuilder(const Gvk &gvk, const ObjectKey &key) : ObjectBuilder()
{
    set({QStringLiteral("apiVersion")}, apiVersion(gvk));
    set({QStringLiteral("kind")}, gvk.kind);
    set({QStringLiteral("metadata"), QStringLiteral("name")}, key.name);
    if (!key.namespaceName.isEmpty())
        set({QStringLiteral("metadata"), QStringLiteral("namespace")}, key.namespaceName);
}

ObjectBuilder::ObjectBuilder(const Object &base) : ObjectBuilder()
{
    if (base.isNull())
        return;
    d->root.replaceBy(base.root());
}

ObjectBuilder::~ObjectBuilder()
{
    delete d;
}

ObjectBuilder &ObjectBuilder::set(const QStringList &path, const QVariant &value)
{
    TreeBuilder builder(pool::Storage::Private);
    if (!emitVariant(value, builder)) {
        d->fail(path,
            QStringLiteral("JSON has no form for this %1")
                .arg(QLatin1StringView(value.metaType().name())));
        return *this;
    }
    const Value made = finished(builder);
    if (made.isMissing())
        d->fail(path, QString::fromLatin1(builder.error()));
    else
        d->set(path, made);
    return *this;
}

ObjectBuilder &ObjectBuilder::set(const QStringList &path, const Value &value)
{
    if (value.isMissing())
        return remove(path);
    d->set(path, value);
    return *this;
}

ObjectBuilder &ObjectBuilder::setJson(const QStringList &path, QByteArrayView json)
{
    pool::DocumentReader reader;
    TreeBuilder builder(pool::Storage::Private);
    if (!reader.readValue({json.data(), std::size_t(json.size())}, builder)) {
        d->fail(path,
            QStringLiteral("JSON, byte %1: %2")
                .arg(reader.errorByte())
                .arg(QLatin1StringView(reader.error())));
        return *this;
    }
    const Value made = finished(builder);
    if (made.isMissing())
        d->fail(path, QString::fromLatin1(builder.error()));
    else
        d->set(path, made);
    return *this;
}

ObjectBuilder &ObjectBuilder::remove(const QStringList &path)
{
    if (path.isEmpty()) {
        d->root.replaceBy({});
        d->root.form = Node::Form::Object;
        return *this;
    }
    Node *node = &d->root;
    for (qsizetype i = 0; i + 1 < path.size() && node != nullptr; ++i) {
        node->unfold();
        bool isNumber = false;
        const qulonglong index = path[i].toULongLong(&isNumber);
        if (node->form == Node::Form::Array)
            node = isNumber && index < node->children.size() ? &node->children[index] : nullptr;
        else
            node = node->form == Node::Form::Object ? node->find(toStd(path[i])) : nullptr;
    }
    if (node == nullptr)
        return *this;
    node->unfold();
    const std::string last = toStd(path.back());
    bool isNumber = false;
    const qulonglong index = path.back().toULongLong(&isNumber);
    if (node->form == Node::Form::Object)
        std::erase_if(node->children, [&last](const Node &child) { return child.name == last; });
    else if (node->form == Node::Form::Array && isNumber && index < node->children.size())
        node->children.erase(node->children.begin() + std::ptrdiff_t(index));
    return *this;
}

ObjectBuilder &ObjectBuilder::setLabel(const QString &name, const QString &value)
{
    return set({QStringLiteral("metadata"), QStringLiteral("labels"), name}, value);
}

ObjectBuilder &ObjectBuilder::setAnnotation(const QString &name, const QString &value)
{
    return set({QStringLiteral("metadata"), QStringLiteral("annotations"), name}, value);
}

ObjectBuilder &ObjectBuilder::addOwner(const Object &owner, bool isController)
{
    const QStringList path{QStringLiteral("metadata"), QStringLiteral("ownerReferences")};
    Node *list = d->nodeAt(path);
    if (!list)
        return *this;
    list->unfold();
    if (list->form != Node::Form::Array) {
        list->replaceBy({});
        list->form = Node::Form::Array;
    }
    const std::string uid = toStd(owner.uid());
    std::size_t index = 0;
    for (; index < list->children.size(); ++index) {
        Node &entry = list->children[index];
        entry.unfold();
        const Node *theirs = entry.find("uid");
        if (theirs != nullptr && theirs->leaf.toUtf8().toStdString() == uid)
            break;
    }
    QVariantMap reference{{QStringLiteral("apiVersion"), apiVersion(owner.gvk())},
        {QStringLiteral("kind"), owner.gvk().kind}, {QStringLiteral("name"), owner.name()},
        {QStringLiteral("uid"), owner.uid()}};
    if (isController) {
        reference.insert(QStringLiteral("controller"), true);
        reference.insert(QStringLiteral("blockOwnerDeletion"), true);
    }
    return set(path + QStringList{QString::number(index)}, reference);
}

Object ObjectBuilder::build() const
{
    if (!d->status.isOk())
        return {};
    TreeBuilder builder(pool::Storage::Private);
    d->root.emitTo(builder);
    const std::uint64_t handle = builder.finish();
    if (handle == 0)
        d->fail({}, QString::fromLatin1(builder.error()));
    return priv::PoolAccess::adopt(handle);
}

Status ObjectBuilder::status() const
{
    return d->status;
}

QByteArray ObjectBuilder::toJson() const
{
    TreeBuilder builder(pool::Storage::Private);
    d->root.emitTo(builder);
    return finished(builder).toJson();
}

DAVIT_END_NAMESPACE
