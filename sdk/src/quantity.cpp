#include <davit/quantity.h>

#include <QtCore/qbytearray.h>
#include <algorithm>
#include <limits>

DAVIT_BEGIN_NAMESPACE

namespace {

constexpr qsizetype kMaxLetters = 1000;
constexpr int kMaxExponent = 1000;
constexpr int kFinest = -9; // nano

// A natural number times a power of ten; `digits` has no zeros at either end, and is empty for 0.
struct Magnitude
{
    QByteArray digits;
    int exponent = 0;

    qsizetype length() const { return digits.size() + exponent; } // of the whole part
};

void trim(Magnitude &number)
{
    qsizetype front = 0;
    while (front < number.digits.size() && number.digits[front] == '0')
        ++front;
    number.digits.remove(0, front);
    while (number.digits.endsWith('0')) {
        number.digits.chop(1);
        ++number.exponent;
    }
    if (number.digits.isEmpty())
        number.exponent = 0;
}

// digits * factor
void multiply(QByteArray &digits, int factor)
{
    int carry = 0;
    for (qsizetype i = digits.size() - 1; i >= 0; --i) {
        const int product = (digits[i] - '0') * factor + carry;
        digits[i] = char('0' + product % 10);
        carry = product / 10;
    }
    for (; carry > 0; carry /= 10)
        digits.prepend(char('0' + carry % 10));
}

// The digits of the number counted in 10^exponent, rounded away from zero.
QByteArray countedIn(const Magnitude &number, int exponent)
{
    if (number.exponent >= exponent)
        return number.digits
            + QByteArray(number.digits.isEmpty() ? 0 : number.exponent - exponent, '0');
    const qsizetype dropped = std::min<qsizetype>(exponent - number.exponent, number.digits.size());
    QByteArray kept = number.digits.chopped(dropped); // what is dropped is not zero: see Magnitude
    qsizetype i = kept.size() - 1;
    for (; i >= 0 && kept[i] == '9'; --i)
        kept[i] = '0';
    if (i >= 0)
        ++kept[i];
    else
        kept.prepend('1');
    return kept;
}

int compared(const Magnitude &a, const Magnitude &b)
{
    if (a.digits.isEmpty() || b.digits.isEmpty())
        return int(!a.digits.isEmpty()) - int(!b.digits.isEmpty());
    if (a.length() != b.length())
        return a.length() < b.length() ? -1 : 1;
    return a.digits.compare(b.digits); // a longer one has more behind the same front
}

const Magnitude kInt64Max{QByteArrayLiteral("9223372036854775807"), 0};

struct Suffix
{
    const char *text;
    int exponent; // of 10, or of 1024
    bool isBinary;
};
constexpr Suffix kSuffixes[] = {{"", 0, false}, {"n", -9, false}, {"u", -6, false},
    {"m", -3, false}, {"k", 3, false}, {"M", 6, false}, {"G", 9, false}, {"T", 12, false},
    {"P", 15, false}, {"E", 18, false}, {"Ki", 1, true}, {"Mi", 2, true}, {"Gi", 3, true},
    {"Ti", 4, true}, {"Pi", 5, true}, {"Ei", 6, true}};

bool isDigit(QChar c)
{
    return c >= QLatin1Char('0') && c <= QLatin1Char('9');
}

// "e3", "E-2".
bool readExponent(QStringView text, int *exponent)
{
    if (text.size() < 2 || text[0].toLower() != QLatin1Char('e'))
        return false;
    qsizetype i = text[1] == QLatin1Char('+') || text[1] == QLatin1Char('-') ? 2 : 1;
    if (i == text.size())
        return false;
    int value = 0;
    for (; i < text.size(); ++i) {
        if (!isDigit(text[i]) || value > kMaxExponent)
            return false;
        value = value * 10 + text[i].digitValue();
    }
    *exponent = text[1] == QLatin1Char('-') ? -value : value;
    return value <= kMaxExponent;
}

bool applySuffix(QStringView text, Magnitude &number)
{
    for (const Suffix &suffix : kSuffixes) {
        if (text != QLatin1StringView(suffix.text))
            continue;
        if (!suffix.isBinary) {
            number.exponent += suffix.exponent;
            return true;
        }
        for (int i = 0; i < suffix.exponent; ++i)
            multiply(number.digits, 1024);
        trim(number);
        if (compared(number, kInt64Max) > 0)
            number = kInt64Max;
        return true;
    }
    int exponent = 0;
    if (!readExponent(text, &exponent))
        return false;
    number.exponent += exponent;
    return true;
}

} // namespace

class QuantityPrivate : public QSharedData
{
public:
    QString text = QStringLiteral("0");
    bool isNegative = false;
    Magnitude number;
};

Quantity::Quantity() : d(new QuantityPrivate) { }

Quantity::Quantity(const Quantity &other) = default;
Quantity &Quantity::operator=(const Quantity &other) = default;
Quantity::~Quantity() = default;

Status Quantity::parse(QStringView text, Quantity *quantity)
{
    const auto refused = [text](const char *why) {
        return Status(ErrorCode::InvalidArgument,
            QStringLiteral("quantity \"%1\": %2")
                .arg(text.left(40).toString(), QString::fromLatin1(why)));
    };
    if (text.size() > kMaxLetters)
        return refused("it is longer than 1000 letters");
    QExplicitlySharedDataPointer<QuantityPrivate> made(new QuantityPrivate);
    made->text = text.toString();
    qsizetype i = 0;
    if (!text.isEmpty() && (text[0] == QLatin1Char('-') || text[0] == QLatin1Char('+')))
        made->isNegative = text[i++] == QLatin1Char('-');
    bool isBehindPoint = false;
    bool hasDigits = false;
    Magnitude &number = made->number;
    for (; i < text.size(); ++i) {
        if (text[i] == QLatin1Char('.') && !isBehindPoint) {
            isBehindPoint = true;
            continue;
        }
        if (!isDigit(text[i]))
            break;
        hasDigits = true;
        number.digits.append(char(text[i].toLatin1()));
        number.exponent -= isBehindPoint ? 1 : 0;
    }
    if (!hasDigits)
        return refused("a number is expected, such as 100m or 1.5Gi");
    if (!applySuffix(text.mid(i), number))
        return refused("the suffix is none of n u m k M G T P E Ki Mi Gi Ti Pi Ei or e<number>");
    trim(number);
    if (number.exponent < kFinest)
        number = {countedIn(number, kFinest), kFinest};
    trim(number);
    quantity->d = made;
    return Status::ok();
}

QString Quantity::toString() const
{
    return d->text;
}

QString Quantity::toDecimal() const
{
    const Magnitude &number = d->number;
    if (number.digits.isEmpty())
        return QStringLiteral("0");
    QByteArray text = number.digits;
    if (number.exponent >= 0) {
        text += QByteArray(number.exponent, '0');
    } else {
        const qsizetype behind = -number.exponent;
        if (text.size() <= behind)
            text.prepend(QByteArray(behind - text.size() + 1, '0'));
        text.insert(text.size() - behind, '.');
    }
    return QString::fromLatin1(d->isNegative ? '-' + text : text);
}

qint64 Quantity::toInt64() const noexcept
{
    using Limits = std::numeric_limits<qint64>;
    if (!fitsInt64())
        return d->isNegative ? Limits::min() : Limits::max();
    const qint64 whole = countedIn(d->number, 0).toLongLong();
    return d->isNegative ? -whole : whole;
}

bool Quantity::fitsInt64() const noexcept
{
    return d->number.length() <= 19 && compared({countedIn(d->number, 0), 0}, kInt64Max) <= 0;
}

int Quantity::sign() const noexcept
{
    return d->number.digits.isEmpty() ? 0 : d->isNegative ? -1 : 1;
}

int Quantity::compare(const Quantity &other) const noexcept
{
    if (sign() != other.sign())
        return sign() < other.sign() ? -1 : 1;
    const int magnitude = compared(d->number, other.d->number);
    return sign() < 0 ? -magnitude : magnitude;
}

DAVIT_END_NAMESPACE
