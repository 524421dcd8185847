// What an informer shall show: a kind, narrowed to namespaces, selectors or metadata, and how its
// events are delivered. The kind, and nothing wider than what is asked here, must stand in the
// plugin's metadata ("Resources"). Test: tst_informer.
#pragma once

#include <QtCore/qshareddata.h>
#include <QtCore/qstringlist.h>
#include <chrono>
#include <davit/gvk.h>

DAVIT_BEGIN_NAMESPACE
enum class Delivery : quint8 {
    Unset = 0, // EveryEvent for handlers, Latest for controllers
    EveryEvent, // each change, in order; memory grows while your slots are slower than the cluster
                // (I-15)
    Latest // at most one pending change a key; states in between may be skipped, the last never
};

enum class Payload : quint8 {
    Unset = 0, // as the plugin's metadata says
    Full,
    Metadata // apiVersion, kind and metadata only
};

class InformerRequestPrivate;
// What an informer or lister shall show; a value. Setters: [any one thread], getters:
// [thread-safe].
class DAVIT_EXPORT InformerRequest
{
public:
    // Every object of the kind, or what the plugin's metadata narrows it to. Implicit, so that a
    // Gvk will do.
    InformerRequest(const Gvk &gvk);
    InformerRequest(const InformerRequest &other);
    InformerRequest &operator=(const InformerRequest &other);
    ~InformerRequest();

    // Setters return the request, to be chained. Texts are checked when the informer is asked for.
    InformerRequest &inNamespaces(const QStringList &namespaces); // empty: all
    InformerRequest &withLabels(const QString &labelSelector);
    InformerRequest &withFields(const QString &fieldSelector);
    // A part of the objects, by the hash of uid or namespace (ShardSelector in davit/selector.h),
    // for processes that share the work. A server that cannot tell shards apart (alpha in
    // Kubernetes 1.37, off unless its gate ShardedListAndWatch is on) sends all; the rest is then
    // left out here, and a line of the log says so.
    InformerRequest &withShard(const QString &shardSelector);
    InformerRequest &payload(Payload payload);
    InformerRequest &delivery(Delivery delivery);
    // How often `updated` comes for what did not change, too. 0: never; negative: the host's
    // default, which holds unless it is set. Less than a second is a second. All views of a watch
    // share its timer: one that runs already is not made faster, and one that has none does not
    // get one; the log says so (I-5).
    InformerRequest &resyncPeriod(std::chrono::nanoseconds period);

    Gvk gvk() const;
    QStringList namespaces() const;
    QString labelSelector() const;
    QString fieldSelector() const;
    QString shardSelector() const;
    Payload payload() const;
    Delivery delivery() const;
    std::chrono::nanoseconds resyncPeriod() const; // negative: the host's default

private:
    QSharedDataPointer<InformerRequestPrivate> d;
};
DAVIT_END_NAMESPACE
