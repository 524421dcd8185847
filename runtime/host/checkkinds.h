// The part of "davit check" that looks whether the cluster serves the kinds that plugins declare.
// Source: discovery of the Kubernetes API (/api/v1, /apis/GROUP/VERSION). Test: tst_check.
#pragma once

#include "check.h"

#include <pluginhost/pluginmetadata.h>

#include <QtCore/qhash.h>
#include <QtCore/qset.h>
#include <optional>

namespace davit::host {

class ServerCalls;

// Asks for each group and version once. [host-thread]
class KindsCheck
{
public:
    KindsCheck(ServerCalls &calls, const TellFinding &tell) : m_calls(calls), m_tell(tell) { }

    // One line for each declared kind that is not there: davit would wait for it. Nothing of
    // optional ones, and nothing where the server does not tell; where no whole answer came, or one
    // that is no list of resources, that is told, once, and no more is asked.
    void checkPlugin(const QString &topic, const pluginhost::PluginMetadata &metadata);
    // What the questions themselves ended with.
    QueryExit exit() const { return m_exit; }

private:
    std::optional<QSet<QString>> kindsOf(const QByteArray &path);
    bool isMissing(const Gvk &gvk);

    ServerCalls &m_calls;
    const TellFinding &m_tell;
    QHash<QByteArray, std::optional<QSet<QString>>> m_kinds; // by path; nothing: it did not tell
    QueryExit m_exit = QueryExit::Done;
};

} // namespace davit::host
