// From the bytes of a watch stream in protobuf to events with pooled objects. An event is four
// bytes of its length, big-endian, then a message of its type and the object in its envelope
// (C-27, C-28). Test: tst_protobufwatch.
#pragma once

#include "kubernetesschema.h"
#include "protobufenvelope.h"
#include "watchdecoder.h"

namespace davit::codec {

class ProtobufWatchDecoder final : public WatchReader
{
public:
    // options.impliedGvk is a kind of the schema: that of the objects.
    ProtobufWatchDecoder(const KubernetesSchema &schema, const priv::DecodeOptions &options,
        const Limits &limits = {});
    std::vector<WatchEvent> feed(const QByteArray &chunk) override;
    bool endedOnBoundary() const override;
    bool needsJson() const override { return m_needsJson; }

private:
    const char *frame(const char *p, const char *end, std::vector<WatchEvent> &events);
    void decodeFrame(QByteArrayView frame, std::vector<WatchEvent> &events);
    void decodeHead(QByteArrayView head, std::vector<WatchEvent> &events);
    void decodeObject(
        WatchEvent::Type type, QByteArrayView message, std::vector<WatchEvent> &events);
    void addUndecoded(
        WatchEvent::Type type, QByteArrayView message, std::vector<WatchEvent> &events);

    const KubernetesSchema &m_schema;
    priv::ObjectDecoder m_decoder;
    const priv::DecodeOptions m_options;
    const std::uint16_t m_type;
    const qsizetype m_maxEventBytes;
    QByteArray m_partial; // of the length, or of a frame
    qsizetype m_frameSize = -1; // of the one that is being read; -1: its length comes
    qsizetype m_frameLeft = 0;
    bool m_needsJson = false;
};

} // namespace davit::codec
