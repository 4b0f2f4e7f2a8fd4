#pragma once
// Who is shown each look of a running agent, on its owner's thread, with what stands beside it:
// dashboards.
//
//   role.onLook([&](const Look& look, const Beside& beside) { hub.look(look, …); });

#include <functional>
#include <memory>

#include "agent/look.h"

namespace mangrove::agent {

class Almanac;
class Enforcement;

struct Beside {
  const Enforcement* enforcement = nullptr;  // null while it only observes
  std::shared_ptr<const Almanac> almanac;
};
using LookHook = std::function<void(const Look&, const Beside&)>;

}  // namespace mangrove::agent
