// Keeps secrets out of the log: those that this process sends (knownsecrets.h), and what looks like
// one; the last net, not a licence. Contract: the text "<redacted>" stands for the secret;
// everything else stays as it was. Source: CONVENTIONS.md 26. Test: tst_logwriter, redaction.
#pragma once

#include <QtCore/qstring.h>

namespace davit::observability {

// True for field names that hold secrets by their meaning: token, password, authorization, …
// Compared without case and without '-', '_' and '.'. [thread-safe]
bool isSecretName(QLatin1StringView name) noexcept;

// The text without the known secrets, and with bearer credentials, JSON web tokens, PEM blocks and
// passwords in URLs replaced. O(length). [thread-safe]
QString redacted(const QString &text);

} // namespace davit::observability
