#include "controllerobserver.h"

namespace davit::controller {

ControllerObserver::~ControllerObserver() = default;

} // namespace davit::controller
