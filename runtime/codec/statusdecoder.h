// From an HTTP answer that is no success, or an ERROR event's object, to an Error. What looks like
// a credential in it (observability/redaction.h) is redacted, in the message and in statusJson().
// Source: BEHAVIOURS.md C-14 to C-17. Case B25. Test: tst_statusdecoder.
#pragma once

#include <davit/error.h>

#include <QtCore/qbytearrayview.h>
#include <chrono>

namespace davit::codec {

// `operation` names verb and object ("create ConfigMap team-a/x") and opens the sentence. `method`
// is the HTTP method: 409 means AlreadyExists for POST. `body` may be a Status in JSON, or
// anything. `retryAfter` is the header's, negative when absent.
// `target` is the request's, for the details of an answer that is no Status; may be empty.
Error errorFromReply(const QString &operation, const QByteArray &method, int httpStatus,
    QByteArrayView body, std::chrono::milliseconds retryAfter, const QByteArray &target = {});
// From a Status object (an ERROR event's). An object that is no Status is an InternalError.
Error errorFromStatus(const QString &operation, QByteArrayView statusJson);

} // namespace davit::codec
