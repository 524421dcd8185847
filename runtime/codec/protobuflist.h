// From the bytes of a list reply in protobuf to pooled objects, item by item: the list is never in
// memory as a whole. Cases B22. Test: tst_protobuflist.
#pragma once

#include "kubernetesschema.h"
#include "listdecoder.h"

#include <davit/priv/protobufwire.h>

namespace davit::codec {

class ProtobufListDecoder final : public ListReader
{
public:
    // `itemGvk` is a kind of the schema.
    ProtobufListDecoder(const KubernetesSchema &schema, const Gvk &itemGvk,
        const priv::DecodeOptions &options, const Limits &limits = {});
    std::vector<Object> feed(const QByteArray &chunk) override;
    Error finish() override;
    // An item has a field that the schema does not know.
    bool needsJson() const override { return m_needsJson; }

private:
    // The head of a field: what is there of it is read again when more has come.
    struct Head
    {
        enum class State : quint8 { Whole, Cut, Wrong };
        State state = State::Wrong;
        std::uint32_t number = 0;
        priv::WireType type = priv::WireType::Varint;
        qsizetype headBytes = 0;
        qsizetype bodyBytes = 0; // of all types but Varint
    };
    static Head readHead(const char *p, const char *end);
    const char *step(const char *p, const char *end, std::vector<Object> &items);
    const char *gatherHead(const char *p, const char *end, std::vector<Object> &items);
    void headDone(const Head &head);
    const char *body(const char *p, const char *end, std::vector<Object> &items);
    void bodyDone(QByteArrayView body, std::vector<Object> &items);
    void itemDone(QByteArrayView message, std::vector<Object> &items);
    void readMetadata(QByteArrayView message);

    const KubernetesSchema &m_schema;
    const std::uint16_t m_type;
    const Gvk m_gvk;
    priv::DecodeOptions m_options;
    priv::ObjectDecoder m_decoder;
    const qsizetype m_maxItemBytes;
    QByteArray m_partial; // of the magic, a head or a body
    Head m_field; // whose body is read; bodyBytes is what is left of it
    qsizetype m_bodySize = 0;
    qsizetype m_rawLeft = -1; // of the list's own message; below 0: not within it
    bool m_isInBody = false;
    bool m_hasMagic = false;
    bool m_hasList = false;
    bool m_isBroken = false;
    bool m_needsJson = false;
    QString m_tooLarge;
};

} // namespace davit::codec
