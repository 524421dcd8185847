#include "listenaddress.h"

namespace davit::web {

Result<ListenAddress> parseListenAddress(const QString &text)
{
    ListenAddress address;
    if (text.isEmpty() || text == QLatin1StringView("0")) {
        address.isOff = true;
        return address;
    }
    const auto refusal = [&text](const char *fault) {
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("address \"%1\" %2; write it as :8080, 127.0.0.1:8080 or [::1]:8080, or "
                           "0 to turn the server off")
                .arg(text, QString::fromUtf8(fault)));
    };
    const qsizetype colon = text.lastIndexOf(QLatin1Char(':'));
    if (colon < 0)
        return refusal("has no port");
    address.host = text.left(colon);
    if (address.host.startsWith(QLatin1Char('[')) && address.host.endsWith(QLatin1Char(']')))
        address.host = address.host.mid(1, address.host.size() - 2);
    else if (address.host.contains(QLatin1Char(':')))
        return refusal("is an IPv6 address without brackets");
    bool isNumber = false;
    const QString port = text.mid(colon + 1);
    address.port = port.toUShort(&isNumber);
    if (!isNumber || port.startsWith(QLatin1Char('+')))
        return refusal("has no port between 0 and 65535");
    return address;
}

QString toString(const ListenAddress &address)
{
    if (address.isOff)
        return QStringLiteral("off");
    const QString host = address.host.contains(QLatin1Char(':'))
        ? QLatin1Char('[') + address.host + QLatin1Char(']')
        : address.host;
    return host + QLatin1Char(':') + QString::number(address.port);
}

} // namespace davit::web
