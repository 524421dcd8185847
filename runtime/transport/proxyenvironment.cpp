#include "proxyenvironment.h"

#include <QtNetwork/qhostaddress.h>

namespace davit::transport {
namespace {

QString eitherCase(const LoadEnvironment &environment, const QByteArray &upper)
{
    const QString value = environment.variable(upper.constData());
    return value.isEmpty() ? environment.variable(upper.toLower().constData()) : value;
}

bool matches(const QString &entry, const QString &host, const QHostAddress &address, int port)
{
    if (entry == QLatin1String("*"))
        return true;
    if (!address.isNull() && entry.contains(u'/')) {
        const auto subnet = QHostAddress::parseSubnet(entry);
        return subnet.second >= 0 && address.isInSubnet(subnet);
    }
    QString name = entry;
    const qsizetype colon = entry.lastIndexOf(u':');
    const bool hasPort = colon > 0 && (entry.indexOf(u':') == colon || entry[colon - 1] == u']');
    if (hasPort) {
        if (entry.mid(colon + 1).toInt() != port)
            return false;
        name = entry.left(colon);
    }
    if (name.startsWith(u'[') && name.endsWith(u']'))
        name = name.mid(1, name.size() - 2);
    if (!address.isNull())
        return QHostAddress(name) == address;
    if (name.startsWith(QLatin1String("*.")))
        name = name.mid(1);
    if (name.startsWith(u'.'))
        return host.endsWith(name);
    return host == name || host.endsWith(u'.' + name);
}

} // namespace

LoadEnvironment processEnvironment()
{
    LoadEnvironment environment;
    environment.variable = [](const char *name) { return qEnvironmentVariable(name); };
    environment.homeFolder = qEnvironmentVariable("HOME");
    return environment;
}

QUrl proxyFromEnvironment(const QUrl &server, const LoadEnvironment &environment)
{
    const bool isTls = server.scheme() == QLatin1String("https");
    const QString text = eitherCase(environment, isTls ? "HTTPS_PROXY" : "HTTP_PROXY");
    const QString host = server.host().toLower();
    const QHostAddress address(host);
    if (text.isEmpty() || host == QLatin1String("localhost") || address.isLoopback())
        return {};
    const int port = server.port(isTls ? 443 : 80);
    const QStringList exceptions = eitherCase(environment, "NO_PROXY").toLower().split(u',');
    for (const QString &entry : exceptions) {
        if (const QString trimmed = entry.trimmed();
            !trimmed.isEmpty() && matches(trimmed, host, address, port)) {
            return {};
        }
    }
    return QUrl(text.contains(QLatin1String("://")) ? text : QStringLiteral("http://") + text);
}

bool hasHost(const QUrl &url)
{
    const QString host = url.host();
    const bool isScheme = host == QLatin1String("https") || host == QLatin1String("http");
    return !host.isEmpty() && !url.path().startsWith(QLatin1String("//"))
        && !(isScheme && url.port() < 0);
}

QString proxyFault(const QUrl &proxy)
{
    const QString scheme = proxy.scheme();
    const bool isKnown = scheme == QLatin1String("http") || scheme == QLatin1String("https")
        || scheme == QLatin1String("socks5") || scheme == QLatin1String("socks5h");
    return isKnown && hasHost(proxy)
        ? QString()
        : QStringLiteral("is no address like http://host:3128, https://host:3128 or "
                         "socks5://host:1080");
}

quint16 portOf(const QUrl &url)
{
    const QString scheme = url.scheme();
    const int usual = scheme == QLatin1StringView("https") ? 443
        : scheme.startsWith(QLatin1StringView("socks5"))   ? 1080
                                                           : 80;
    return quint16(url.port(usual));
}

} // namespace davit::transport
