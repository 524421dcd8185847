// A plugin's entry. Write a QObject that implements it, with Q_PLUGIN_METADATA(IID
// DAVIT_CONTROLLER_PLUGIN_IID FILE "…json") and Q_INTERFACES(davit::ControllerPlugin), and build it
// with davit_add_operator(). Plugin-provided, frozen. Contract:
//   - The host reads the metadata before it loads the file; of a file that it refuses for what is
//   in there it runs no code. It loads what is left in a process of its own first, which runs the
//   static constructors (sdk/docs/threading.md), and refuses what fails there.
//   - Everything but Reconciler::reconcile runs on the plugin's own thread, which has an event
//   loop.
// Source: sdk/metadata.schema.json for the metadata. Test: tst_pluginmanager.
#pragma once

#include <QtCore/qplugin.h>
#include <davit/hostcontext.h>

#define DAVIT_CONTROLLER_PLUGIN_IID "dev.davit.ControllerPlugin/1"

DAVIT_BEGIN_NAMESPACE
class DAVIT_EXPORT ControllerPlugin
{
public:
    virtual ~ControllerPlugin();
    // Called once, after every dependency is Running. Wire things up and return; a failed Status or
    // an exception makes the plugin Faulted. `host` outlives the plugin. [plugin-thread]
    virtual Status initialize(HostContext &host) = 0;
    // Called once before the plugin is destroyed, after its workers ended and its signals were cut.
    // [plugin-thread]
    virtual void shutdown();
    // Room for later interfaces ("name/2"); null when not provided. [plugin-thread]
    virtual void *extension(const char *name);
};
DAVIT_END_NAMESPACE
Q_DECLARE_INTERFACE(davit::ControllerPlugin, DAVIT_CONTROLLER_PLUGIN_IID)
