#include <codec/kubernetesschema.h>

#include <QtTest>

using namespace davit;
using codec::KubernetesSchema;

class tst_KubernetesSchema : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void builtIn_data();
    void builtIn();
    void reads();
    void faults_data();
    void faults();
};

void tst_KubernetesSchema::builtIn_data()
{
    QTest::addColumn<QString>("apiVersion");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<bool>("isThere");
    const auto row = [](const char *apiVersion, const char *kind, bool isThere) {
        QTest::addRow("%s %s", apiVersion, kind)
            << QString::fromLatin1(apiVersion) << QString::fromLatin1(kind) << isThere;
    };
    row("v1", "Pod", true);
    row("v1", "Secret", true);
    row("apps/v1", "Deployment", true);
    row("coordination.k8s.io/v1", "Lease", true);
    row("events.k8s.io/v1", "Event", true);
    row("v1", "Status", true);
    row("v1", "PodList", false); // of lists only the items are in it
    row("v2", "Pod", false);
    row("demo.example/v1", "Widget", false);
    row("apiextensions.k8s.io/v1", "CustomResourceDefinition", false);
    row("apiregistration.k8s.io/v1", "APIService", false);
}

void tst_KubernetesSchema::builtIn()
{
    QFETCH(const QString, apiVersion);
    QFETCH(const QString, kind);
    QFETCH(const bool, isThere);
    const int message = KubernetesSchema::builtIn().messageOf(gvkFrom(apiVersion, kind));
    QCOMPARE(message >= 0, isThere);
    if (isThere)
        QVERIFY(std::size_t(message) < KubernetesSchema::builtIn().messages().messages.size());
}

void tst_KubernetesSchema::reads()
{
    KubernetesSchema schema;
    const Error error = KubernetesSchema::read("# a note\n"
                                               "kind a.example/v1 Thing a/v1.Thing\n"
                                               "message a/v1.Thing\n"
                                               "1 metadata message a/v1.Meta zero\n"
                                               "2 - inline a/v1.Meta\n"
                                               "7 sizes list int null\n"
                                               "message a/v1.Meta\n"
                                               "1 name string omitempty\n"
                                               "2 parts map quantity\n",
        &schema);
    QVERIFY2(!error.isError(), qPrintable(error.message()));
    const Gvk thing{QStringLiteral("a.example"), QStringLiteral("v1"), QStringLiteral("Thing")};
    QVERIFY(schema.kinds() == QList<Gvk>{thing});
    const priv::ProtobufSchema &messages = schema.messages();
    const priv::ProtobufMessage message = messages.messages[std::size_t(schema.messageOf(thing))];
    QCOMPARE(message.fieldCount, 3U);
    const priv::ProtobufField *field = &messages.fields[message.firstField];
    using Field = priv::ProtobufField;
    QCOMPARE(messages.nameOf(field[0]), std::string_view("metadata"));
    QVERIFY(field[0].kind == Field::Kind::Message && field[0].absent == Field::Absent::Zero);
    QVERIFY(field[1].kind == Field::Kind::Inline && field[1].message == field[0].message);
    QVERIFY(field[2].number == 7 && field[2].form == Field::Form::List
        && field[2].absent == Field::Absent::Null);
    const priv::ProtobufMessage meta = messages.messages[field[0].message];
    const Field *const name = &messages.fields[meta.firstField];
    QVERIFY(meta.fieldCount == 2 && name[0].omitsEmpty);
    QVERIFY(name[1].form == Field::Form::Map && name[1].kind == Field::Kind::Quantity);
}

void tst_KubernetesSchema::faults_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char *name, const char *text, const char *fault) {
        QTest::newRow(name) << QByteArray(text) << QString::fromLatin1(fault);
    };
    row("a word that is nothing", "thing\n",
        "schema, line 1: neither a kind nor a message nor a field");
    row("a kind without its message", "kind v1 Pod\n",
        "schema, line 1: a kind without its message");
    row("a message that is missing", "kind v1 Pod v1.Pod\n",
        "schema, line 1: a message that is referred to is missing");
    row("a field before all messages", "1 a string\n",
        "schema, line 1: a field before the first message");
    row("a kind of value that is not known", "message a\n1 a text\n",
        "schema, line 2: a field of an unknown kind");
    row("a field without its message", "message a\n1 a message\n",
        "schema, line 2: a field without its message");
    row("a flag that is not known", "message a\n1 a string always\n",
        "schema, line 2: a word behind the field that means nothing");
    row("numbers that go down", "message a\n2 a string\n1 b string\n",
        "schema, line 3: a field whose number is not above the last one's");
    row("a message twice", "message a\nmessage a\n",
        "schema, line 2: a message that was there before");
}

void tst_KubernetesSchema::faults()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, fault);
    KubernetesSchema schema;
    QCOMPARE(
        KubernetesSchema::read({text.constData(), std::size_t(text.size())}, &schema).message(),
        fault);
}

QTEST_GUILESS_MAIN(tst_KubernetesSchema)
#include "tst_kubernetesschema.moc"
