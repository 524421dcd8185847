// An amount of CPU, memory and the like, as Kubernetes writes it: "100m", "1.5Gi", "1e3". Contract:
//   - Exact decimal numbers, never a double; what is finer than a nano is rounded away from zero.
//   - As text it is what it was parsed from, so that an unchanged one is written back as it came.
//   - A suffix that Kubernetes does not know is an error, never a plain number. E is exa, E3 an
//   exponent. Amounts with a binary suffix end at 2^63-1, as on the server.
// Source: apimachinery's resource.Quantity; case B51. Test: tst_quantity.
#pragma once

#include <QtCore/qshareddata.h>
#include <davit/result.h>

DAVIT_BEGIN_NAMESPACE
class QuantityPrivate;
// A value. All methods: [thread-safe].
class DAVIT_EXPORT Quantity
{
public:
    Quantity(); // 0
    Quantity(const Quantity &other);
    Quantity &operator=(const Quantity &other);
    ~Quantity();
    // Fills `quantity`, or says what is wrong: InvalidArgument. O(length), whatever the exponent.
    static Status parse(QStringView text, Quantity *quantity);
    static Result<Quantity> parse(QStringView text)
    {
        Quantity quantity;
        const Status status = parse(text, &quantity);
        return status.isOk() ? Result<Quantity>(quantity) : Result<Quantity>(status.error());
    }

    QString toString() const;
    // The number without suffix or exponent: "0.1", "-1500", "2254857830.4".
    QString toDecimal() const;
    // Whole units, rounded away from zero: 1 for "100m". The nearest qint64 when it does not fit;
    // fitsInt64() tells.
    qint64 toInt64() const noexcept;
    bool fitsInt64() const noexcept;
    // -1, 0, 1.
    int sign() const noexcept;
    // By the number: "1000m" equals "1". Negative, 0 or positive, as strcmp.
    int compare(const Quantity &other) const noexcept;
    friend bool operator==(const Quantity &a, const Quantity &b) { return a.compare(b) == 0; }
    friend bool operator!=(const Quantity &a, const Quantity &b) { return a.compare(b) != 0; }
    friend bool operator<(const Quantity &a, const Quantity &b) { return a.compare(b) < 0; }

private:
    QExplicitlySharedDataPointer<QuantityPrivate> d;
};
DAVIT_END_NAMESPACE
