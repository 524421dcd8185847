// Finds where JSON values end without decoding them. Knows strings and nesting, checks nothing
// else: what it cuts out is checked by who decodes it. Test: tst_listdecoder, tst_watchdecoder.
#pragma once

#include <QtCore/qbytearrayview.h>
#include <QtCore/qstring.h>
#include <support/bracketscanner.h>

namespace davit::codec {

// Steps over one value, in pieces of any size. Not thread-safe.
class ValueScanner
{
public:
    // `first` is the value's first byte, not yet fed.
    void start(char first);
    // The first byte behind the value, or `end` when it goes on (isDone() tells). A number or word
    // ends before the byte that ends it.
    const char *feed(const char *begin, const char *end);
    bool isDone() const { return m_isDone; }

private:
    const char *feedString(const char *p, const char *end);

    enum class Form : quint8 { Scalar, String, Container };
    Form m_form = Form::Scalar;
    support::BracketScanner m_brackets;
    bool m_isOpen = false; // String: the opening quote is behind us
    bool m_isEscaped = false;
    bool m_isDone = false;
};

inline bool isJsonSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Steps through the members of one whole JSON object:
//   for (MemberScanner members(json); members.next();) members.name(), members.value()
class MemberScanner
{
public:
    explicit MemberScanner(QByteArrayView object);
    bool next();
    // As it stands in the text, without quotes, escapes not resolved.
    QByteArrayView name() const { return m_name; }
    QByteArrayView value() const { return m_value; }
    // After next() gave false: the object was whole and nothing but white space follows it.
    bool isWhole() const { return m_isWhole; }

private:
    void skipSpace();
    bool scanValue(QByteArrayView *value);

    QByteArrayView m_json;
    qsizetype m_at = 0;
    QByteArrayView m_name;
    QByteArrayView m_value;
    bool m_isFirst = true;
    bool m_isWhole = false;
};

// The value of a member, empty when absent.
QByteArrayView memberOf(QByteArrayView object, QByteArrayView name);
// The same in a text that may be cut: then the value may be, too.
QByteArrayView memberOfCut(QByteArrayView object, QByteArrayView name);
// The text of a JSON string without escapes; empty for anything else.
QString plainString(QByteArrayView json);
// "team-a/web", "web", or "unknown": for messages about an object that cannot be decoded; its text
// may be cut.
QString describeObject(QByteArrayView json);

} // namespace davit::codec
