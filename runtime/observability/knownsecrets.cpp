#include "knownsecrets.h"

#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qstringlist.h>
#include <algorithm>
#include <atomic>
#include <bitset>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace davit::observability {
namespace {

constexpr size_t kRetired = 16;
constexpr qsizetype kShortest = 4;
constexpr qsizetype kShortestWithin = 8; // what is shorter has to be a whole word

// The secret and its other dresses.
QStringList formsOf(const QByteArray &secret)
{
    const QString plain = QString::fromUtf8(secret);
    const QByteArray json = QJsonDocument(QJsonArray{plain}).toJson(QJsonDocument::Compact);
    QStringList forms{plain, QString::fromLatin1(secret.toPercentEncoding()),
        QString::fromUtf8(json.mid(2, json.size() - 4))}; // without [" and "]
    forms.removeDuplicates();
    return plain.size() < kShortest ? QStringList() : forms;
}

// Finds many texts in one pass: the first two characters of each are a bit.
class Matcher
{
public:
    explicit Matcher(QStringList texts) : m_texts(std::move(texts))
    {
        m_texts.removeDuplicates();
        std::sort(m_texts.begin(), m_texts.end(),
            [](const QString &a, const QString &b) { return a.size() > b.size(); });
        for (const QString &text : std::as_const(m_texts))
            m_begins.set(bitOf(text[0], text[1]));
    }

    QString hide(const QString &text) const
    {
        QString hidden;
        qsizetype copied = 0;
        for (qsizetype i = 0; i + kShortest <= text.size(); ++i) {
            const qsizetype size = m_begins.test(bitOf(text[i], text[i + 1])) ? sizeAt(text, i) : 0;
            if (size == 0)
                continue;
            hidden += QStringView(text).mid(copied, i - copied);
            hidden += QLatin1StringView("<redacted>");
            copied = i + size;
            i = copied - 1;
        }
        if (copied == 0)
            return text;
        hidden += QStringView(text).mid(copied);
        return hidden;
    }

private:
    static constexpr size_t kBits = 1024;

    static size_t bitOf(QChar first, QChar second)
    {
        return (size_t(first.unicode()) * 31 + second.unicode()) % kBits;
    }
    static bool isOfWord(QChar c)
    {
        return c.isLetterOrNumber() || c == QLatin1Char('_') || c == QLatin1Char('-');
    }
    static bool isWord(QStringView text, qsizetype begin, qsizetype size)
    {
        const bool isAfterEscape = begin >= 3 && text[begin - 3] == QLatin1Char('%');
        return (begin == 0 || isAfterEscape || !isOfWord(text[begin - 1]))
            && (begin + size == text.size() || !isOfWord(text[begin + size]));
    }
    // Of the longest secret that begins there; 0: none does.
    qsizetype sizeAt(QStringView text, qsizetype begin) const
    {
        for (const QString &secret : m_texts) {
            if (text.mid(begin).startsWith(secret)
                && (secret.size() >= kShortestWithin || isWord(text, begin, secret.size())))
                return secret.size();
        }
        return 0;
    }

    QStringList m_texts; // the longest first
    std::bitset<kBits> m_begins;
};

class Registry
{
public:
    void set(const KnownSecrets *holder, const QByteArrayList &secrets)
    {
        const std::lock_guard lock(m_mutex);
        const QByteArrayList before = std::exchange(m_present[holder], secrets);
        if (secrets.isEmpty())
            m_present.erase(holder);
        for (const QByteArray &secret : before)
            retire(secret);
        QStringList texts;
        for (const auto &[who, present] : m_present) {
            for (const QByteArray &secret : present)
                texts += formsOf(secret);
        }
        for (const QByteArray &secret : m_retired)
            texts += formsOf(secret);
        m_matcher = texts.isEmpty() ? nullptr : std::make_shared<const Matcher>(texts);
        m_isEmpty.store(texts.isEmpty(), std::memory_order_relaxed);
    }

    std::shared_ptr<const Matcher> matcher()
    {
        if (m_isEmpty.load(std::memory_order_relaxed)) // most tests, and davit run --embedded
            return nullptr;
        const std::lock_guard lock(m_mutex);
        return m_matcher;
    }

private:
    void retire(const QByteArray &secret)
    {
        std::erase(m_retired, secret);
        m_retired.push_back(secret);
        if (m_retired.size() > kRetired)
            m_retired.pop_front();
    }

    std::mutex m_mutex;
    std::map<const KnownSecrets *, QByteArrayList> m_present; // GUARDED_BY(m_mutex)
    std::deque<QByteArray> m_retired; // GUARDED_BY(m_mutex); the oldest first
    std::shared_ptr<const Matcher> m_matcher; // GUARDED_BY(m_mutex)
    std::atomic<bool> m_isEmpty{true};
};

// Never destroyed: the last log line comes after everything.
Registry &registry()
{
    static auto *const kept = new Registry;
    return *kept;
}

} // namespace

KnownSecrets::~KnownSecrets()
{
    set({});
}

void KnownSecrets::set(const QByteArrayList &secrets)
{
    QByteArrayList wanted = secrets;
    wanted.removeAll(QByteArray());
    if (wanted == m_secrets)
        return;
    registry().set(this, wanted);
    m_secrets = wanted;
}

QString withoutKnownSecrets(const QString &text)
{
    const std::shared_ptr<const Matcher> matcher = registry().matcher();
    return matcher ? matcher->hide(text) : text;
}

} // namespace davit::observability
