// The secrets that this process itself sends: its tokens and passwords, whatever they look like.
// Contract:
//   - Whoever sends one names it here first; redacted() (redaction.h) hides it from then on.
//   - One that was replaced, or whose holder has gone, stays hidden while it is among the last 16:
//   answers come late.
//   - Beside the text itself its percent-encoded form and its form within JSON are hidden.
//   - Shorter than 8 characters it is hidden as a whole word only, shorter than 4 not at all: each
//   line would be full of holes, and anybody could guess it.
// Test: tst_knownsecrets.
#pragma once

#include <QtCore/qbytearraylist.h>
#include <QtCore/qstring.h>

namespace davit::observability {

// What one holder keeps secret at present.
class KnownSecrets
{
public:
    KnownSecrets() = default;
    ~KnownSecrets();
    Q_DISABLE_COPY_MOVE(KnownSecrets)

    // UTF-8; empty ones count as none. Cheap when nothing changed. One thread at a time for one
    // holder; who hides a text meanwhile sees the old ones or the new. [thread-safe]
    void set(const QByteArrayList &secrets);

private:
    QByteArrayList m_secrets;
};

// The text with "<redacted>" for each of them. One pass, whatever their number; nothing at all
// while there are none. [thread-safe]
QString withoutKnownSecrets(const QString &text);

} // namespace davit::observability
