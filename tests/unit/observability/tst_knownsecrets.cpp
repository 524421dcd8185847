#include "observability/knownsecrets.h"

#include "observability/redaction.h"

#include <QTest>
#include <memory>
#include <thread>

using namespace davit::observability;
using namespace Qt::StringLiterals;

class tst_KnownSecrets : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void hides_data();
    void hides();
    void replaced();
    void forgotten();
    void ofManyThreads();
};

void tst_KnownSecrets::hides_data()
{
    QTest::addColumn<QByteArrayList>("secrets");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shown");
    using L = QByteArrayList;
    const auto row = [](const char *name, const L &secrets, const char *text, const char *shown) {
        QTest::newRow(name) << secrets << QString::fromUtf8(text) << QString::fromUtf8(shown);
    };
    row("none", {}, "token opaque-4711 is not known", "token opaque-4711 is not known");
    row("an empty one", {""}, "a b", "a b");
    row("a bare token", {"opaque-4711"}, "token opaque-4711 is not known",
        "token <redacted> is not known");
    row("at both ends", {"opaque-4711"}, "opaque-4711 is opaque-4711", "<redacted> is <redacted>");
    row("twice without a gap", {"opaque-4711"}, "opaque-4711opaque-4711", "<redacted><redacted>");
    row("the whole text", {"opaque-4711"}, "opaque-4711", "<redacted>");
    row("after Bearer", {"opaque-4711"}, "Authorization: Bearer opaque-4711",
        "Authorization: Bearer <redacted>");
    row("after an escaped space", {"opaque-4711"}, "Bearer%20opaque-4711", "Bearer%20<redacted>");
    row("all but the end", {"opaque-4711"}, "opaque-471", "opaque-471");
    row("the beginning twice", {"aab-4711"}, "aaab-4711", "a<redacted>");
    row("the longer of two", {"opaque-4711", "opaque-4711-long"}, "is opaque-4711-long",
        "is <redacted>");
    row("either of two", {"opaque-4711", "secret-4712"}, "secret-4712, opaque-4711",
        "<redacted>, <redacted>");
    row("percent-encoded", {"pass word/4711"}, "?p=pass%20word%2F4711", "?p=<redacted>");
    row("within JSON", {"pass\"word\\4711"}, R"({"p":"pass\"word\\4711"})",
        R"({"p":"<redacted>"})");
    row("letters beyond ASCII", {"pässwörd"}, "für pässwörd", "für <redacted>");
    row("another case is another text", {"opaque-4711"}, "OPAQUE-4711", "OPAQUE-4711");
    row("short, a word", {"hunter2"}, "token hunter2.", "token <redacted>.");
    row("short, after an escaped space", {"hunter2"}, "Bearer%20hunter2", "Bearer%20<redacted>");
    row("short, within a word", {"prod"}, "product, reprod, prod-eu, prod_1",
        "product, reprod, prod-eu, prod_1");
    row("too short to hide", {"abc"}, "abc of abc", "abc of abc");
}

void tst_KnownSecrets::hides()
{
    QFETCH(const QByteArrayList, secrets);
    QFETCH(const QString, text);
    KnownSecrets holder;
    holder.set(secrets);
    QTEST(redacted(text), "shown");
}

// An answer to the old one may still come.
void tst_KnownSecrets::replaced()
{
    auto holder = std::make_unique<KnownSecrets>();
    holder->set({"replaced-4711"});
    holder->set({"replaced-4712"});
    QCOMPARE(redacted(u"replaced-4711 replaced-4712"_s), u"<redacted> <redacted>"_s);
    holder.reset();
    QCOMPARE(redacted(u"replaced-4711 replaced-4712"_s), u"<redacted> <redacted>"_s);
}

void tst_KnownSecrets::forgotten()
{
    KnownSecrets lasting;
    lasting.set({"lasting-4711"});
    KnownSecrets rotating;
    for (int i = 100; i <= 120; ++i)
        rotating.set({"rotating-" + QByteArray::number(i)});
    QCOMPARE(redacted(u"lasting-4711 rotating-103 rotating-104 rotating-120"_s),
        u"<redacted> rotating-103 <redacted> <redacted>"_s);
}

void tst_KnownSecrets::ofManyThreads()
{
    KnownSecrets lasting;
    lasting.set({"lasting-4711"});
    std::thread other([] {
        KnownSecrets rotating;
        for (int i = 0; i < 2000; ++i)
            rotating.set({"rotating-" + QByteArray::number(i)});
    });
    bool isHidden = true;
    for (int i = 0; i < 2000; ++i)
        isHidden = isHidden && redacted(u"a lasting-4711 b"_s) == u"a <redacted> b"_s;
    other.join();
    QVERIFY(isHidden);
}

QTEST_GUILESS_MAIN(tst_KnownSecrets)
#include "tst_knownsecrets.moc"
