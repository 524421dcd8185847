#include "patch.h"

#include "patchtree.h"

namespace davit::support {
namespace {

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopyBytes = 3 * 1024 * 1024; // of all copies of one patch

using TreePatch = std::function<PatchOutcome(Json &, const Json &)>;

PatchResult patchTexts(QByteArrayView document, QByteArrayView patch, const TreePatch &apply)
{
    Json target;
    Json change;
    QString error;
    if (!parseJson(document, &target, &error))
        return {{}, PatchFault::MalformedDocument, error};
    if (!parseJson(patch, &change, &error))
        return {{}, PatchFault::MalformedPatch, error};
    const PatchOutcome outcome = apply(target, change);
    if (!outcome.isOk())
        return {{}, outcome.fault, outcome.message};
    return {dumpJson(target), PatchFault::Unset, {}};
}

QString textOf(const Json::exception &e)
{
    return QString::fromUtf8(e.what());
}

// What an operation copies, in bytes of JSON; 0 when it is no copy. Copies of copies double each
// time. Throws as patch_inplace does.
std::size_t copySize(const Json &target, const Json &operation)
{
    if (stringMember(operation, "op") != "copy")
        return 0;
    const std::string from = stringMember(operation, "from");
    return std::size_t(dumpJson(target.at(Json::json_pointer(from))).size());
}

} // namespace

PatchOutcome mergePatchTree(Json &target, const Json &patch)
{
    try {
        target.merge_patch(patch);
        return {};
    } catch (const Json::exception &e) {
        return {PatchFault::NotApplicable, textOf(e)};
    }
}

PatchOutcome jsonPatchTree(Json &target, const Json &patch)
{
    if (!patch.is_array())
        return {PatchFault::MalformedPatch, QStringLiteral("a JSON patch is a list of operations")};
    if (patch.size() > kMaxOperations)
        return {PatchFault::TooLarge,
            QStringLiteral("a JSON patch has at most %1 operations").arg(quint64(kMaxOperations))};
    try {
        std::size_t copied = 0;
        for (const Json &operation : patch) {
            copied += copySize(target, operation);
            if (copied > kMaxCopyBytes)
                return {PatchFault::TooLarge,
                    QStringLiteral("the copies of a JSON patch add at most %1 bytes")
                        .arg(quint64(kMaxCopyBytes))};
            target.patch_inplace(Json::array({operation}));
        }
        return {};
    } catch (const Json::parse_error &e) {
        return {PatchFault::MalformedPatch, textOf(e)};
    } catch (const Json::exception &e) {
        return {PatchFault::NotApplicable, textOf(e)};
    }
}

Json mergePatchTreeBetween(const Json &before, const Json &after)
{
    Json patch = Json::object();
    for (const auto &[name, value] : before.items())
        if (!after.contains(name))
            patch[name] = nullptr;
    for (const auto &[name, value] : after.items()) {
        const auto old = before.find(name);
        if (old == before.end())
            patch[name] = value;
        else if (old->is_object() && value.is_object()) {
            Json inner = mergePatchTreeBetween(*old, value);
            if (!inner.empty())
                patch[name] = std::move(inner);
        } else if (!isSameJson(*old, value))
            patch[name] = value;
    }
    return patch;
}

PatchResult mergePatch(QByteArrayView document, QByteArrayView patch)
{
    return patchTexts(document, patch, mergePatchTree);
}

PatchResult jsonPatch(QByteArrayView document, QByteArrayView patch)
{
    return patchTexts(document, patch, jsonPatchTree);
}

PatchResult strategicMergePatch(QByteArrayView document, QByteArrayView patch, QByteArrayView kind)
{
    const std::string name = toStdString(kind);
    return patchTexts(document, patch, [&name](Json &target, const Json &change) {
        return strategicMergePatchTree(target, change, name);
    });
}

PatchResult mergePatchBetween(QByteArrayView before, QByteArrayView after)
{
    return patchTexts(before, after, [](Json &target, const Json &other) -> PatchOutcome {
        if (!target.is_object() || !other.is_object())
            return {PatchFault::MalformedDocument,
                QStringLiteral("a merge patch is made between two objects")};
        target = mergePatchTreeBetween(target, other);
        return {};
    });
}

} // namespace davit::support
