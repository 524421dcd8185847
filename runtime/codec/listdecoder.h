// From the bytes of a list reply to pooled objects, item by item: the list is never in memory as a
// whole. Cases B22 (one bad item never fails its list). Test: tst_listdecoder.
#pragma once

#include "limits.h"

#include <davit/priv/poolaccess.h>
#include <vector>

namespace davit::codec {

struct ListMeta
{
    QString apiVersion; // of the list
    QString kind; // "ConfigMapList"
    QString resourceVersion;
    QString continueToken;
    qint64 remainingItemCount = -1; // -1: not said
};

class ListDecoderPrivate;
// Not thread-safe; one a reply.
class ListDecoder
{
public:
    // `itemGvk` fills in apiVersion and kind of the items.
    ListDecoder(const Gvk &itemGvk, const priv::DecodeOptions &options, const Limits &limits = {});
    ~ListDecoder();
    Q_DISABLE_COPY_MOVE(ListDecoder)

    // Items completed by this chunk, in order. Any chunk border is fine. Items that cannot be
    // decoded or are larger than the limit are left out, counted and named.
    std::vector<Object> feed(const QByteArray &chunk);
    // After the last byte: an error when the reply was cut, is no list, is a Table, or has
    // metadata larger than the limit.
    Error finish();
    // Complete after finish(); members come in any order.
    const ListMeta &meta() const;
    qsizetype badItems() const;
    // "namespace/name of the item (as far as known): what is wrong".
    QStringList badItemNotes() const;

private:
    std::unique_ptr<ListDecoderPrivate> d;
};

} // namespace davit::codec
