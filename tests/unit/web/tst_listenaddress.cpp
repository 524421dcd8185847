#include "web/listenaddress.h"

#include <QTest>

using namespace davit;
using namespace davit::web;

class tst_ListenAddress : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void parses_data();
    void parses();
};

void tst_ListenAddress::parses_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("seen"); // host|port, off, or the start of the error
    const auto row = [](const char *text, const char *seen) {
        QTest::newRow(qPrintable(QStringLiteral("\"%1\"").arg(QString::fromUtf8(text))))
            << QString::fromUtf8(text) << QString::fromUtf8(seen);
    };
    row(":8081", "|8081");
    row("127.0.0.1:0", "127.0.0.1|0");
    row("[::1]:65535", "::1|65535");
    row("localhost:80", "localhost|80");
    row("0", "off"); // M-22
    row("", "off"); // M-17
    row("8081", "address \"8081\" has no port;");
    row(":", "address \":\" has no port between 0 and 65535;");
    row(":65536", "address \":65536\" has no port between 0 and 65535;");
    row(":http", "address \":http\" has no port between 0 and 65535;");
    row("::1:80", "address \"::1:80\" is an IPv6 address without brackets;");
}

void tst_ListenAddress::parses()
{
    QFETCH(const QString, text);
    QFETCH(const QString, seen);
    const Result<ListenAddress> result = parseListenAddress(text);
    if (!result.isOk()) {
        QCOMPARE(result.error().message().left(seen.size()), seen);
        return;
    }
    const ListenAddress &address = result.value();
    QCOMPARE(address.isOff ? QStringLiteral("off")
                           : QStringLiteral("%1|%2").arg(address.host).arg(address.port),
        seen);
    QCOMPARE(toString(address), address.isOff ? QStringLiteral("off") : text);
}

QTEST_GUILESS_MAIN(tst_ListenAddress)
#include "tst_listenaddress.moc"
