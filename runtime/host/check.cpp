#include "check.h"

#include "checkrights.h"
#include "clusterchoice.h"
#include "servercalls.h"
#include "setup.h"
#include "wrongscheme.h"

#include <transport/credential.h>
#include <transport/inputfile.h>
#include <transport/proxyenvironment.h>

#include <QtCore/qfileinfo.h>
#include <QtCore/qjsonarray.h>
#include <QtCore/qjsondocument.h>
#include <QtCore/qjsonobject.h>
#include <QtNetwork/qsslcertificate.h>
#include <algorithm>
#include <cstdlib>

namespace davit::host {

namespace {

using Grade = Finding::Grade;
using transport::ClusterConfig;

constexpr qint64 kSkewSeconds = 5; // the Date header counts in whole seconds
constexpr qint64 kCertificateSoon = qint64(7) * 24 * 3600;
constexpr qint64 kTokenSoon = 600;

// "3 days", "2 h", "40 s"
QString span(qint64 seconds)
{
    const qint64 size = std::llabs(seconds);
    if (size >= 2 * 24 * 3600)
        return QStringLiteral("%1 days").arg(size / (24 * 3600));
    if (size >= 2 * 3600)
        return QStringLiteral("%1 h").arg(size / 3600);
    if (size >= 120)
        return QStringLiteral("%1 min").arg(size / 60);
    return QStringLiteral("%1 s").arg(size);
}

QString when(const QDateTime &time)
{
    return time.toUTC().toString(Qt::ISODate);
}

// Why the token beside a tokenFile is sent and not that of the file; empty: the file's is (C-59).
QString tokenFileFault(const ClusterConfig &config)
{
    if (config.tokenFile.isEmpty())
        return {};
    QString unreadable;
    const QByteArray token
        = transport::readInputFile(config.tokenFile, &unreadable, std::chrono::milliseconds(0))
              .trimmed();
    const QString what = !unreadable.isEmpty() ? QStringLiteral("cannot be read: ") + unreadable
        : token.isEmpty()                      ? QStringLiteral("is empty")
        : transport::isHeaderSafe(token)       ? QString()
                                               : QString(transport::kNotHeaderSafe);
    return what.isEmpty() ? QString()
                          : QStringLiteral("tokenFile %1 %2").arg(config.tokenFile, what);
}

// How the configuration proves who we are, without a word of it. `isFallBack`: by the token that
// stands beside a tokenFile.
QString describeCredential(const ClusterConfig &config, bool isFallBack)
{
    QStringList ways;
    if (!config.clientKeyPem.isEmpty())
        ways << (config.clientCertificateFile.isEmpty()
                ? QStringLiteral("a client certificate")
                : QStringLiteral("the client certificate %1").arg(config.clientCertificateFile));
    if (!config.tokenFile.isEmpty() && !isFallBack)
        ways << QStringLiteral("the token in %1").arg(config.tokenFile);
    else if (!config.token.isEmpty())
        ways << QStringLiteral("a token");
    if (!config.basicUser.isEmpty())
        ways << QStringLiteral("a password, as %1").arg(config.basicUser);
    if (config.exec)
        ways << QStringLiteral("what %1 prints").arg(config.exec->command);
    return ways.isEmpty() ? QStringLiteral("nothing, it is anonymous")
                          : ways.join(QStringLiteral(" and "));
}

class Check
{
public:
    Check(const CheckOptions &options, const TellFinding &tell) : m_options(options), m_tell(tell)
    { }

    QueryExit run()
    {
        const Result<ClusterConfig> config = chosenCluster(m_options.kubeconfig, m_options.context);
        if (!config.isOk()) {
            bad("configuration", config.error().message(), QueryExit::Configuration);
            return m_exit;
        }
        m_config = config.value();
        tellConfiguration();
        chooseLease();
        m_calls = std::make_unique<ServerCalls>(m_config);
        const bool isReached = askVersion();
        tellClock();
        tellCertificates();
        tellToken();
        if (isReached && askIdentity())
            askRights();
        return m_exit;
    }

private:
    void good(const char *topic, const QString &text)
    {
        m_tell({Grade::Good, QString::fromLatin1(topic), text});
    }
    void odd(const char *topic, const QString &text)
    {
        m_tell({Grade::Odd, QString::fromLatin1(topic), text});
    }
    void bad(const char *topic, const QString &text, QueryExit exit)
    {
        m_tell({Grade::Bad, QString::fromLatin1(topic), text});
        m_exit = worse(m_exit, exit);
    }

    // The entry, where merging took it from another file than the context.
    QString placeOf(const QString &entry) const
    {
        const QString file = entry.section(QStringLiteral(": "), 0, 0);
        const bool isSame = m_config.source == file || m_config.source.startsWith(file + u',');
        return entry.isEmpty() || isSame ? m_config.source : entry;
    }
    // "user "u"", or "user "u" of /f" where that is not the context's file.
    QString entryOf(const QString &entry) const
    {
        const QString begin = QStringLiteral("kubeconfig ");
        const QString file = entry.section(QStringLiteral(": "), 0, 0).mid(begin.size());
        const QString name = entry.section(QStringLiteral(": "), 1);
        return placeOf(entry) == m_config.source ? name
                                                 : QStringLiteral("%1 of %2").arg(name, file);
    }
    QString userPlace() const { return placeOf(m_config.userSource); }
    QString clusterPlace() const { return placeOf(m_config.clusterSource); }

    void tellConfiguration()
    {
        QString text = m_config.source;
        if (!m_config.userSource.isEmpty())
            text += QStringLiteral(", ") + entryOf(m_config.userSource);
        if (clusterPlace() != m_config.source)
            text += QStringLiteral(", ") + entryOf(m_config.clusterSource);
        good("configuration",
            text
                + QStringLiteral(", namespace %1; taken because %2")
                      .arg(m_config.namespaceName, m_config.choice));
        for (const QString &warning : m_config.warnings)
            odd("configuration", warning);
        if (m_config.server.scheme() != QLatin1String("https"))
            return odd("credential",
                QStringLiteral(
                    "none is sent, since %1 is not https; and all can be read on the way")
                    .arg(m_config.server.toString()));
        if (m_config.isInsecure)
            odd("server",
                QStringLiteral("whoever answers is taken for it (insecure-skip-tls-verify); name "
                               "its CA with certificate-authority instead"));
        const QString fault = tokenFileFault(m_config);
        m_isFallBack = !fault.isEmpty();
        const QString credential = describeCredential(m_config, m_isFallBack);
        if (!m_isFallBack)
            return good("credential", credential);
        odd("credential",
            credential
                + QStringLiteral(", since %1; correct the path or the file, or remove one of both")
                      .arg(fault));
    }

    void chooseLease()
    {
        if (!m_options.isLeaderElected)
            return;
        const Result<ObjectKey> lease
            = electionLease(m_options.leaseName, m_options.leaseNamespace, m_config);
        if (lease.isOk())
            m_lease = lease.value();
        else
            bad("election", lease.error().message(), QueryExit::Configuration);
    }

    // What no connection most likely means, beside Qt's own words.
    QString adviceFor(const ServerAnswer &answer) const
    {
        if (answer.error.code() == ErrorCode::MalformedReply)
            return QStringLiteral("look at what stands before the server, a proxy or a gateway");
        if (answer.httpStatus != 0)
            return QStringLiteral("it began to answer: look at its load, and at what stands before "
                                  "it");
        const bool isOfTls
            = answer.error.code() == ErrorCode::TlsFailure && !isFaultOfProxy(answer.error);
        if (isOfTls && areTimesWrong())
            return QStringLiteral("see the certificates below");
        if (isOfTls)
            return QStringLiteral("check certificate-authority and tls-server-name in %1, and "
                                  "whether a proxy stands between")
                .arg(clusterPlace());
        if (!m_config.proxyUrl.isEmpty())
            return QStringLiteral("check the proxy %1:%2, and NO_PROXY")
                .arg(m_config.proxyUrl.host())
                .arg(transport::portOf(m_config.proxyUrl));
        return QStringLiteral(
            "check that the server runs, its address in %1, and firewalls between")
            .arg(clusterPlace());
    }

    // False when there is no use in further questions.
    bool askVersion()
    {
        const QString server = m_calls->serverName();
        const ServerAnswer answer = m_calls->get("/version");
        const QJsonObject version = QJsonDocument::fromJson(answer.body).object();
        const QString name = version.value(QLatin1StringView("gitVersion")).toString();
        const QueryExit exit = exitOf(answer);
        m_isTlsRefused = answer.error.code() == ErrorCode::TlsFailure;
        if (const QString fault
            = wrongScheme(server, clusterPlace(), {answer.error, answer.httpStatus, answer.body});
            !fault.isEmpty()) {
            bad("server", fault, answer.error.isError() ? exit : QueryExit::Configuration);
        } else if (exit == QueryExit::Configuration) {
            bad("credential", answer.fault, exit);
        } else if (exit == QueryExit::NoConnection) {
            bad("server", answer.fault + QStringLiteral("; ") + adviceFor(answer), exit);
        } else if (exit == QueryExit::RefusedCredentials) {
            refused(answer);
        } else if (exit == QueryExit::MissingRights) {
            odd("server",
                QStringLiteral("%1 does not tell its version (%2), which davit does not need; to "
                               "see it, bind the ClusterRole system:public-info-viewer to this "
                               "user")
                    .arg(server, answer.fault));
            return true;
        } else if (answer.isOfSickServer()) {
            unwell("server", answer);
        } else if (answer.httpStatus == 431) {
            bad("credential",
                QStringLiteral("%1 refuses what is sent as too large (HTTP 431); look at the token "
                               "of %2")
                    .arg(server, userPlace()),
                QueryExit::RefusedCredentials);
        } else if (!answer.isGood() || name.isEmpty()) {
            bad("server",
                QStringLiteral("what answers at %1 is no Kubernetes API server (HTTP %2 to GET "
                               "/version); check the server's address in %3")
                    .arg(server)
                    .arg(answer.httpStatus)
                    .arg(clusterPlace()),
                QueryExit::Configuration);
        } else {
            QString text = QStringLiteral("%1, Kubernetes %2").arg(server, name);
            if (!m_config.proxyUrl.isEmpty())
                text += QStringLiteral(", by the proxy %1").arg(m_config.proxyUrl.host());
            good("server", text);
            return true;
        }
        return false;
    }

    void unwell(const char *topic, const ServerAnswer &answer)
    {
        bad(topic,
            QStringLiteral("%1 is there and not well (%2); look at its log, or at what stands "
                           "before it")
                .arg(m_calls->serverName(), answer.fault),
            QueryExit::NoConnection);
    }

    void refused(const ServerAnswer &answer)
    {
        bad("credential",
            QStringLiteral("%1 does not accept it (%2); renew it, or check the user in %3")
                .arg(m_calls->serverName(), answer.fault, userPlace()),
            QueryExit::RefusedCredentials);
    }

    void tellClock()
    {
        const QDateTime server = m_calls->peer().serverDate;
        if (server.isNull() && m_isTlsRefused && areTimesWrong())
            odd("clock",
                QStringLiteral("says %1 here, the server's is not known; if that is wrong the "
                               "certificates may be right, set it by NTP")
                    .arg(when(QDateTime::currentDateTimeUtc())));
        if (server.isNull())
            return;
        const qint64 ahead = server.secsTo(QDateTime::currentDateTimeUtc());
        if (std::llabs(ahead) <= kSkewSeconds)
            return good("clock", QStringLiteral("agrees with the server's"));
        odd("clock",
            QStringLiteral("is %1 %2 the server's; certificates and tokens seem to begin or end at "
                           "other times than they do, set both clocks by NTP")
                .arg(span(ahead),
                    ahead > 0 ? QStringLiteral("ahead of") : QStringLiteral("behind")));
    }

    // Done: davit works all the same.
    void fault(const char *topic, const QString &text, QueryExit exit)
    {
        if (exit == QueryExit::Done)
            odd(topic, text);
        else
            bad(topic, text, exit);
    }

    // By the server's clock where it told it.
    qint64 secondsUntil(const QDateTime &end) const
    {
        const QDateTime server = m_calls->peer().serverDate;
        return (server.isNull() ? QDateTime::currentDateTimeUtc() : server).secsTo(end);
    }

    // False, and told, when it is still to come.
    bool hasBegun(const char *topic, const QDateTime &begin, QueryExit exit, const QString &remedy)
    {
        const qint64 ahead = begin.isNull() ? 0 : secondsUntil(begin);
        if (ahead <= kSkewSeconds)
            return true;
        fault(topic,
            QStringLiteral("is not valid before %1, in %2; %3")
                .arg(when(begin), span(ahead), remedy),
            exit);
        return false;
    }

    void tellEnd(const char *topic, const QDateTime &end, qint64 soon, const QString &remedy,
        QueryExit exit = QueryExit::RefusedCredentials)
    {
        if (end.isNull())
            return;
        const qint64 left = secondsUntil(end);
        if (left <= 0)
            return fault(topic,
                QStringLiteral("ended %1 ago, at %2; %3").arg(span(left), when(end), remedy), exit);
        const QString text = QStringLiteral("good for %1, until %2").arg(span(left), when(end));
        if (left > soon)
            return good(topic, text);
        odd(topic, text + QStringLiteral("; ") + remedy);
    }

    bool isValidNow(const QSslCertificate &certificate) const
    {
        return certificate.isNull()
            || (secondsUntil(certificate.effectiveDate()) <= 0
                && secondsUntil(certificate.expiryDate()) > 0);
    }
    QList<QSslCertificate> untimelyCas() const
    {
        QList<QSslCertificate> cas = QSslCertificate::fromData(m_config.caPem, QSsl::Pem);
        cas.removeIf([this](const QSslCertificate &ca) { return isValidNow(ca); });
        return cas;
    }
    bool areTimesWrong() const
    {
        return !isValidNow(m_calls->peer().serverCertificate) || !untimelyCas().isEmpty();
    }

    void tellCertificates()
    {
        const transport::PeerFacts peer = m_calls->peer();
        tellServerCertificate(peer.serverCertificate);
        if (m_isTlsRefused)
            tellCas();
        QSslCertificate own = peer.clientCertificate; // also what an exec plugin printed
        if (own.isNull())
            own = QSslCertificate(m_config.clientCertificatePem, QSsl::Pem);
        const bool isPrinted = m_config.exec && m_config.clientCertificatePem.isEmpty();
        const QString remedy = isPrinted
            ? QStringLiteral("look at %1, which printed it").arg(m_config.exec->command)
            : QStringLiteral("put a new one in its place, Davit takes it up while it runs");
        if (!own.isNull()
            && hasBegun("client cert", own.effectiveDate(), QueryExit::RefusedCredentials, remedy))
            tellEnd("client cert", own.expiryDate(), m_config.exec ? 0 : kCertificateSoon, remedy);
    }

    void tellServerCertificate(const QSslCertificate &certificate)
    {
        const QueryExit exit = m_isTlsRefused ? QueryExit::NoConnection : QueryExit::Done;
        const QString remedy = QStringLiteral("renew it on the server");
        if (!certificate.isNull()
            && hasBegun("server cert", certificate.effectiveDate(), exit, remedy))
            tellEnd("server cert", certificate.expiryDate(), kCertificateSoon, remedy, exit);
    }

    // A bundle may keep one that has ended; it counts when the server was not believed.
    void tellCas()
    {
        const QString place = m_config.caFile.isEmpty() ? clusterPlace() : m_config.caFile;
        for (const QSslCertificate &ca : untimelyCas()) {
            const QString remedy
                = QStringLiteral("it is %1 in %2, put the cluster's present one there")
                      .arg(ca.subjectDisplayName(), place);
            if (hasBegun("ca cert", ca.effectiveDate(), QueryExit::NoConnection, remedy))
                tellEnd("ca cert", ca.expiryDate(), 0, remedy, QueryExit::NoConnection);
        }
    }

    void tellToken()
    {
        QDateTime end = m_calls->peer().credentialEnds;
        if (const auto expires = transport::webTokenExpiry(m_config.token); end.isNull() && expires)
            end = QDateTime::fromSecsSinceEpoch(
                std::chrono::duration_cast<std::chrono::seconds>(*expires).count())
                      .toUTC();
        const bool isRenewed = m_config.exec || (!m_config.tokenFile.isEmpty() && !m_isFallBack);
        tellEnd("token", end, isRenewed ? 0 : kTokenSoon,
            isRenewed ? QStringLiteral("whoever writes it has not written a new one")
                      : QStringLiteral("nobody renews a token that stands in the kubeconfig; use "
                                       "tokenFile or exec, or put a new one there"));
    }

    // False when the server does not take us for anybody.
    bool askIdentity()
    {
        const ServerAnswer answer
            = m_calls->post("/apis/authentication.k8s.io/v1/selfsubjectreviews",
                R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})");
        if (answer.httpStatus == 404) {
            m_user = QStringLiteral("this user");
            odd("identity",
                QStringLiteral("the server does not tell, Kubernetes 1.28 and later do"));
            return true;
        }
        const QueryExit exit = exitOf(answer);
        if (exit == QueryExit::RefusedCredentials) {
            refused(answer);
            return false;
        }
        if (exit == QueryExit::MissingRights
            && answer.fault.contains(QLatin1String("\"system:anonymous\""))) {
            anonymous();
            return false;
        }
        if (answer.isOfSickServer()) {
            unwell("identity", answer);
            return false;
        }
        if (exit != QueryExit::Done) {
            bad("identity",
                QStringLiteral("the server does not tell who we are: %1; %2")
                    .arg(answer.fault,
                        exit == QueryExit::NoConnection ? adviceFor(answer) : adviceForIdentity()),
                exit);
            return false;
        }
        const QJsonObject userInfo = QJsonDocument::fromJson(
            answer.body)[QLatin1StringView("status")][QLatin1StringView("userInfo")]
                                         .toObject();
        m_user = userInfo.value(QLatin1StringView("username")).toString();
        if (!m_user.isEmpty())
            return tellIdentity(userInfo);
        bad("identity",
            QStringLiteral("the server does not tell who we are: ")
                + m_calls->strangeAnswer(
                    answer, QStringLiteral("SelfSubjectReview that names a user")),
            QueryExit::Configuration);
        return false;
    }

    QString adviceForIdentity() const
    {
        if (!m_config.impersonation.user.isEmpty())
            return QStringLiteral(
                "the user needs the verb impersonate, or remove as from the kubeconfig");
        return QStringLiteral(
            "every user may ask where the ClusterRole system:basic-user is bound as at first");
    }

    void anonymous()
    {
        bad("identity",
            QStringLiteral("the server takes us for nobody (system:anonymous); give the user in %1 "
                           "a credential")
                .arg(userPlace()),
            QueryExit::RefusedCredentials);
    }

    bool tellIdentity(const QJsonObject &userInfo)
    {
        if (m_user == QLatin1String("system:anonymous")) {
            anonymous();
            return false;
        }
        QStringList groups;
        for (const QJsonValue &group : userInfo.value(QLatin1StringView("groups")).toArray())
            groups << group.toString();
        QString text = QStringLiteral("the server takes us for %1").arg(m_user);
        if (!groups.isEmpty())
            text += QStringLiteral(" of the groups ") + groups.join(QStringLiteral(", "));
        if (!m_config.impersonation.user.isEmpty())
            text += QStringLiteral(", as the kubeconfig asks (as)");
        good("identity", text);
        return true;
    }

    void askRights()
    {
        QStringList dirs = m_options.pluginDirs;
        if (dirs.isEmpty() && QFileInfo(defaultPluginDir()).isDir())
            dirs << defaultPluginDir();
        if (dirs.isEmpty())
            odd("plugins",
                QStringLiteral("none were looked at, there is no %1; --plugin-dir names where they "
                               "are")
                    .arg(defaultPluginDir()));
        m_exit = worse(m_exit, checkRights(*m_calls, m_lease, dirs, m_user, m_tell));
    }

    const CheckOptions m_options;
    const TellFinding &m_tell;
    ClusterConfig m_config;
    std::unique_ptr<ServerCalls> m_calls;
    bool m_isTlsRefused = false; // by either side
    QString m_user;
    bool m_isFallBack = false; // a token is sent, and its tokenFile cannot be used
    std::optional<ObjectKey> m_lease; // of --leader-elect
    QueryExit m_exit = QueryExit::Done;
};

} // namespace

QueryExit worse(QueryExit one, QueryExit other)
{
    if (one == QueryExit::Done || other == QueryExit::Done)
        return std::max(one, other);
    return std::min(one, other);
}

QueryExit check(const CheckOptions &options, const TellFinding &tell)
{
    return Check(options, tell).run();
}

QString toLine(const Finding &finding)
{
    const QString grade = finding.grade == Grade::Good ? QStringLiteral("ok  ")
        : finding.grade == Grade::Odd                  ? QStringLiteral("look")
                                                       : QStringLiteral("FAIL");
    return QStringLiteral("%1  %2  %3").arg(grade, finding.topic.leftJustified(13), finding.text);
}

} // namespace davit::host
