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

// What reads one list reply. Not thread-safe; one a reply.
class ListReader
{
public:
    virtual ~ListReader();
    Q_DISABLE_COPY_MOVE(ListReader)
    // Items completed by this chunk, in order. Any chunk border is fine. Items that cannot be
    // decoded or are larger than the limit are left out, counted and named.
    virtual std::vector<Object> feed(const QByteArray &chunk) = 0;
    // After the last byte: an error when the reply was cut, is no list, is a Table, or has
    // metadata larger than the limit.
    virtual Error finish() = 0;
    // The reply has what only JSON can tell: list again.
    virtual bool needsJson() const { return false; }
    // Complete after finish(); members come in any order.
    const ListMeta &meta() const { return m_meta; }
    qsizetype badItems() const { return m_badItems; }
    // "namespace/name of the item (as far as known): what is wrong".
    const QStringList &badItemNotes() const { return m_notes; }

protected:
    ListReader() = default;
    void badItem(const QString &note);
    static QString tooLargeText(const QString &what, qsizetype bytes, qsizetype limit);

    ListMeta m_meta;

private:
    qsizetype m_badItems = 0;
    QStringList m_notes;
};

class ListDecoderPrivate;
// JSON.
class ListDecoder final : public ListReader
{
public:
    // `itemGvk` fills in apiVersion and kind of the items.
    ListDecoder(const Gvk &itemGvk, const priv::DecodeOptions &options, const Limits &limits = {});
    ~ListDecoder() override;
    std::vector<Object> feed(const QByteArray &chunk) override;
    Error finish() override;

private:
    friend class ListDecoderPrivate;
    std::unique_ptr<ListDecoderPrivate> d;
};

} // namespace davit::codec
