#include "dnsnames.h"

#include <QtCore/qregularexpression.h>

namespace davit::support {

bool isDnsLabel(const QString &text)
{
    static const QRegularExpression label(
        QStringLiteral("\\A[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\z"));
    return label.match(text).hasMatch();
}

bool isDnsSubdomain(const QString &text)
{
    static const QRegularExpression name(
        QStringLiteral("\\A[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\z"));
    return text.size() <= 253 && name.match(text).hasMatch();
}

} // namespace davit::support
