// Patches over any two texts, "document\0patch": a result is JSON, a refusal has a sentence; and
// the merge patch between two documents makes one of the other.
#include "fuzzing.h"

#include "support/json.h"
#include "support/patch.h"

using namespace davit::support;

static void check(const PatchResult &result)
{
    Json tree;
    QString error;
    if (result.isOk())
        fuzzing::require(parseJson(result.json, &tree, &error));
    else
        fuzzing::require(!result.message.isEmpty());
}

static void checkBetween(const QByteArray &before, const QByteArray &after)
{
    Json wanted;
    QString error;
    if (!parseJson(after, &wanted, &error) || !wanted.is_object() || after.contains("null"))
        return;
    if (!parseJson(before, &wanted, &error) || !wanted.is_object())
        return;
    const PatchResult between = mergePatchBetween(before, after);
    check(between);
    const PatchResult patched = mergePatch(before, between.json);
    Json got;
    parseJson(after, &wanted, &error);
    fuzzing::require(patched.isOk() && parseJson(patched.json, &got, &error));
    fuzzing::require(isSameJson(got, wanted));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const QByteArray bytes(reinterpret_cast<const char *>(data), qsizetype(size));
    const qsizetype border = bytes.indexOf('\0');
    if (border < 0)
        return 0;
    const QByteArray document = bytes.first(border);
    const QByteArray patch = bytes.sliced(border + 1);
    check(mergePatch(document, patch));
    check(jsonPatch(document, patch));
    check(strategicMergePatch(document, patch, "Pod"));
    checkBetween(document, patch);
    return 0;
}
