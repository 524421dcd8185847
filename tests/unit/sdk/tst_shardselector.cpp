#include <davit/selector.h>

#include <QTest>
#include <QUuid>

using namespace davit;

namespace {

// 64-bit FNV-1a of the uid "foobar", as its authors publish it.
const QString kFoobar = QStringLiteral("0x85944171f73967e8");
const QString kNothing = QStringLiteral("0xcbf29ce484222325"); // of no bytes at all

QString byUid(const QString &start, const QString &end)
{
    return QStringLiteral("shardRange(object.metadata.uid, '%1', '%2')").arg(start, end);
}

Object named(const QByteArray &uid, const QByteArray &space)
{
    Object made;
    const Status status = Object::fromJson(
        R"({"metadata":{"uid":")" + uid + R"(","namespace":")" + space + R"("}})", &made);
    if (!status.isOk())
        qFatal("%s", qUtf8Printable(status.error().message()));
    return made;
}

} // namespace

class tst_ShardSelector : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void matches_data();
    void matches();
    void forms_data();
    void forms();
    void errors_data();
    void errors();
    void halvesAreTheWhole();
    void failedParseLeavesTheSelector();
};

void tst_ShardSelector::matches_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QByteArray>("uid");
    QTest::addColumn<bool>("matches");
    const QString first = QStringLiteral("0x0000000000000000");
    const QString last = QStringLiteral("0xffffffffffffffff");
    const QString beyond = QStringLiteral("0x10000000000000000");
    const QString after = QStringLiteral("0x85944171f73967e9");
    const QByteArray uid = "foobar";
    QTest::newRow("1.9 none is everything") << QString() << uid << true;
    QTest::newRow("1.9 the whole") << byUid(first, beyond) << uid << true;
    QTest::newRow("1.9 the begin belongs to it") << byUid(kFoobar, after) << uid << true;
    QTest::newRow("1.9 the end does not") << byUid(first, kFoobar) << uid << false;
    QTest::newRow("1.9 behind it") << byUid(after, beyond) << uid << false;
    QTest::newRow("1.9 the last hash has no exclusive end of its own")
        << byUid(last, beyond) << uid << false;
    QTest::newRow("1.9 in the second of two")
        << byUid(last, beyond) + QStringLiteral(" || ") + byUid(kFoobar, after) << uid << true;
    QTest::newRow("1.9 in neither of two")
        << byUid(last, beyond) + QStringLiteral(" || ") + byUid(first, kFoobar) << uid << false;
    QTest::newRow("1.9 an object without a uid is hashed, too")
        << byUid(kNothing, beyond) << QByteArray() << true;
    QTest::newRow("1.9 by namespace")
        << QStringLiteral("shardRange(object.metadata.namespace,'%1','%2')").arg(kFoobar, after)
        << QByteArray("other") << true; // the namespace is foobar
}

void tst_ShardSelector::matches()
{
    QFETCH(const QString, text);
    QFETCH(const QByteArray, uid);
    ShardSelector selector;
    const Status status = ShardSelector::parse(text, &selector);
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QTEST(selector.matches(named(uid, "foobar")), "matches");
    QCOMPARE(selector.isEmpty(), text.isEmpty());
}

void tst_ShardSelector::forms_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("printed");
    const QString a = QStringLiteral(
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')");
    const QString b = QStringLiteral(
        "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')");
    QTest::newRow("nothing") << QString() << QString();
    QTest::newRow("as the server echoes it") << a << a;
    QTest::newRow("without spaces") << QString(a).remove(u' ') << a;
    QTest::newRow("spaces everywhere") << QStringLiteral(
        "  shardRange ( object.metadata.uid , '0x0000000000000000' ,\n"
        "'0x8000000000000000' ) ") << a;
    QTest::newRow("double quotes") << QString(a).replace(u'\'', u'"') << a;
    QTest::newRow("to the end of all") << b << b;
    QTest::newRow("several") << a + QStringLiteral("||") + b << a + QStringLiteral(" || ") + b;
    QTest::newRow("several, in their order")
        << b + QStringLiteral(" ||  ") + a << b + QStringLiteral(" || ") + a;
}

void tst_ShardSelector::forms()
{
    QFETCH(const QString, text);
    ShardSelector selector;
    const Status status = ShardSelector::parse(text, &selector);
    QVERIFY2(status.isOk(), qPrintable(status.error().message()));
    QTEST(selector.toString(), "printed");
    ShardSelector again;
    QVERIFY(ShardSelector::parse(selector.toString(), &again).isOk());
    QCOMPARE(again.toString(), selector.toString());
}

// What kube-apiserver 1.37 refuses is refused here, before it is sent.
void tst_ShardSelector::errors_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("fault"); // is in the message
    const auto row = [](const char *name, const char *text, const char *fault) {
        QTest::newRow(name) << QString::fromLatin1(text) << QString::fromLatin1(fault);
    };
    constexpr char kMissing[] = "shardRange(FIELD, 'START', 'END') is missing";
    constexpr char kArguments[] = "shardRange takes a field and two quoted hashes";
    row("only spaces", "  ", kMissing);
    row("another word", "bogus", kMissing);
    row("another function", "range(object.metadata.uid,'0x0','0x8')", kMissing);
    row("nothing behind the bars",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000') ||", kMissing);
    row("joined by and",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000') && true",
        "only \"||\" may stand before \"&& true\"");
    row("a field selector's field", "shardRange(metadata.uid,'0x0','0x8')",
        "\"metadata.uid\" is no field of shards");
    row("another field", "shardRange(object.metadata.name,'0x0','0x8')",
        "\"object.metadata.name\" is no field of shards");
    row("two fields",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000')||"
        "shardRange(object.metadata.namespace,'0x8000000000000000','0x10000000000000000')",
        "all ranges must be of one field");
    row("no end", "shardRange(object.metadata.uid,'0x0000000000000000')", kArguments);
    row("no quotes", "shardRange(object.metadata.uid,0x0000000000000000,0x8000000000000000)",
        kArguments);
    row("no bracket at the end",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x8000000000000000'", kArguments);
    row("short hashes", "shardRange(object.metadata.uid,'0x0','0x8')", "\"0x0\" is no hash");
    row("no 0x", "shardRange(object.metadata.uid,'0000000000000000','0x8000000000000000')",
        "\"0000000000000000\" is no hash");
    row("capital letters",
        "shardRange(object.metadata.uid,'0x000000000000000A','0x8000000000000000')",
        "\"0x000000000000000A\" is no hash");
    row("beyond the end of all",
        "shardRange(object.metadata.uid,'0x0000000000000000','0x10000000000000001')",
        "\"0x10000000000000001\" is no hash");
    row("nothing between them",
        "shardRange(object.metadata.uid,'0x8000000000000000','0x8000000000000000')", "is empty");
    row("the wrong way round",
        "shardRange(object.metadata.uid,'0x8000000000000000','0x0000000000000000')", "is empty");
    row("from the end of all",
        "shardRange(object.metadata.uid,'0x10000000000000000','0x10000000000000000')", "is empty");
}

void tst_ShardSelector::errors()
{
    QFETCH(const QString, text);
    QFETCH(const QString, fault);
    ShardSelector selector;
    const Status status = ShardSelector::parse(text, &selector);
    QCOMPARE(status.error().code(), ErrorCode::InvalidArgument);
    const QString message = status.error().message();
    QVERIFY2(message.startsWith(QStringLiteral("shard selector \"%1\": ").arg(text)),
        qPrintable(message));
    QVERIFY2(message.contains(fault), qPrintable(message));
}

void tst_ShardSelector::halvesAreTheWhole()
{
    ShardSelector low;
    ShardSelector high;
    const QString middle = QStringLiteral("0x8000000000000000");
    QVERIFY(ShardSelector::parse(byUid(QStringLiteral("0x0000000000000000"), middle), &low).isOk());
    QVERIFY(
        ShardSelector::parse(byUid(middle, QStringLiteral("0x10000000000000000")), &high).isOk());
    int inLow = 0;
    for (int i = 0; i < 1000; ++i) {
        const Object object = named(
            QUuid::createUuidV5(QUuid(), QString::number(i)).toByteArray(QUuid::WithoutBraces),
            "n");
        QVERIFY(low.matches(object) != high.matches(object));
        inLow += low.matches(object) ? 1 : 0;
    }
    QVERIFY2(inLow > 400 && inLow < 600, qPrintable(QString::number(inLow)));
}

void tst_ShardSelector::failedParseLeavesTheSelector()
{
    ShardSelector selector;
    const QString good = byUid(kFoobar, QStringLiteral("0x10000000000000000"));
    QVERIFY(ShardSelector::parse(good, &selector).isOk());
    QVERIFY(!ShardSelector::parse(QStringLiteral("bogus"), &selector).isOk());
    QCOMPARE(selector.toString(), good);
}

QTEST_GUILESS_MAIN(tst_ShardSelector)
#include "tst_shardselector.moc"
