#include "labelrequirement.h"

#include <davit/selector.h>

#include <algorithm>
#include <support/dnsnames.h>

namespace davit::priv {

namespace {

using Operator = LabelRequirement::Operator;

bool isAlphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// 1 to 63 of alphanumerics with "-_." inside.
bool isQualifiedName(QByteArrayView text)
{
    if (text.isEmpty() || text.size() > 63 || !isAlphanumeric(text.front())
        || !isAlphanumeric(text.back()))
        return false;
    return std::all_of(text.begin(), text.end(),
        [](char c) { return isAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool isLabelKey(const QByteArray &key)
{
    const qsizetype slash = key.indexOf('/');
    return slash < 0 ? isQualifiedName(key)
                     : support::isDnsSubdomain(QString::fromUtf8(key.left(slash)))
            && isQualifiedName(key.mid(slash + 1));
}

bool isLabelValue(const QByteArray &value)
{
    return value.isEmpty() || isQualifiedName(value);
}

// A whole 64-bit number, sign allowed, nothing around it.
bool readBound(const QByteArray &text, qint64 *bound)
{
    if (text.isEmpty() || text.front() == ' ' || text.back() == ' ')
        return false;
    bool isNumber = false;
    *bound = text.toLongLong(&isNumber, 10);
    return isNumber;
}

Status wrong(const QString &fault)
{
    return Status(ErrorCode::InvalidArgument, fault);
}

} // namespace

Status checkRequirement(LabelRequirement *r)
{
    const QString key = QString::fromUtf8(r->key);
    if (!isLabelKey(r->key))
        return wrong(QStringLiteral("\"%1\" is no label name").arg(key));
    const bool isSet = r->op == Operator::In || r->op == Operator::NotIn;
    if (isSet && r->values.isEmpty())
        return wrong(QStringLiteral("label %1: in and notin need values").arg(key));
    if ((r->op == Operator::Exists || r->op == Operator::DoesNotExist) && !r->values.isEmpty())
        return wrong(QStringLiteral("label %1: Exists and DoesNotExist take no values").arg(key));
    for (const QByteArray &value : std::as_const(r->values))
        if (!isLabelValue(value))
            return wrong(QStringLiteral("label %1: \"%2\" is no label value")
                             .arg(key, QString::fromUtf8(value)));
    if ((r->op == Operator::Greater || r->op == Operator::Less)
        && !readBound(r->values.value(0), &r->bound))
        return wrong(QStringLiteral("label %1: \"%2\" is no whole number")
                         .arg(key, QString::fromUtf8(r->values.value(0))));
    std::sort(r->values.begin(), r->values.end());
    r->values.erase(std::unique(r->values.begin(), r->values.end()), r->values.end());
    return Status::ok();
}

bool LabelRequirement::matches(const Value &labels) const
{
    const Value label = labels[QByteArrayView(key)];
    const bool isThere = label.isString();
    const auto isInSet = [&] {
        return isThere && std::any_of(values.begin(), values.end(), [&](const QByteArray &v) {
            return label.equals(QLatin1StringView(v));
        });
    };
    qint64 number = 0;
    switch (op) {
    case Operator::Equals:
    case Operator::In:
        return isInSet();
    case Operator::NotEquals:
    case Operator::NotIn:
        return !isInSet();
    case Operator::Exists:
        return isThere;
    case Operator::DoesNotExist:
        return !isThere;
    case Operator::Greater:
        return isThere && readBound(label.toUtf8(), &number) && number > bound;
    case Operator::Less:
        return isThere && readBound(label.toUtf8(), &number) && number < bound;
    }
    return false;
}

QString LabelRequirement::toString() const
{
    const QString name = QString::fromUtf8(key);
    const QString joined = QString::fromUtf8(values.join(','));
    switch (op) {
    case Operator::Equals:
        return name + u'=' + joined;
    case Operator::NotEquals:
        return name + QStringLiteral("!=") + joined;
    case Operator::In:
        return name + QStringLiteral(" in (") + joined + u')';
    case Operator::NotIn:
        return name + QStringLiteral(" notin (") + joined + u')';
    case Operator::Exists:
        return name;
    case Operator::DoesNotExist:
        return u'!' + name;
    case Operator::Greater:
        return name + u'>' + joined;
    case Operator::Less:
        return name + u'<' + joined;
    }
    return name;
}

} // namespace davit::priv

DAVIT_BEGIN_NAMESPACE

using priv::LabelRequirement;

// Null d: the empty selector.
class LabelSelectorPrivate : public QSharedData
{
public:
    std::vector<LabelRequirement> requirements; // sorted by printed form, each once
    QString text;
    bool isNothing = false;
};

namespace {

QExplicitlySharedDataPointer<LabelSelectorPrivate> sealed(std::vector<LabelRequirement> terms)
{
    if (terms.empty())
        return {};
    const auto precedes = [](const LabelRequirement &a, const LabelRequirement &b) {
        return a.key != b.key ? a.key < b.key : a.toString() < b.toString();
    };
    const auto isSame = [](const LabelRequirement &a, const LabelRequirement &b) {
        return a.toString() == b.toString();
    };
    std::sort(terms.begin(), terms.end(), precedes);
    terms.erase(std::unique(terms.begin(), terms.end(), isSame), terms.end());
    QExplicitlySharedDataPointer<LabelSelectorPrivate> d(new LabelSelectorPrivate);
    for (const LabelRequirement &term : terms)
        d->text += (d->text.isEmpty() ? QString() : QStringLiteral(",")) + term.toString();
    d->requirements = std::move(terms);
    return d;
}

Status wrongForm(const QString &fault)
{
    return Status(ErrorCode::InvalidArgument, QStringLiteral("label selector: ") + fault);
}

Status addExpression(const Value &expression, std::vector<LabelRequirement> *terms)
{
    struct Named
    {
        QLatin1StringView name;
        LabelRequirement::Operator op;
    };
    using Operator = LabelRequirement::Operator;
    static constexpr Named kOperators[]
        = {{QLatin1StringView("In"), Operator::In}, {QLatin1StringView("NotIn"), Operator::NotIn},
            {QLatin1StringView("Exists"), Operator::Exists},
            {QLatin1StringView("DoesNotExist"), Operator::DoesNotExist}};
    LabelRequirement term;
    term.key = expression[QLatin1StringView("key")].toUtf8();
    const Value op = expression[QLatin1StringView("operator")];
    const auto *found = std::find_if(std::begin(kOperators), std::end(kOperators),
        [&](const Named &named) { return op.equals(named.name); });
    if (found == std::end(kOperators))
        return wrongForm(QStringLiteral("\"%1\" is no operator").arg(op.toString()));
    term.op = found->op;
    const Value values = expression[QLatin1StringView("values")];
    for (qsizetype i = 0; i < values.size(); ++i)
        term.values.append(values.at(i).toUtf8());
    if (Status status = priv::checkRequirement(&term); !status.isOk())
        return wrongForm(status.error().message());
    terms->push_back(std::move(term));
    return Status::ok();
}

} // namespace

LabelSelector::LabelSelector() = default;
LabelSelector::LabelSelector(const LabelSelector &other) = default;
LabelSelector &LabelSelector::operator=(const LabelSelector &other) = default;
LabelSelector::~LabelSelector() = default;

Status LabelSelector::parse(QStringView text, LabelSelector *selector)
{
    std::vector<LabelRequirement> terms;
    const Status status = priv::parseLabelSelector(text, &terms);
    if (status.isOk())
        selector->d = sealed(std::move(terms));
    return status;
}

Status LabelSelector::fromValue(const Value &value, LabelSelector *selector)
{
    if (value.isNull()) {
        selector->d.reset(new LabelSelectorPrivate);
        selector->d->isNothing = true;
        selector->d->text = QStringLiteral("<nothing>");
        return Status::ok();
    }
    if (!value.isObject())
        return wrongForm(QStringLiteral("it is no object"));
    std::vector<LabelRequirement> terms;
    const Value labels = value[QLatin1StringView("matchLabels")];
    for (qsizetype i = 0; i < labels.size(); ++i) {
        LabelRequirement term;
        term.key = labels.nameAt(i).toUtf8();
        term.op = LabelRequirement::Operator::Equals;
        term.values = {labels.at(i).toUtf8()};
        if (Status status = priv::checkRequirement(&term); !status.isOk())
            return wrongForm(status.error().message());
        terms.push_back(std::move(term));
    }
    const Value expressions = value[QLatin1StringView("matchExpressions")];
    for (qsizetype i = 0; i < expressions.size(); ++i)
        if (Status status = addExpression(expressions.at(i), &terms); !status.isOk())
            return status;
    selector->d = sealed(std::move(terms));
    return Status::ok();
}

bool LabelSelector::isEmpty() const noexcept
{
    return !d;
}

bool LabelSelector::matches(const Object &object) const
{
    if (!d)
        return true;
    if (d->isNothing)
        return false;
    const Value labels = object[QLatin1StringView("metadata")][QLatin1StringView("labels")];
    return std::all_of(d->requirements.begin(), d->requirements.end(),
        [&](const LabelRequirement &r) { return r.matches(labels); });
}

QString LabelSelector::toString() const
{
    return d ? d->text : QString();
}

DAVIT_END_NAMESPACE
