// A request body that Qt can send once only: a sequential device that cannot be read again, so that
// a connection that breaks ends in an error instead of a silent second execution.
// Test: tst_writeonce.
#pragma once

#include <QtCore/qbytearray.h>
#include <QtCore/qiodevice.h>
#include <memory>
#include <support/permit.h>

namespace davit::transport {

// [io-thread]
class BodyDevice final : public QIODevice
{
    Q_OBJECT
public:
    // Gives no byte once `permit`, which may be null, is gone.
    BodyDevice(const QByteArray &body, std::shared_ptr<const support::Permit> permit);

    bool isSequential() const override { return true; }
    qint64 bytesAvailable() const override;
    // Nothing is read twice.
    bool reset() override { return false; }
    bool seek(qint64) override { return false; }
    bool atEnd() const override { return bytesAvailable() == 0; }
    // True from the moment Qt took the first byte: from then on the server may have the request.
    bool wasRead() const { return m_at > 0; }

Q_SIGNALS:
    // It was asked for bytes without a permit. The last thing before it can be too late.
    void refused();

protected:
    qint64 readData(char *data, qint64 maxSize) override;
    qint64 writeData(const char *, qint64) override { return -1; }

private:
    const QByteArray m_body;
    const std::shared_ptr<const support::Permit> m_permit;
    qsizetype m_at = 0;
};

} // namespace davit::transport
