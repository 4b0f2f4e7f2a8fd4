#include "manager/controller.h"

namespace mangrove::manager {

void Controller::reconcile(const std::string&, ControlLoop::Done done) {
  done({});
}

void Controller::each(const Visit&) const {}

}  // namespace mangrove::manager
