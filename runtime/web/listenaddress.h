// Where a server listens, as Go programs write it: ":8081", "127.0.0.1:8080", "[::1]:0", "host:80";
// "0" and "" turn it off. Test: tst_listenaddress.
#pragma once

#include <davit/result.h>

#include <QtCore/qstring.h>

namespace davit::web {

struct ListenAddress
{
    QString host; // empty: every interface
    quint16 port = 0; // 0: any free one
    bool isOff = false;
};

// InvalidArgument with a sentence that names the text and what it should look like. [thread-safe]
Result<ListenAddress> parseListenAddress(const QString &text);
// As parseListenAddress() takes it, "[::1]:8080"; "off" when it is. [thread-safe]
QString toString(const ListenAddress &address);

} // namespace davit::web
