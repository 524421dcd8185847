// Tells whether a stream of bytes so far is one whole JSON object or array, by its brackets. It
// stands in for Qt 6.4, which takes a chunked body that was cut for a whole one, now and then.
// Test: tst_jsonend.
#pragma once

#include <QtCore/qbytearrayview.h>

namespace davit::transport {

class JsonEnd
{
public:
    void feed(QByteArrayView bytes);
    // False while nothing but blanks came, or a bracket is open.
    bool isComplete() const { return m_isStarted && m_depth == 0; }

private:
    qint64 m_depth = 0;
    bool m_isStarted = false;
    bool m_isInString = false;
    bool m_isEscaped = false;
};

} // namespace davit::transport
