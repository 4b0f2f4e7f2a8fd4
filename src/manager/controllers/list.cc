#include "manager/controllers/list.h"

namespace mangrove::manager {

std::span<const ControllerInfo> allControllers() {
  static const std::vector<ControllerInfo> kAll = {
#define CONTROLLER(name) controllers::name(),
#include "manager/controllers/list.def"
#undef CONTROLLER
  };
  return kAll;
}

std::vector<std::string_view> controllerNames() {
  std::vector<std::string_view> out;
  for (const auto& one : allControllers()) out.push_back(one.name);
  return out;
}

}  // namespace mangrove::manager
