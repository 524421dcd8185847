#include <davit/controllerplugin.h>

DAVIT_BEGIN_NAMESPACE

ControllerPlugin::~ControllerPlugin() = default;

void ControllerPlugin::shutdown() { }

void *ControllerPlugin::extension(const char *)
{
    return nullptr;
}

DAVIT_END_NAMESPACE
