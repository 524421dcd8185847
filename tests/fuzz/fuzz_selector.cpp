// Label, field and shard selectors: what parses prints as text that parses to the same.
#include "fuzzing.h"

#include <davit/selector.h>

using namespace davit;

template <typename Selector> static void check(const QString &text)
{
    Selector selector;
    if (!Selector::parse(text, &selector).isOk())
        return;
    const QString printed = selector.toString();
    Selector again;
    fuzzing::require(Selector::parse(printed, &again).isOk());
    fuzzing::require(again.toString() == printed);
    fuzzing::require(again.isEmpty() == selector.isEmpty());
    fuzzing::require(again.matches({}) == selector.matches({}));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const QString text
        = QString::fromUtf8(reinterpret_cast<const char *>(data), static_cast<qsizetype>(size));
    check<LabelSelector>(text);
    check<FieldSelector>(text);
    check<ShardSelector>(text);
    return 0;
}
