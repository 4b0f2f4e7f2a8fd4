#pragma once
// What probes and lifecycle hooks do: run a command in the container, ask it over HTTP, or see
// whether a port answers. Owner thread; `done` runs there once, at the latest after `timeout`.

#include <memory>
#include <string>

#include "api/pod/pod_run.h"
#include "base/fn.h"
#include "base/number/units.h"
#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

class PodWorker;

struct ActionResult {
  bool good = false;
  std::string output;  // what a user is shown when it is not
};

// The number behind a port's number or name; 0 when the container has none of that name. Pure.
uint16_t portNumber(const api::IntOrString& port, const api::Container& container);
// Whether an HTTP status counts as healthy: 200 to 399.
bool isHealthyStatus(int status);

void runAction(const std::shared_ptr<PodWorker>& worker, const std::string& container,
               const api::Action& action, Duration timeout, UniqueFn<void(ActionResult)> done);

}  // namespace mangrove::runtime
