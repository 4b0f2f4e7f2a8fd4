#pragma once
// All controllers, from list.def. Everything that must know them all asks here.
//
//   for (const ControllerInfo& one : allControllers()) …
//
// Any thread.

#include <span>
#include <string_view>
#include <vector>

#include "manager/controller.h"

namespace mangrove::manager {

namespace controllers {
#define CONTROLLER(name) ControllerInfo name();
#include "manager/controllers/list.def"
#undef CONTROLLER
}  // namespace controllers

std::span<const ControllerInfo> allControllers();
std::vector<std::string_view> controllerNames();

}  // namespace mangrove::manager
