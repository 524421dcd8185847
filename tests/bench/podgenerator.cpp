// The Pods' template.
#include "podgenerator.h"

#include <QtCore/qdatetime.h>
#include <QtCore/qlist.h>

namespace bench {
namespace {

const char kContainer[]
    = R"json({"name":"@C@","image":"images.example.org/shop/@APP@/@C@:@VERSION@",
"args":["--listen=:8080","--config=/etc/shop/config.yaml","--log-format=json"],
"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"metrics","containerPort":9102,"protocol":"TCP"}],
"env":[{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},
{"name":"POD_NAMESPACE","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}},
{"name":"GOMAXPROCS","value":"2"},{"name":"CACHE_URL","value":"redis://@APP@-cache.@NS@.svc:6379/0"},
{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"@APP@-db","key":"password"}}}],
"resources":{"limits":{"memory":"768Mi"},"requests":{"cpu":"150m","memory":"384Mi"}},
"volumeMounts":[{"name":"config","readOnly":true,"mountPath":"/etc/shop"},
{"name":"kube-api-access-@SUF@","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],
"livenessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"initialDelaySeconds":5,"timeoutSeconds":2,"periodSeconds":15,"successThreshold":1,"failureThreshold":4},
"readinessProbe":{"httpGet":{"path":"/readyz","port":"http","scheme":"HTTP"},"timeoutSeconds":2,"periodSeconds":5,"successThreshold":1,"failureThreshold":2},
"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent",
"securityContext":{"capabilities":{"drop":["ALL"]},"runAsUser":10001,"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true}})json";

const char kMetadata[]
    = R"json({"apiVersion":"v1","kind":"Pod","metadata":{"name":"@RS@-@SUF@","generateName":"@RS@-","namespace":"@NS@","uid":"@UID@",
"resourceVersion":"@RV@","creationTimestamp":"@T0@",
"labels":{"app":"@APP@","app.kubernetes.io/name":"@APP@","app.kubernetes.io/part-of":"shop","app.kubernetes.io/version":"@VERSION@","pod-template-hash":"@HASH@","stage":"prod"},
"annotations":{"cni.projectcalico.org/containerID":"@SANDBOX@","cni.projectcalico.org/podIP":"@IP@/32","cni.projectcalico.org/podIPs":"@IP@/32",
"checksum/config":"@CHECKSUM@","kubectl.kubernetes.io/restartedAt":"2026-03-01T08:00:00Z","prometheus.io/port":"9102","prometheus.io/scrape":"true"},
"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"@RS@","uid":"@RSUID@","controller":true,"blockOwnerDeletion":true}],
"managedFields":[@MANAGED@]},)json";

const char kSpec[]
    = R"json("spec":{"volumes":[{"name":"config","configMap":{"name":"@APP@-config","defaultMode":420}},
{"name":"kube-api-access-@SUF@","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}],
"containers":[@CONTAINER0@,@CONTAINER1@],"restartPolicy":"Always","terminationGracePeriodSeconds":45,"dnsPolicy":"ClusterFirst",
"serviceAccountName":"@APP@","serviceAccount":"@APP@","nodeName":"@NODE@","securityContext":{"fsGroup":10001},"schedulerName":"default-scheduler",
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},
{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},)json";

const char kStatus[] = R"json("status":{"phase":"Running","conditions":[
{"type":"PodReadyToStartContainers","status":"True","lastProbeTime":null,"lastTransitionTime":"@T1@"},
{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"@T0@"},
{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"@T1@"},
{"type":"ContainersReady","status":"True","lastProbeTime":null,"lastTransitionTime":"@T1@"},
{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"@T0@"}],
"hostIP":"@HOSTIP@","hostIPs":[{"ip":"@HOSTIP@"}],"podIP":"@IP@","podIPs":[{"ip":"@IP@"}],"startTime":"@T0@",
"containerStatuses":[{"name":"web","state":{"running":{"startedAt":"@T1@"}},"lastState":{},"ready":true,"restartCount":@RESTARTS@,
"image":"images.example.org/shop/@APP@/web:@VERSION@","imageID":"images.example.org/shop/@APP@/web@sha256:@IMAGE0@","containerID":"containerd://@CID0@","started":true},
{"name":"proxy","state":{"running":{"startedAt":"@T1@"}},"lastState":{},"ready":true,"restartCount":0,
"image":"images.example.org/shop/@APP@/proxy:@VERSION@","imageID":"images.example.org/shop/@APP@/proxy@sha256:@IMAGE1@","containerID":"containerd://@CID1@","started":true}],
"qosClass":"Burstable"}})json";

// {"f:a":{},"f:b":{}}: the form in which field managers name what they own.
QByteArray fields(const QByteArrayList &names, const QByteArray &rest = {})
{
    QByteArray made = "\".\":{}";
    for (const QByteArray &name : names)
        made += ",\"f:" + name + "\":{}";
    return '{' + made + rest + '}';
}

QByteArray keyed(const QByteArray &key, const QByteArray &value, const QByteArrayList &names)
{
    return ",\"k:{\\\"" + key + "\\\":\\\"" + value + "\\\"}\":" + fields(names);
}

QByteArray containerFields(const QByteArray &name)
{
    QByteArray env;
    for (const char *variable :
        {"POD_NAME", "POD_NAMESPACE", "GOMAXPROCS", "CACHE_URL", "DB_PASSWORD"})
        env += keyed("name", variable, {"name", "value", "valueFrom"});
    const QByteArray probe = fields({"failureThreshold", "initialDelaySeconds", "periodSeconds",
                                        "successThreshold", "timeoutSeconds"},
        ",\"f:httpGet\":" + fields({"path", "port", "scheme"}));
    return ",\"k:{\\\"name\\\":\\\"" + name + "\\\"}\":"
        + fields({"args", "image", "imagePullPolicy", "name", "terminationMessagePath",
                     "terminationMessagePolicy"},
            ",\"f:env\":" + fields({}, env) + ",\"f:livenessProbe\":" + probe
                + ",\"f:readinessProbe\":" + probe + ",\"f:ports\":"
                + fields({},
                    keyed("containerPort", "8080", {"containerPort", "name", "protocol"})
                        + keyed("containerPort", "9102", {"containerPort", "name", "protocol"}))
                + ",\"f:resources\":"
                + fields({},
                    ",\"f:limits\":" + fields({"memory"})
                        + ",\"f:requests\":" + fields({"cpu", "memory"}))
                + ",\"f:securityContext\":"
                + fields({"allowPrivilegeEscalation", "readOnlyRootFilesystem", "runAsUser"},
                    ",\"f:capabilities\":" + fields({"drop"}))
                + ",\"f:volumeMounts\":"
                + fields({},
                    keyed("mountPath", "/etc/shop", {"mountPath", "name", "readOnly"})
                        + keyed("mountPath", "/var/run/secrets/kubernetes.io/serviceaccount",
                            {"mountPath", "name", "readOnly"})));
}

QByteArray manager(const QByteArray &name, const QByteArray &time, const QByteArray &owned)
{
    return "{\"manager\":\"" + name
        + "\",\"operation\":\"Update\",\"apiVersion\":\"v1\",\"time\":\"" + time
        + "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":" + owned + '}';
}

QByteArray managedFields()
{
    QByteArray conditions;
    for (const char *type :
        {"ContainersReady", "Initialized", "PodReadyToStartContainers", "PodScheduled", "Ready"})
        conditions
            += keyed("type", type, {"lastProbeTime", "lastTransitionTime", "status", "type"});
    const QByteArray owned = fields({},
        ",\"f:metadata\":"
            + fields({"generateName"},
                ",\"f:annotations\":"
                    + fields({"checksum/config", "kubectl.kubernetes.io/restartedAt",
                        "prometheus.io/port", "prometheus.io/scrape"})
                    + ",\"f:labels\":"
                    + fields({"app", "app.kubernetes.io/name", "app.kubernetes.io/part-of",
                        "app.kubernetes.io/version", "pod-template-hash", "stage"})
                    + ",\"f:ownerReferences\":" + fields({}, keyed("uid", "@RSUID@", {})))
            + ",\"f:spec\":"
            + fields({"dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName",
                         "securityContext", "serviceAccount", "serviceAccountName",
                         "terminationGracePeriodSeconds", "tolerations", "volumes"},
                ",\"f:containers\":"
                    + fields({}, containerFields("web") + containerFields("proxy"))));
    return manager("kube-controller-manager", "@T0@", owned) + ','
        + manager("calico", "@T0@",
            fields({},
                ",\"f:metadata\":"
                    + fields({},
                        ",\"f:annotations\":"
                            + fields({"cni.projectcalico.org/containerID",
                                "cni.projectcalico.org/podIP", "cni.projectcalico.org/podIPs"}))))
        + ','
        + manager("kubelet", "@T1@",
            fields({},
                ",\"f:status\":"
                    + fields(
                        {"containerStatuses", "hostIP", "hostIPs", "phase", "podIP", "startTime"},
                        ",\"f:conditions\":" + fields({}, conditions)
                            + ",\"f:podIPs\":" + fields({}, keyed("ip", "@IP@", {"ip"})))));
}

// @NAME@ to its value, in one pass.
QByteArray filled(const QByteArray &text, const QList<std::pair<QByteArray, QByteArray>> &values)
{
    QByteArray made;
    made.reserve(text.size() + 1024);
    qsizetype done = 0;
    for (qsizetype at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at)) {
        const qsizetype end = text.indexOf('@', at + 1);
        const QByteArrayView name
            = QByteArrayView(text).sliced(at + 1, qMax(end - at - 1, qsizetype(0)));
        bool isKnown = false;
        for (const auto &[known, value] : values) {
            if (name != known)
                continue;
            made += QByteArrayView(text).sliced(done, at - done);
            made += value;
            done = end + 1;
            isKnown = true;
            break;
        }
        at = isKnown ? done : at + 1;
    }
    return made += QByteArrayView(text).sliced(done);
}

} // namespace

PodGenerator::PodGenerator(unsigned seed) : m_engine(seed) { }

QByteArray PodGenerator::hex(int digits)
{
    QByteArray made(digits, '0');
    for (char &digit : made)
        digit = "0123456789abcdef"[below(16)];
    return made;
}

QByteArray PodGenerator::uid()
{
    return hex(8) + '-' + hex(4) + "-4" + hex(3) + "-9" + hex(3) + '-' + hex(12);
}

QByteArray PodGenerator::suffix()
{
    QByteArray made(5, 'x');
    for (char &letter : made)
        letter = "bcdfghjklmnpqrstvwxz2456789"[below(27)];
    return made;
}

QByteArray PodGenerator::time(unsigned seconds) const
{
    return QDateTime::fromSecsSinceEpoch(1'772'000'000 + seconds)
        .toUTC()
        .toString(Qt::ISODate)
        .toLatin1();
}

void PodGenerator::newReplicaSet()
{
    static const QByteArray text = [] {
        const QByteArray web = filled(kContainer, {{"C", "web"}});
        const QByteArray proxy = filled(kContainer, {{"C", "proxy"}});
        QByteArray whole = QByteArray(kMetadata) + kSpec + kStatus;
        whole.replace('\n', "");
        return filled(whole,
            {{"MANAGED", managedFields()}, {"CONTAINER0", QByteArray(web).replace('\n', "")},
                {"CONTAINER1", QByteArray(proxy).replace('\n', "")}});
    }();
    const QByteArray app
        = "store-" + QByteArray::number(m_replicaSets % 300).rightJustified(3, '0');
    const QByteArray hash = hex(10);
    m_template = filled(text,
        {{"APP", app}, {"NS", "unit-" + QByteArray::number(m_replicaSets % 20)}, {"HASH", hash},
            {"RS", app + '-' + hash}, {"RSUID", uid()},
            {"VERSION", "v3.2." + QByteArray::number(m_replicaSets % 17)}, {"CHECKSUM", hex(64)},
            {"IMAGE0", hex(64)}, {"IMAGE1", hex(64)}});
    m_left = 6 + int(below(9));
    ++m_replicaSets;
}

QByteArray PodGenerator::next()
{
    if (m_left == 0)
        newReplicaSet();
    --m_left;
    const unsigned born = below(180 * 86400);
    const unsigned node = below(500);
    m_lastReadyTime = time(born + 2 + below(40));
    m_lastVersion = QByteArray::number(100000 + below(900000));
    m_last = filled(m_template,
        {{"SUF", suffix()}, {"UID", uid()}, {"RV", m_lastVersion}, {"T0", time(born)},
            {"T1", m_lastReadyTime},
            {"NODE", "node-" + QByteArray::number(node).rightJustified(4, '0')},
            {"HOSTIP",
                "10.1." + QByteArray::number(node / 250) + '.' + QByteArray::number(node % 250)},
            {"IP",
                "10." + QByteArray::number(2 + m_pods / 62500) + '.'
                    + QByteArray::number(m_pods / 250 % 250) + '.'
                    + QByteArray::number(m_pods % 250)},
            {"SANDBOX", hex(64)}, {"CID0", hex(64)}, {"CID1", hex(64)},
            {"RESTARTS", QByteArray::number(below(3))}});
    ++m_pods;
    return m_last;
}

QByteArray PodGenerator::update()
{
    const QByteArray version = QByteArray::number(m_lastVersion.toInt() + 1 + int(below(100)));
    const QByteArray ready = time(200 * 86400 + below(86400));
    m_last.replace("\"resourceVersion\":\"" + m_lastVersion, "\"resourceVersion\":\"" + version);
    const QByteArray condition
        = R"({"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":")";
    m_last.replace(condition + m_lastReadyTime, condition + ready);
    m_lastVersion = version;
    m_lastReadyTime = ready;
    return m_last;
}

void PodGenerator::list(
    int count, qsizetype pieceBytes, const std::function<void(const QByteArray &)> &feed)
{
    QByteArray piece
        = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2000000"},"items":[)";
    for (int i = 0; i < count; ++i) {
        piece += (i > 0 ? "," : "") + next();
        if (piece.size() >= pieceBytes) {
            feed(piece);
            piece.clear();
        }
    }
    feed(piece + "]}");
}

} // namespace bench
