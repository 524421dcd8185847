#include "redaction.h"

#include "knownsecrets.h"

#include <QtCore/qregularexpression.h>
#include <array>

namespace davit::observability {

namespace {

const QString &mark()
{
    static const QString text = QStringLiteral("<redacted>");
    return text;
}

// Most lines hold nothing of the kind: one pass over the text decides whether to run the patterns.
bool isSuspicious(const QString &text)
{
    return text.contains(QLatin1StringView("-----BEGIN")) || text.contains(QLatin1StringView("eyJ"))
        || text.contains(QLatin1StringView("://"))
        || text.contains(QLatin1StringView("bearer"), Qt::CaseInsensitive)
        || text.contains(QLatin1StringView("basic "), Qt::CaseInsensitive);
}

} // namespace

bool isSecretName(QLatin1StringView name) noexcept
{
    static constexpr std::array kNames
        = {"token", "password", "passwd", "authorization", "bearer", "bearertoken", "clientkey",
            "clientkeydata", "clientsecret", "privatekey", "secretdata", "stringdata", "apikey",
            "accesstoken", "refreshtoken", "idtoken", "credential", "credentials"};
    char folded[32];
    size_t size = 0;
    for (const char c : name) {
        if (c == '-' || c == '_' || c == '.')
            continue;
        if (size == sizeof folded)
            return false;
        folded[size++] = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    }
    const QLatin1StringView wanted(folded, qsizetype(size));
    for (const char *candidate : kNames)
        if (wanted == QLatin1StringView(candidate))
            return true;
    return false;
}

QString redacted(const QString &given)
{
    const QString text = withoutKnownSecrets(given);
    if (!isSuspicious(text))
        return text;
    static const QRegularExpression pem(
        QStringLiteral("-----BEGIN [A-Z0-9 ]+-----.*?(-----END [A-Z0-9 ]+-----|\\z)"),
        QRegularExpression::DotMatchesEverythingOption);
    // Not the words of our own advice, here and in userInfo.
    static const QRegularExpression bearer(
        QStringLiteral("\\b(bearer|basic)\\s+"
                       "(?!(authentication|authorization|credentials?)(?![A-Za-z0-9_~+/=-]))"
                       "[A-Za-z0-9._~+/=-]{8,}"),
        QRegularExpression::CaseInsensitiveOption);
    static const QRegularExpression webToken(
        QStringLiteral("\\beyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]*)?"));
    static const QRegularExpression userInfo(
        QStringLiteral("://(?!USER:PASSWORD@)[^/@\\s:]+:[^/@\\s]+@"));
    QString copy = text;
    copy.replace(pem, mark());
    copy.replace(bearer, QStringLiteral("\\1 <redacted>"));
    copy.replace(webToken, mark());
    copy.replace(userInfo, QStringLiteral("://<redacted>@"));
    return copy;
}

} // namespace davit::observability
