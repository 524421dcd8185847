// The grammar and matching of field selectors (E-45).
#include <davit/selector.h>

#include <algorithm>
#include <vector>

DAVIT_BEGIN_NAMESPACE

namespace {

struct FieldTerm
{
    QString field; // "metadata.name"
    QString value;
    bool isNegated = false;

    bool matches(const Object &object) const;
    QString toString() const;
};

bool FieldTerm::matches(const Object &object) const
{
    Value at = object.root();
    for (const QStringView step : QStringView(field).split(u'.'))
        at = at[step];
    const bool isSimple = at.type() == ValueType::Boolean || at.type() == ValueType::Double;
    const QString text = isSimple ? QString::fromUtf8(at.toJson()) : at.toText();
    return (text == value) != isNegated;
}

bool isSpecial(QChar c)
{
    return c == u'\\' || c == u',' || c == u'=';
}

QString FieldTerm::toString() const
{
    QString text = field + (isNegated ? QStringLiteral("!=") : QStringLiteral("="));
    for (const QChar c : value) {
        if (isSpecial(c))
            text += u'\\';
        text += c;
    }
    return text;
}

// At commas that no backslash stands before.
QList<QStringView> splitTerms(QStringView text)
{
    QList<QStringView> terms;
    qsizetype begin = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] == u'\\') {
            ++i;
        } else if (text[i] == u',') {
            terms.append(text.mid(begin, i - begin));
            begin = i + 1;
        }
    }
    terms.append(text.mid(begin));
    return terms;
}

bool unescape(QStringView text, QString *value)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] == u',' || text[i] == u'=')
            return false;
        if (text[i] == u'\\' && (++i == text.size() || !isSpecial(text[i])))
            return false;
        *value += text[i];
    }
    return true;
}

bool readTerm(QStringView text, FieldTerm *term)
{
    const qsizetype equals = text.indexOf(u'=');
    if (equals < 1)
        return false;
    term->isNegated = text[equals - 1] == u'!';
    term->field = text.left(term->isNegated ? equals - 1 : equals).toString();
    qsizetype begin = equals + 1;
    if (!term->isNegated && begin < text.size() && text[begin] == u'=')
        ++begin;
    return !term->field.isEmpty() && unescape(text.mid(begin), &term->value);
}

} // namespace

class FieldSelectorPrivate : public QSharedData
{
public:
    std::vector<FieldTerm> terms; // sorted by printed form, each once
    QString text;
};

FieldSelector::FieldSelector() = default;
FieldSelector::FieldSelector(const FieldSelector &other) = default;
FieldSelector &FieldSelector::operator=(const FieldSelector &other) = default;
FieldSelector::~FieldSelector() = default;

Status FieldSelector::parse(QStringView text, FieldSelector *selector)
{
    std::vector<FieldTerm> terms;
    for (const QStringView part : splitTerms(text)) {
        if (part.isEmpty())
            continue;
        FieldTerm term;
        if (!readTerm(part, &term))
            return Status(ErrorCode::InvalidArgument,
                QStringLiteral("field selector \"%1\": cannot understand \"%2\"").arg(text, part));
        terms.push_back(std::move(term));
    }
    selector->d.reset();
    if (terms.empty())
        return Status::ok();
    std::sort(terms.begin(), terms.end(),
        [](const FieldTerm &a, const FieldTerm &b) { return a.toString() < b.toString(); });
    const auto isSame
        = [](const FieldTerm &a, const FieldTerm &b) { return a.toString() == b.toString(); };
    terms.erase(std::unique(terms.begin(), terms.end(), isSame), terms.end());
    selector->d.reset(new FieldSelectorPrivate);
    for (const FieldTerm &term : terms) {
        if (!selector->d->text.isEmpty())
            selector->d->text += u',';
        selector->d->text += term.toString();
    }
    selector->d->terms = std::move(terms);
    return Status::ok();
}

bool FieldSelector::isEmpty() const noexcept
{
    return !d;
}

bool FieldSelector::matches(const Object &object) const
{
    return !d || std::all_of(d->terms.begin(), d->terms.end(), [&](const FieldTerm &term) {
        return term.matches(object);
    });
}

QString FieldSelector::toString() const
{
    return d ? d->text : QString();
}

DAVIT_END_NAMESPACE
