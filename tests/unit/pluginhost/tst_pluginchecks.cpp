#include "pluginhost/pluginchecks.h"

#include <QTest>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qtemporarydir.h>
#include <sys/stat.h>

using namespace davit;
using namespace davit::pluginhost;

namespace {

QJsonObject parsed(const QByteArray &json)
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(json, &error);
    if (error.error != QJsonParseError::NoError)
        qFatal("%s", qUtf8Printable(error.errorString()));
    return document.object();
}

// "a 1.2.0" and what it depends on.
struct Plugin
{
    const char *id;
    QVersionNumber version;
    QVersionNumber compatVersion;
    QList<PluginDependency> dependencies;
};

} // namespace
Q_DECLARE_METATYPE(QList<Plugin>)

class tst_PluginChecks : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void alone_data();
    void alone();
    void together_data();
    void together();
    void stateNames();
    void noLibrary_data();
    void noLibrary();
};

void tst_PluginChecks::noLibrary_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("fault");
    QTest::newRow("it is not there") << QStringLiteral(
        "none.so") << QStringLiteral("there is no such file; name the library of a plugin");
    const QString other = QStringLiteral("it is no regular file; name the library of a plugin");
    QTest::newRow("a FIFO is not opened") << QStringLiteral("fifo.so") << other;
    QTest::newRow("a directory") << QStringLiteral(".") << other;
}

void tst_PluginChecks::noLibrary()
{
    QFETCH(const QString, name);
    QFETCH(const QString, fault);
    const QTemporaryDir dir;
    QCOMPARE(mkfifo(qPrintable(dir.filePath(QStringLiteral("fifo.so"))), 0600), 0);
    const QString path = dir.filePath(name);
    RawMetadata raw;
    QCOMPARE(readRawMetadata(path, &raw).error().message(), path + QStringLiteral(": ") + fault);
}

// NOLINTNEXTLINE(readability-function-size): a table
void tst_PluginChecks::alone_data()
{
    QTest::addColumn<QString>("iid");
    QTest::addColumn<int>("qtVersion");
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("fault");
    const QString iid = QStringLiteral("dev.davit.ControllerPlugin/1");
    const QByteArray good = R"({"Id":"a","Version":"1.0.0","SdkAbi":1})";
    const int qt = QT_VERSION & 0xffff00;
    const QString host = QStringLiteral("%1.%2").arg(QT_VERSION_MAJOR).arg(QT_VERSION_MINOR);
    QTest::newRow("good") << iid << qt << good << QString();
    QTest::newRow("older minor of Qt") << iid << 0x060200 << good << QString();
    QTest::newRow("newer minor of Qt")
        << iid << 0x066300 << good
        << QStringLiteral(
               "it was built with Qt 6.99, this host has %1; build it with Qt %1 or older")
               .arg(host);
    QTest::newRow("another major of Qt")
        << iid << 0x050f02 << good
        << QStringLiteral(
               "it was built with Qt 5.15, this host has %1; build it with Qt %1 or older")
               .arg(host);
    QTest::newRow("IID comes before metadata")
        << QStringLiteral("other") << qt << QByteArray("{}")
        << QStringLiteral("its IID is \"other\", not \"dev.davit.ControllerPlugin/1\"; use "
                          "DAVIT_CONTROLLER_PLUGIN_IID in Q_PLUGIN_METADATA");
    QTest::newRow("ABI comes before unknown fields")
        << iid << qt << QByteArray(R"({"Id":"a","SdkAbi":9,"New":1})")
        << QStringLiteral("it was built for SDK ABI 9, this host has 1; update davit, or build the "
                          "plugin with an older SDK");
    QTest::newRow("fields come before Qt")
        << iid << 0x070000 << QByteArray(R"({"Id":"a","SdkAbi":1})")
        << QStringLiteral("metadata field Version is missing");
    const QByteArray pods = R"({"Id":"a","Version":"1.0.0","SdkAbi":1,
        "Resources":[{"version":"v1","kind":"Pod"}],"Rbac":[)";
    QTest::newRow("rights in two rules")
        << iid << qt << pods + R"({"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]},
                     {"apiGroups":["*"],"resources":["*"],"verbs":["watch"]}]})"
        << QString();
    QTest::newRow("right for the wrong group")
        << iid << qt << pods + R"({"apiGroups":["apps"],"resources":["pods"],"verbs":["*"]}]})"
        << QStringLiteral("Resources has v1 Pod, but Rbac does not grant \"get\" on \"pods\" of "
                          "group \"\"; add the rule to the metadata");
    const QByteArray named = R"({"Id":"a","Version":"1.0.0","SdkAbi":1,"Rbac":[{"apiGroups":[""],
        "resources":["configmaps"],"resourceNames":["x"],"verbs":["get","list","watch"]}],
        "Resources":[{"version":"v1","kind":"ConfigMap")";
    const QString notNamed
        = QStringLiteral("Resources has v1 ConfigMap, but Rbac does not grant \"get\" on "
                         "\"configmaps\" of group \"\"; add the rule to the metadata");
    QTest::newRow("a right for one name, and that name is watched")
        << iid << qt << named + R"(,"fieldSelector":"metadata.name=x"}]})" << QString();
    QTest::newRow("a right for one name, and another is watched")
        << iid << qt << named + R"(,"fieldSelector":"metadata.name=y"}]})" << notNamed;
    QTest::newRow("a right for one name, and all are watched")
        << iid << qt << named + "}]}" << notNamed;
    QTest::newRow("a right for a subresource only")
        << iid << qt << pods + R"({"apiGroups":[""],"resources":["pods/status"],"verbs":["*"]}]})"
        << QStringLiteral("Resources has v1 Pod, but Rbac does not grant \"get\" on \"pods\" of "
                          "group \"\"; add the rule to the metadata");
    QTest::newRow("a right without groups")
        << iid << qt << pods + R"({"resources":["pods"],"verbs":["*"]}]})"
        << QStringLiteral("Resources has v1 Pod, but Rbac does not grant \"get\" on \"pods\" of "
                          "group \"\"; add the rule to the metadata");
    QTest::newRow("the plural that the metadata says")
        << iid << qt << QByteArray(R"({"Id":"a","Version":"1.0.0","SdkAbi":1,
               "Resources":[{"group":"x.io","version":"v1","kind":"Ox","resource":"oxen"}],
               "Rbac":[{"apiGroups":["x.io"],"resources":["oxen"],"verbs":["get","list","watch"]}]})")
        << QString();
}

void tst_PluginChecks::alone()
{
    QFETCH(const QString, iid);
    QFETCH(const int, qtVersion);
    QFETCH(const QByteArray, json);
    QFETCH(const QString, fault);
    const QString path = QStringLiteral("/plugins/a.so");
    PluginMetadata metadata;
    const Status status = checkPlugin(path, {iid, qtVersion, parsed(json)}, &metadata);
    QCOMPARE(status.error().message(),
        fault.isEmpty() ? QString() : path + QLatin1StringView(": ") + fault);
    QCOMPARE(metadata.id.isEmpty(), !status.isOk());
}

void tst_PluginChecks::together_data()
{
    QTest::addColumn<QList<Plugin>>("plugins");
    QTest::addColumn<QStringList>("order"); // of what is Checked
    QTest::addColumn<QStringList>("refusals"); // "file: reason"
    const QVersionNumber one(1, 0, 0);
    const QVersionNumber two(2, 0, 0);
    const QVersionNumber three(3, 0, 0);
    const auto on = [&](const char *id) {
        return PluginDependency{QString::fromLatin1(id), QVersionNumber(1, 0, 0)};
    };
    const auto text = [](const char *t) { return QString::fromLatin1(t); };
    QTest::newRow("no dependencies: by place")
        << QList<Plugin>{{"b", one, one, {}}, {"a", one, one, {}}}
        << QStringList{text("b"), text("a")} << QStringList();
    QTest::newRow("dependencies first")
        << QList<Plugin>{{"a", one, one, {on("b"), on("c")}}, {"b", one, one, {on("c")}},
               {"c", one, one, {}}}
        << QStringList{text("c"), text("b"), text("a")} << QStringList();
    QTest::newRow("not here")
        << QList<Plugin>{{"a", one, one, {on("z")}}} << QStringList()
        << QStringList{text("0: it depends on \"z\" 1.0.0, which is not here; add that plugin")};
    QTest::newRow("too old")
        << QList<Plugin>{{"a", one, one, {{text("b"), two}}}, {"b", one, one, {}}}
        << QStringList{text("b")}
        << QStringList{
               text("0: it depends on \"b\" 2.0.0, but the one here is 1.0.0 and compatible "
                    "back to 1.0.0; install one that fits")};
    QTest::newRow("too new")
        << QList<Plugin>{{"a", one, one, {on("b")}}, {"b", three, two, {}}}
        << QStringList{text("b")}
        << QStringList{
               text("0: it depends on \"b\" 1.0.0, but the one here is 3.0.0 and compatible "
                    "back to 2.0.0; install one that fits")};
    QTest::newRow("new, but compatible")
        << QList<Plugin>{{"a", one, one, {on("b")}}, {"b", three, one, {}}}
        << QStringList{text("b"), text("a")} << QStringList();
    QTest::newRow("a refusal spreads")
        << QList<Plugin>{{"a", one, one, {on("b")}}, {"b", one, one, {on("z")}}} << QStringList()
        << QStringList{text("0: it depends on \"b\", which was refused"),
               text("1: it depends on \"z\" 1.0.0, which is not here; add that plugin")};
    QTest::newRow("on itself")
        << QList<Plugin>{{"a", one, one, {on("a")}}} << QStringList()
        << QStringList{
               text("0: its dependencies form a circle (a -> a); cut it in the metadata of one")};
    QTest::newRow("a circle of three, and who hangs on it")
        << QList<Plugin>{{"x", one, one, {on("a")}}, {"a", one, one, {on("b")}},
               {"b", one, one, {on("c")}}, {"c", one, one, {on("a")}}, {"y", one, one, {}}}
        << QStringList{text("y")}
        << QStringList{text("0: it depends on \"a\", which was refused"),
               text("1: its dependencies form a circle (a -> b -> c -> a); cut it in the metadata "
                    "of one"),
               text("2: its dependencies form a circle (b -> c -> a -> b); cut it in the metadata "
                    "of one"),
               text("3: its dependencies form a circle (c -> a -> b -> c); cut it in the metadata "
                    "of one")};
    QTest::newRow("twice the same Id")
        << QList<Plugin>{{"a", one, one, {}}, {"a", two, two, {}}} << QStringList{text("a")}
        << QStringList{text("1: Id \"a\" is taken by 0; remove one of the two files")};
}

void tst_PluginChecks::together()
{
    QFETCH(const QList<Plugin>, plugins);
    QFETCH(const QStringList, order);
    QFETCH(const QStringList, refusals);
    Specs specs;
    for (const Plugin &plugin : plugins) {
        specs.push_back(
            std::make_unique<PluginSpec>(PluginFile{QString::number(specs.size()), {}, {}}));
        PluginMetadata metadata;
        metadata.id = QString::fromLatin1(plugin.id);
        metadata.version = plugin.version;
        metadata.compatVersion = plugin.compatVersion;
        metadata.dependencies = plugin.dependencies;
        specs.back()->setMetadata(metadata);
    }
    QStringList found;
    for (const PluginSpec *spec : checkTogether(specs)) {
        QCOMPARE(spec->state(), PluginState::Checked);
        found.append(spec->id());
    }
    QCOMPARE(found, order);
    QStringList refused;
    for (const auto &spec : specs)
        if (spec->state() == PluginState::Refused)
            refused.append(spec->reason());
    QCOMPARE(refused, refusals);
}

void tst_PluginChecks::stateNames()
{
    QCOMPARE(QString(pluginStateName(PluginState::Running)), QStringLiteral("Running"));
    QCOMPARE(QString(pluginStateName(PluginState::Quarantined)), QStringLiteral("Quarantined"));
}

QTEST_GUILESS_MAIN(tst_PluginChecks)
#include "tst_pluginchecks.moc"
