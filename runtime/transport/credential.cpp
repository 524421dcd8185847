#include "credential.h"

#include "inputfile.h"

#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <algorithm>
#include <cstring>
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
    std::optional<std::chrono::nanoseconds> expires() const override
    {
        return webTokenExpiry(m_token);
    }

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

    std::optional<std::chrono::nanoseconds> expires() const override
    {
        return webTokenExpiry(m_token);
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

// Lower case, and percent-escaped where a header's name may not hold the byte (RFC 9110 5.6.2).
QByteArray escapedHeaderKey(const QString &key)
{
    static constexpr char kTokenMarks[] = "!#$&'*+-.^_`|~";
    QByteArray escaped;
    for (const char c : key.toLower().toUtf8()) {
        const bool isPlain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
            || (c != 0 && std::strchr(kTokenMarks, c) != nullptr);
        if (isPlain)
            escaped += c;
        else
            escaped += '%' + QByteArray(1, c).toHex().toUpper();
    }
    return escaped;
}

} // namespace

bool isHeaderSafe(const QByteArray &text) noexcept
{
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

std::optional<std::chrono::nanoseconds> webTokenExpiry(const QByteArray &token)
{
    const QList<QByteArray> parts = token.split('.');
    if (parts.size() != 3)
        return std::nullopt;
    const QJsonValue exp
        = QJsonDocument::fromJson(QByteArray::fromBase64(parts[1], QByteArray::Base64UrlEncoding))
              .object()
              .value(QLatin1StringView("exp"));
    const double seconds = exp.toDouble(-1);
    if (seconds < 0 || seconds > 9e9) // beyond is no time that anybody meant
        return std::nullopt;
    return std::chrono::seconds(qint64(seconds));
}

QByteArray basicAuthorization(const QString &user, const QByteArray &password)
{
    return "Basic " + (user.toUtf8() + ':' + password).toBase64();
}

QList<std::pair<QByteArray, QList<QByteArray>>> impersonationHeaders(
    const Impersonation &impersonation)
{
    QList<std::pair<QByteArray, QList<QByteArray>>> headers;
    const auto add = [&](const QByteArray &name, const QStringList &texts) {
        QList<QByteArray> values;
        for (const QString &text : texts)
            values << text.toUtf8();
        if (!values.isEmpty())
            headers.append({name, values});
    };
    if (impersonation.user.isEmpty())
        return headers;
    add("Impersonate-User", {impersonation.user});
    if (!impersonation.uid.isEmpty())
        add("Impersonate-Uid", {impersonation.uid});
    add("Impersonate-Group", impersonation.groups);
    for (const auto &[key, values] : impersonation.extra)
        add("Impersonate-Extra-" + escapedHeaderKey(key), values);
    return headers;
}

std::unique_ptr<Credential> makeCredential(
    const ClusterConfig &config, const support::TimeSource &time)
{
    if (config.tokenFile.isEmpty())
        return std::make_unique<StaticToken>(config.token);
    return std::make_unique<TokenFile>(config.tokenFile, config.token, time);
}

} // namespace davit::transport
