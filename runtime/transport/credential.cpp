#include "credential.h"

#include "inputfile.h"

#include <algorithm>
#include <optional>

namespace davit::transport {
namespace {

// C-46: one minute with ten seconds of leeway.
constexpr std::chrono::seconds kFileLifetime{50};

class StaticToken final : public Credential
{
public:
    explicit StaticToken(const QByteArray &token) : m_token(token) { }
    Result<QByteArray> token() override { return m_token; }
    bool renew(const QByteArray &refused) override { return refused != m_token; }

private:
    const QByteArray m_token;
};

class TokenFile final : public Credential
{
public:
    TokenFile(const QString &path, const QByteArray &token, const support::TimeSource &time)
        : m_path(path), m_time(time), m_token(token)
    { }

    Result<QByteArray> token() override
    {
        if (!m_readAt || m_time.monotonic() - *m_readAt >= kFileLifetime)
            read();
        if (m_token.isEmpty()) {
            return Error(ErrorCode::InvalidConfiguration,
                QStringLiteral("token file %1: %2; check the file that the kubeconfig or the "
                               "service account names")
                    .arg(m_path, m_fault));
        }
        return m_token;
    }

    bool renew(const QByteArray &refused) override
    {
        read();
        return m_token != refused;
    }

private:
    void read()
    {
        m_readAt = m_time.monotonic();
        QString unreadable;
        const QByteArray text
            = readInputFile(m_path, &unreadable, std::chrono::milliseconds(0)).trimmed();
        if (!unreadable.isEmpty())
            m_fault = QStringLiteral("it cannot be read: ") + unreadable;
        else if (text.isEmpty())
            m_fault = QStringLiteral("it is empty");
        else if (!isHeaderSafe(text))
            m_fault = QStringLiteral("it ") + kNotHeaderSafe;
        else
            m_token = text;
    }

    const QString m_path;
    const support::TimeSource &m_time;
    QByteArray m_token; // the last good one; at first the fall-back of the configuration
    QString m_fault; // of the last look, told when there is no token at all
    std::optional<support::TimeSource::Nanoseconds> m_readAt;
};

} // namespace

bool isHeaderSafe(const QByteArray &token) noexcept
{
    return std::none_of(token.begin(), token.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

std::unique_ptr<Credential> makeCredential(
    const ClusterConfig &config, const support::TimeSource &time)
{
    if (config.tokenFile.isEmpty())
        return std::make_unique<StaticToken>(config.token);
    return std::make_unique<TokenFile>(config.tokenFile, config.token, time);
}

} // namespace davit::transport
