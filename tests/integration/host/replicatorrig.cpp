#include "replicatorrig.h"

#include <QFile>
#include <QRandomGenerator>

using namespace Qt::StringLiterals;

bool ReplicatorRig::startServer()
{
    host = std::make_unique<HostProcess>();
    m_run = u"r%1"_s.arg(QRandomGenerator::global()->bounded(100'000, 999'999));
    m_kubeconfig = qEnvironmentVariable("DAVIT_REAL_KUBECONFIG");
    if (m_kubeconfig.isEmpty()) {
        m_kubeconfig = m_dir.filePath(u"kubeconfig"_s);
        m_server = std::make_unique<davit::testing::EmbeddedApiServer>();
        if (!m_server->start().isOk() || !m_server->writeKubeconfig(m_kubeconfig).isOk())
            return false;
    }
    api = std::make_unique<ApiDriver>(m_kubeconfig);
    return true;
}

bool ReplicatorRig::startHost(const QByteArray &configuration, const QString &state)
{
    QStringList arguments{u"--plugin-dir"_s, QStringLiteral(DAVIT_BUILD_DIR "/plugins"),
        u"--kubeconfig"_s, m_kubeconfig};
    if (!configuration.isEmpty()) {
        QFile file(m_dir.filePath(u"davit.yaml"_s));
        if (!file.open(QIODevice::WriteOnly) || file.write(configuration) < 0)
            return false;
        arguments << u"--config"_s << file.fileName();
    }
    host = std::make_unique<HostProcess>();
    host->run(arguments);
    m_isHostPlain = configuration.isEmpty();
    return host->waitForLine("plugin state", "state", state);
}

bool ReplicatorRig::stopHost()
{
    m_isHostPlain = false;
    const int code = host->stop();
    if (code != 0)
        api->lastError = u"the host left with %1 (-1: not yet, -2: a signal)"_s.arg(code);
    return code == 0;
}

void ReplicatorRig::beginRow()
{
    m_prefix = u"%1-%2-"_s.arg(m_run).arg(++m_row);
    useKind(u"Secret"_s);
}

void ReplicatorRig::useKind(const QString &kind)
{
    m_kind = kind;
    m_plural = kind.toLower() + u's';
}

bool ReplicatorRig::makeNamespaces(std::initializer_list<const char *> suffixes)
{
    for (const char *suffix : suffixes)
        if (!api->createNamespace(ns(suffix)))
            return false;
    return true;
}

QJsonObject ReplicatorRig::metadataOf(const QString &name, const Texts &marks) const
{
    QJsonObject labels;
    QJsonObject annotations;
    for (auto i = marks.begin(); i != marks.end(); ++i)
        (i.key() == kCopyLabel ? labels : annotations)
            .insert(i.key(), i.value().isNull() ? QJsonValue() : QJsonValue(i.value()));
    return {{u"name"_s, name}, {u"labels"_s, labels}, {u"annotations"_s, annotations}};
}

QJsonObject ReplicatorRig::object(
    const QString &name, const QString &to, const QString &content, const QJsonObject &rest) const
{
    const QString value
        = m_kind == "Secret"_L1 ? QString::fromLatin1(content.toUtf8().toBase64()) : content;
    QJsonObject all{{u"apiVersion"_s, u"v1"_s}, {u"kind"_s, m_kind},
        {u"metadata"_s, metadataOf(name, to.isEmpty() ? Texts() : Texts{{kToNamespaces, to}})},
        {u"data"_s, QJsonObject{{u"key"_s, value}}}};
    for (auto i = rest.begin(); i != rest.end(); ++i)
        all.insert(i.key(), i.value());
    return all;
}

QJsonObject ReplicatorRig::marked(
    const QString &name, const QString &content, const Texts &marks) const
{
    return object(name, {}, content, {{u"metadata"_s, metadataOf(name, marks)}});
}

bool ReplicatorRig::create(const char *suffix, const QJsonObject &object)
{
    return api->create(m_plural, ns(suffix), object);
}

bool ReplicatorRig::createSource(const char *suffix, const QString &name, const QString &to,
    const QString &content, const QJsonObject &rest)
{
    return create(suffix, object(name, to, content, rest));
}

bool ReplicatorRig::patch(const char *suffix, const QString &name, const QJsonObject &change)
{
    return api->mergePatch(m_plural, ns(suffix), name, change);
}

bool ReplicatorRig::setContent(const char *suffix, const QString &name, const QString &content)
{
    return patch(suffix, name, {{u"data"_s, object(name, {}, content)["data"_L1]}});
}

bool ReplicatorRig::editMarks(const char *suffix, const QString &name, const Texts &marks)
{
    return patch(suffix, name, {{u"metadata"_s, metadataOf(name, marks)}});
}

bool ReplicatorRig::remove(const char *suffix, const QString &name)
{
    return api->remove(m_plural, ns(suffix), name);
}

QJsonObject ReplicatorRig::find(const char *suffix, const QString &name)
{
    return api->find(m_plural, ns(suffix), name);
}

QString ReplicatorRig::contentOf(const char *suffix, const QString &name)
{
    const QString value = find(suffix, name)["data"_L1]["key"_L1].toString();
    return m_kind == "Secret"_L1 ? QString::fromUtf8(QByteArray::fromBase64(value.toUtf8()))
                                 : value;
}

QString ReplicatorRig::uidOf(const char *suffix, const QString &name)
{
    return find(suffix, name)["metadata"_L1]["uid"_L1].toString();
}

ReplicatorRig::Texts ReplicatorRig::marksOf(const char *suffix, const QString &name)
{
    const QJsonObject metadata = find(suffix, name)["metadata"_L1].toObject();
    Texts marks;
    for (const char *part : {"labels", "annotations"}) {
        const QJsonObject texts = metadata[QLatin1StringView(part)].toObject();
        for (auto i = texts.begin(); i != texts.end(); ++i)
            marks.insert(i.key(), i.value().toString());
    }
    return marks;
}

ReplicatorRig::Texts ReplicatorRig::goodMarks(const char *suffix, const QString &name)
{
    return {{kCopyLabel, ns(suffix)}, {kCopiedTo, ns(suffix) + u'/' + name},
        {kCopiedFrom, ns("src/") + name}, {kSourceUid, uidOf("src", name)}};
}

QStringList ReplicatorRig::eventNotes(
    const char *suffix, const QString &name, const char *typeAndReason)
{
    QStringList notes;
    const QJsonArray events = api->call("GET", u"/api/v1/namespaces/%1/events"_s.arg(ns(suffix)))
                                  .body["items"_L1]
                                  .toArray();
    for (const QJsonValue &event : events)
        if (event["involvedObject"_L1]["name"_L1].toString() == name
            && event["type"_L1].toString() + u' ' + event["reason"_L1].toString()
                == QLatin1StringView(typeAndReason))
            notes << event["message"_L1].toString();
    return notes;
}

bool ReplicatorRig::hasEvent(const char *suffix, const QString &name, const char *typeAndReason)
{
    return !eventNotes(suffix, name, typeAndReason).isEmpty();
}
