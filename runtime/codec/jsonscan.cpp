// Scanning values and members.
#include "jsonscan.h"

#include <utility>

namespace davit::codec {

void ValueScanner::start(char first)
{
    *this = ValueScanner();
    if (first == '"')
        m_form = Form::String;
    else if (first == '{' || first == '[')
        m_form = Form::Container;
}

// Within a string, behind its opening quote.
const char *ValueScanner::feedString(const char *p, const char *end)
{
    if (m_isEscaped && p < end) {
        m_isEscaped = false;
        ++p;
    }
    while (p < end) {
        if (*p == '"') {
            m_isDone = true;
            return p + 1;
        }
        if (*p == '\\') {
            m_isEscaped = p + 1 == end;
            p += m_isEscaped ? 1 : 2;
        } else {
            ++p;
        }
    }
    return p;
}

const char *ValueScanner::feed(const char *p, const char *end)
{
    if (m_isDone || p == end)
        return p;
    switch (m_form) {
    case Form::Container:
        p = m_brackets.feed(p, end);
        m_isDone = m_brackets.isDone();
        break;
    case Form::String:
        if (!std::exchange(m_isOpen, true))
            ++p; // the opening quote
        p = feedString(p, end);
        break;
    case Form::Scalar:
        for (; p < end && !m_isDone; p += m_isDone ? 0 : 1)
            m_isDone = isJsonSpace(*p) || *p == ',' || *p == ']' || *p == '}';
        break;
    }
    return p;
}

MemberScanner::MemberScanner(QByteArrayView object) : m_json(object)
{
    skipSpace();
    if (m_at < m_json.size() && m_json[m_at] == '{')
        ++m_at;
    else
        m_at = m_json.size();
}

void MemberScanner::skipSpace()
{
    while (m_at < m_json.size() && isJsonSpace(m_json[m_at]))
        ++m_at;
}

bool MemberScanner::scanValue(QByteArrayView *value)
{
    skipSpace();
    if (m_at >= m_json.size())
        return false;
    ValueScanner scanner;
    scanner.start(m_json[m_at]);
    const char *const begin = m_json.data() + m_at;
    const char *const end = scanner.feed(begin, m_json.data() + m_json.size());
    *value = QByteArrayView(begin, end - begin);
    m_at += end - begin;
    return scanner.isDone() && !value->isEmpty();
}

bool MemberScanner::next()
{
    skipSpace();
    if (m_at < m_json.size() && m_json[m_at] == '}') {
        ++m_at;
        skipSpace();
        m_isWhole = m_at == m_json.size();
        m_at = m_json.size();
        return false;
    }
    const char separator = m_isFirst ? '"' : ',';
    if (m_at >= m_json.size() || m_json[m_at] != separator) {
        m_at = m_json.size();
        return false;
    }
    m_at += m_isFirst ? 0 : 1;
    m_isFirst = false;
    QByteArrayView quoted;
    if (!scanValue(&quoted) || quoted.front() != '"')
        return false;
    m_name = quoted.sliced(1, quoted.size() - 2);
    m_value = {};
    skipSpace();
    if (m_at >= m_json.size() || m_json[m_at] != ':')
        return false;
    ++m_at;
    return scanValue(&m_value);
}

QByteArrayView memberOf(QByteArrayView object, QByteArrayView name)
{
    QByteArrayView found;
    for (MemberScanner members(object); members.next();) {
        if (members.name() == name)
            found = members.value(); // the last of equal names counts
    }
    return found;
}

QByteArrayView memberOfCut(QByteArrayView object, QByteArrayView name)
{
    QByteArrayView found;
    MemberScanner members(object);
    while (members.next()) {
        if (members.name() == name)
            found = members.value();
    }
    // The last one may have been cut in its value.
    return members.name() == name && !members.isWhole() ? members.value() : found;
}

QString plainString(QByteArrayView json)
{
    if (json.size() < 2 || json.front() != '"' || json.back() != '"' || json.contains('\\'))
        return {};
    return QString::fromUtf8(json.sliced(1, json.size() - 2));
}

QString describeObject(QByteArrayView json)
{
    const QByteArrayView metadata = memberOfCut(json, "metadata");
    const QString name = plainString(memberOf(metadata, "name"));
    const QString namespaceName = plainString(memberOf(metadata, "namespace"));
    if (name.isEmpty())
        return QStringLiteral("unknown");
    return namespaceName.isEmpty() ? name : namespaceName + QLatin1Char('/') + name;
}

} // namespace davit::codec
