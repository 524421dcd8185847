#include "observability/logwriter.h"

#include "observability/redaction.h"

#include <davit/objectkey.h>
#include <support/timesource.h>

#include <QTest>
#include <fcntl.h>
#include <unistd.h>

using namespace davit;
using namespace davit::observability;

namespace {

class FixedTime final : public support::TimeSource
{
public:
    Nanoseconds monotonic() const override { return m_now; }
    Nanoseconds utc() const override { return m_now; }
    TimerId callAfter(Nanoseconds, support::Executor &, support::Executor::Work) override
    {
        return 0;
    }
    void cancel(TimerId) override { }

private:
    const Nanoseconds m_now{1'700'000'000'123'456'789};
};

struct Pipe
{
    Pipe()
    {
        if (::pipe2(fds, O_NONBLOCK) != 0)
            qFatal("no pipe");
    }
    ~Pipe()
    {
        ::close(fds[0]);
        ::close(fds[1]);
    }
    QByteArray read() const
    {
        QByteArray buffer(1 << 20, Qt::Uninitialized);
        const ssize_t n = ::read(fds[0], buffer.data(), size_t(buffer.size()));
        return n > 0 ? buffer.left(n) : QByteArray();
    }
    int fds[2];
};

} // namespace

class tst_LogWriter : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void json_data();
    void json();
    void console();
    void timeEncodings_data();
    void timeEncodings();
    void levels_data();
    void levels();
    void redaction_data();
    void redaction();
    void qtMessages();
    void readerThatDoesNotRead();
    void readerThatStopsWithinALine();
    void longTexts_data();
    void longTexts();
};

using Fields = std::vector<LogField>;
Q_DECLARE_METATYPE(Fields)

void tst_LogWriter::json_data()
{
    QTest::addColumn<QByteArray>("message");
    QTest::addColumn<Fields>("fields");
    QTest::addColumn<QByteArray>("tail"); // after the msg member's name
    QTest::newRow("no field") << QByteArray("hello") << Fields{} << QByteArray("\"hello\"}\n");
    QTest::newRow("numbers and booleans")
        << QByteArray("m") << Fields{{"a", 1}, {"b", true}, {"c", 2.5}, {"d", quint64(-1)}}
        << QByteArray("\"m\",\"a\":1,\"b\":true,\"c\":2.5,\"d\":18446744073709551615}\n");
    QTest::newRow("a newline and a quote stay in one line")
        << QByteArray("m") << Fields{{"t", QStringLiteral("a\n\"b\"\x01")}}
        << QByteArray("\"m\",\"t\":\"a\\n\\\"b\\\"\\u0001\"}\n");
    QTest::newRow("a lone surrogate") << QByteArray("m") << Fields{{"t", QString(QChar(0xd800))}}
                                      << QByteArray("\"m\",\"t\":\"?\"}\n");
    QTest::newRow("null, a list, a key")
        << QByteArray("m")
        << Fields{{"n", QVariant()}, {"l", QStringList{QStringLiteral("x"), QStringLiteral("y")}},
               {"k", QVariant::fromValue(ObjectKey{QStringLiteral("ns"), QStringLiteral("a")})}}
        << QByteArray("\"m\",\"n\":null,\"l\":[\"x\",\"y\"],\"k\":\"ns/a\"}\n");
    QTest::newRow("a repeated field keeps its last value") << QByteArray(
        "m") << Fields{{"a", 1}, {"b", 2}, {"a", 3}} << QByteArray("\"m\",\"b\":2,\"a\":3}\n");
    QTest::newRow("not a number") << QByteArray("m") << Fields{{"x", qQNaN()}}
                                  << QByteArray("\"m\",\"x\":\"nan\"}\n");
    QTest::newRow("a field named token")
        << QByteArray("m") << Fields{{"Bearer-Token", QStringLiteral("abc")}}
        << QByteArray("\"m\",\"Bearer-Token\":\"<redacted>\"}\n");
}

void tst_LogWriter::json()
{
    QFETCH(const QByteArray, message);
    QFETCH(const Fields, fields);
    QFETCH(const QByteArray, tail);
    FixedTime time;
    Pipe pipe;
    LogWriter writer(time, pipe.fds[1], {});
    writer.write(LogLevel::Info, QStringLiteral("plugin.x"), message.constData(), fields.data(),
        qsizetype(fields.size()));
    QCOMPARE(pipe.read(),
        "{\"level\":\"info\",\"ts\":\"2023-11-14T22:13:20.123Z\",\"logger\":\"plugin.x\",\"msg\":"
            + tail);
}

void tst_LogWriter::console()
{
    qputenv("TZ", "UTC");
    FixedTime time;
    Pipe pipe;
    LogWriter writer(time, pipe.fds[1], {LogLevel::Info, LogEncoding::Console});
    const LogField fields[] = {{"name", QStringLiteral("a")}, {"reconcileID", QStringLiteral("b")},
        {"note", QStringLiteral("two words")}};
    writer.write(LogLevel::Warning, QStringLiteral("host"), "copied", fields, 3);
    QCOMPARE(pipe.read(),
        QByteArray("22:13:20.123 WARN  host               copied  name=a  note=\"two words\"\n"));
}

void tst_LogWriter::timeEncodings_data()
{
    QTest::addColumn<TimeEncoding>("encoding");
    QTest::addColumn<QByteArray>("ts");
    QTest::newRow("rfc3339") << TimeEncoding::Rfc3339 << QByteArray("\"2023-11-14T22:13:20.123Z\"");
    QTest::newRow("rfc3339nano") << TimeEncoding::Rfc3339Nano
                                 << QByteArray("\"2023-11-14T22:13:20.123456789Z\"");
    QTest::newRow("epoch") << TimeEncoding::Epoch << QByteArray("1700000000.123457");
    QTest::newRow("millis") << TimeEncoding::Millis << QByteArray("1700000000123.457");
    QTest::newRow("nanos") << TimeEncoding::Nanos << QByteArray("1700000000123456789");
}

void tst_LogWriter::timeEncodings()
{
    QFETCH(const TimeEncoding, encoding);
    QFETCH(const QByteArray, ts);
    FixedTime time;
    Pipe pipe;
    LogWriter writer(time, pipe.fds[1], {LogLevel::Info, LogEncoding::Json, encoding});
    writer.write(LogLevel::Error, QString(), "m", nullptr, 0);
    QCOMPARE(pipe.read(), "{\"level\":\"error\",\"ts\":" + ts + ",\"msg\":\"m\"}\n");
}

void tst_LogWriter::levels_data()
{
    QTest::addColumn<LogLevel>("setting");
    QTest::addColumn<int>("lines"); // of one each: error, warning, info, debug
    QTest::newRow("error") << LogLevel::Error << 1;
    QTest::newRow("warning") << LogLevel::Warning << 2;
    QTest::newRow("info") << LogLevel::Info << 3;
    QTest::newRow("debug") << LogLevel::Debug << 4;
}

void tst_LogWriter::levels()
{
    QFETCH(const LogLevel, setting);
    FixedTime time;
    Pipe pipe;
    LogWriter writer(time, pipe.fds[1], {setting});
    for (const LogLevel level :
        {LogLevel::Unset, LogLevel::Error, LogLevel::Warning, LogLevel::Info, LogLevel::Debug})
        writer.write(level, QString(), "m", nullptr, 0);
    QTEST(int(pipe.read().count('\n')), "lines");
}

void tst_LogWriter::redaction_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("shown");
    QTest::newRow("plain") << QStringLiteral("copied to ops") << QStringLiteral("copied to ops");
    QTest::newRow("bearer") << QStringLiteral("Authorization: Bearer abcdefgh123")
                            << QStringLiteral("Authorization: Bearer <redacted>");
    QTest::newRow("JSON web token") << QStringLiteral("got eyJhbGciOi.eyJzdWIi.c2ln back")
                                    << QStringLiteral("got <redacted> back");
    QTest::newRow("PEM block") << QStringLiteral(
        "x -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- y")
                               << QStringLiteral("x <redacted> y");
    QTest::newRow("PEM block cut short")
        << QStringLiteral("-----BEGIN CERTIFICATE-----\nMII") << QStringLiteral("<redacted>");
    QTest::newRow("password in a URL") << QStringLiteral("proxy http://me:pw@host:1/ failed")
                                       << QStringLiteral("proxy http://<redacted>@host:1/ failed");
    QTest::newRow("a URL without one")
        << QStringLiteral("https://host:6443/api") << QStringLiteral("https://host:6443/api");
    QTest::newRow("basic") << QStringLiteral("Authorization: Basic YWxpY2U6cGFzc3dvcmQ=")
                           << QStringLiteral("Authorization: Basic <redacted>");
    const auto ours = [](const char *name, const QString &sentence) {
        QTest::addRow("our own words: %s", name) << sentence << sentence;
    };
    ours("basic authentication",
        QStringLiteral("token and basic authentication exclude each other, remove one; username "
                       "holds a colon, basic authentication cannot send it, use a token"));
    ours("Basic authentication", QStringLiteral("Basic authentication, bearer authentication"));
    ours("what a bearer is", QStringLiteral("no bearer credential, bearer credentials"));
    ours("what to write",
        QStringLiteral("write them into its address, as in https://USER:PASSWORD@127.0.0.1"));
    QTest::newRow("the name alone is no example")
        << QStringLiteral("http://USER:word@host") << QStringLiteral("http://<redacted>@host");
}

void tst_LogWriter::redaction()
{
    QFETCH(const QString, text);
    QTEST(redacted(text), "shown");
}

void tst_LogWriter::qtMessages()
{
    FixedTime time;
    Pipe pipe;
    {
        LogWriter writer(time, pipe.fds[1], {});
        writer.takeQtMessages();
        qWarning("something about Qt");
        QCOMPARE(pipe.read(),
            QByteArray("{\"level\":\"warn\",\"ts\":\"2023-11-14T22:13:20.123Z\",\"logger\":\"qt\","
                       "\"msg\":\"something about Qt\"}\n"));
    }
    // Given back: QtTest's own handler is not ours to test, but nothing may reach the dead writer.
    QVERIFY(pipe.read().isEmpty());
}

void tst_LogWriter::readerThatDoesNotRead()
{
    FixedTime time;
    Pipe pipe;
    LogWriter writer(time, pipe.fds[1], {});
    const QByteArray filler(4096, 'x');
    while (::write(pipe.fds[1], filler.constData(), size_t(filler.size())) > 0) { }
    for (int i = 0; i < 50; ++i)
        writer.write(LogLevel::Info, QString(), "lost", nullptr, 0);
    QCOMPARE(writer.droppedLines(), quint64(50));
    QCOMPARE(writer.waits(), quint64(1)); // SIGTERM would be heard after the others
    pipe.read();
    writer.write(LogLevel::Info, QString(), "heard", nullptr, 0);
    const QByteArray text = pipe.read();
    QVERIFY2(
        text.contains("lines were dropped: nobody read them\",\"lines\":50"), text.constData());
    QVERIFY2(text.endsWith("\"heard\"}\n"), text.constData());
    writer.write(LogLevel::Info, QString(), "again", nullptr, 0);
    QCOMPARE(pipe.read().count('\n'), 1);
}

// The descriptor blocks, as standard error does, and a line is longer than what is free.
void tst_LogWriter::readerThatStopsWithinALine()
{
    FixedTime time;
    Pipe pipe;
    QCOMPARE(::fcntl(pipe.fds[1], F_SETFL, 0), 0);
    QVERIFY(::fcntl(pipe.fds[1], F_SETPIPE_SZ, 8192) >= 8192);
    LogWriter writer(time, pipe.fds[1], {});
    Fields fields;
    for (const char *key : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"})
        fields.push_back({key, QString(900, QLatin1Char('a'))});
    writer.write(LogLevel::Info, QString(), "long", fields.data(), qsizetype(fields.size()));
    writer.write(LogLevel::Info, QString(), "lost", nullptr, 0);
    QCOMPARE(writer.droppedLines(), quint64(1));
    QByteArray text;
    for (int i = 0; i < 10; ++i) {
        text += pipe.read();
        writer.write(LogLevel::Info, QString(), "later", nullptr, 0);
    }
    text += pipe.read();
    const QList<QByteArray> lines = text.split('\n');
    QVERIFY2(lines.at(0).contains("\"msg\":\"long\"") && lines.at(0).endsWith("a\"}"),
        lines.at(0).constData());
    QVERIFY2(lines.at(1).contains("lines were dropped"), lines.at(1).constData());
    QVERIFY2(lines.at(lines.size() - 2).contains("\"later\""), text.right(200).constData());
}

void tst_LogWriter::longTexts_data()
{
    QTest::addColumn<QVariant>("value");
    QTest::addColumn<QByteArray>("shown"); // the end of the JSON line
    const QString kilo(1024, QLatin1Char('a'));
    const QByteArray cut = kilo.toUtf8();
    QTest::newRow("1 KiB is whole") << QVariant(kilo) << QByteArray("\"" + cut + "\"}\n");
    QTest::newRow("one more") << QVariant(QString(kilo + u'a'))
                              << QByteArray("\"" + cut + "… (1025 bytes)\"}\n");
    QTest::newRow("never within a letter")
        << QVariant(QString(kilo.left(1023) + QStringLiteral("éé")))
        << QByteArray("\"" + cut.left(1023) + "… (1027 bytes)\"}\n");
    QTest::newRow("bytes") << QVariant(QByteArray(5000, 'a'))
                           << QByteArray("\"" + cut + "… (5000 bytes)\"}\n");
    QTest::newRow("a secret is not cut in two")
        << QVariant(QString(kilo.left(1004) + QStringLiteral(" Bearer abcdefghijklmnopqrstuvw")))
        << QByteArray("\"" + cut.left(1004) + " Bearer <redacted>\"}\n");
    QTest::newRow("a list") << QVariant(QStringList{kilo + u'a', QStringLiteral("b")})
                            << QByteArray("[\"" + cut + "… (1025 bytes)\",\"b\"]}\n");
    QTest::newRow("a long list") << QVariant(QStringList(1000, QStringLiteral("b")))
                                 << QByteArray("[" + QByteArray("\"b\",").repeated(64)
                                        + "\"… (1000 items)\"]}\n");
}

// What a server or a plugin says may be of any size.
void tst_LogWriter::longTexts()
{
    QFETCH(const QVariant, value);
    QFETCH(const QByteArray, shown);
    FixedTime time;
    Pipe pipe;
    LogWriter writer(time, pipe.fds[1], {});
    const LogField field{"t", value};
    writer.write(LogLevel::Info, QString(), "m", &field, 1);
    const QByteArray text = pipe.read();
    const qsizetype begin = text.indexOf("\"t\":") + 4;
    QCOMPARE(text.mid(begin), shown);
}

QTEST_GUILESS_MAIN(tst_LogWriter)
#include "tst_logwriter.moc"
