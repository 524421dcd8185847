// The grammar of label selector texts: a lexer of six signs and words, and a parser that never goes
// back.
#include "labelrequirement.h"

namespace davit::priv {

namespace {

enum class Token : quint8 {
    End,
    Word,
    Open,
    Close,
    Comma,
    Not,
    Equals,
    NotEquals,
    Greater,
    Less,
    Unknown
};

struct Lexeme
{
    Token token = Token::End;
    QString text;
};

bool isSpace(QChar c)
{
    return c == u' ' || c == u'\t' || c == u'\r' || c == u'\n';
}

bool isSign(QChar c)
{
    return QStringView(u"=!(),><").contains(c);
}

class Parser
{
public:
    explicit Parser(QStringView text) : m_text(text) { advance(); }

    Status parse(std::vector<LabelRequirement> *requirements)
    {
        if (m_next.token == Token::End)
            return Status::ok();
        for (;;) {
            LabelRequirement requirement;
            if (Status status = term(&requirement); !status.isOk())
                return status;
            requirements->push_back(std::move(requirement));
            if (m_next.token == Token::End)
                return Status::ok();
            if (m_next.token != Token::Comma)
                return unexpected(u"',' or the end");
            advance();
        }
    }

private:
    using Operator = LabelRequirement::Operator;

    void advance();
    void readSign();
    Status unexpected(QStringView expected) const;
    Status term(LabelRequirement *requirement);
    Status comparison(LabelRequirement *requirement);
    Status set(QList<QByteArray> *values);

    const QStringView m_text;
    qsizetype m_position = 0;
    Lexeme m_next;
};

void Parser::advance()
{
    while (m_position < m_text.size() && isSpace(m_text[m_position]))
        ++m_position;
    if (m_position == m_text.size()) {
        m_next = {};
        return;
    }
    if (isSign(m_text[m_position])) {
        readSign();
        return;
    }
    const qsizetype begin = m_position;
    while (
        m_position < m_text.size() && !isSpace(m_text[m_position]) && !isSign(m_text[m_position]))
        ++m_position;
    m_next = {Token::Word, m_text.mid(begin, m_position - begin).toString()};
}

// The longest sign wins: "!=" and "==" before "!" and "=".
void Parser::readSign()
{
    struct Sign
    {
        QStringView text;
        Token token;
    };
    static constexpr Sign kSigns[] = {{u"!=", Token::NotEquals}, {u"==", Token::Equals},
        {u"=", Token::Equals}, {u"!", Token::Not}, {u"(", Token::Open}, {u")", Token::Close},
        {u",", Token::Comma}, {u">", Token::Greater}, {u"<", Token::Less}};
    const QStringView rest = m_text.mid(m_position);
    for (const Sign &sign : kSigns) {
        if (!rest.startsWith(sign.text))
            continue;
        m_position += sign.text.size();
        m_next = {sign.token, sign.text.toString()};
        return;
    }
    m_next = {Token::Unknown, rest.left(1).toString()};
    ++m_position;
}

Status Parser::unexpected(QStringView expected) const
{
    const QString found
        = m_next.token == Token::End ? QStringLiteral("the end") : u'\'' + m_next.text + u'\'';
    return Status(ErrorCode::InvalidArgument,
        QStringLiteral("label selector \"%1\": found %2 where %3 is expected")
            .arg(m_text, found, expected));
}

Status Parser::term(LabelRequirement *requirement)
{
    const bool isNegated = m_next.token == Token::Not;
    if (isNegated)
        advance();
    if (m_next.token != Token::Word)
        return unexpected(
            isNegated ? QStringView(u"a label name") : QStringView(u"'!' or a label name"));
    requirement->key = m_next.text.toUtf8();
    advance();
    if (isNegated)
        requirement->op = Operator::DoesNotExist;
    else if (m_next.token == Token::End || m_next.token == Token::Comma)
        requirement->op = Operator::Exists;
    else if (Status status = comparison(requirement); !status.isOk())
        return status;
    const Status status = checkRequirement(requirement);
    return status.isOk()
        ? status
        : Status(status.error().withContext(QStringLiteral("label selector \"%1\"").arg(m_text)));
}

Status Parser::comparison(LabelRequirement *requirement)
{
    switch (m_next.token) {
    case Token::Equals:
        requirement->op = Operator::Equals;
        break;
    case Token::NotEquals:
        requirement->op = Operator::NotEquals;
        break;
    case Token::Greater:
        requirement->op = Operator::Greater;
        break;
    case Token::Less:
        requirement->op = Operator::Less;
        break;
    case Token::Word:
        if (m_next.text == u"in" || m_next.text == u"notin") {
            requirement->op = m_next.text == u"in" ? Operator::In : Operator::NotIn;
            advance();
            return set(&requirement->values);
        }
        [[fallthrough]];
    default:
        return unexpected(u"'=', '==', '!=', 'in', 'notin', '<' or '>'");
    }
    advance();
    QByteArray value;
    if (m_next.token == Token::Word) {
        value = m_next.text.toUtf8();
        advance();
    } else if (m_next.token != Token::End && m_next.token != Token::Comma) {
        return unexpected(u"a value");
    }
    requirement->values = {value};
    return Status::ok();
}

// "(a,b)"; an empty place is the value "".
Status Parser::set(QList<QByteArray> *values)
{
    if (m_next.token != Token::Open)
        return unexpected(u"'('");
    advance();
    for (;;) {
        QByteArray value;
        if (m_next.token == Token::Word) {
            value = m_next.text.toUtf8();
            advance();
        }
        values->append(value);
        if (m_next.token == Token::Close) {
            advance();
            return Status::ok();
        }
        if (m_next.token != Token::Comma)
            return unexpected(u"',' or ')'");
        advance();
    }
}

} // namespace

Status parseLabelSelector(QStringView text, std::vector<LabelRequirement> *requirements)
{
    return Parser(text).parse(requirements);
}

} // namespace davit::priv
