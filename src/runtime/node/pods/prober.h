#pragma once
// Asks a container's probes at their times and tells every answer, with whether it has lasted:
// passed `successThreshold` times, failed `failureThreshold` times in a row. Knows neither pods nor
// shims: the desk says what to ask and hears the answers. Owner thread.
//
//   Prober prober({parts.owner, parts.clock, specOf, ask, told});
//   prober.begin("web");      // a run of it began
//   prober.stop("web");       // from now on nothing is told of it

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "runtime/core/pod_model.h"
#include "runtime/core/probes.h"
#include "runtime/node/pods/action.h"

namespace mangrove::runtime {

struct ProbeDesk {
  Mailbox& owner;
  Clock& clock;
  // Null: there is no such container (any more).
  std::function<const ContainerSpec*(const std::string& container)> specOf;
  std::function<void(const std::string& container, const api::Action& action, Duration timeout,
                     UniqueFn<void(ActionResult)> done)>
      ask;
  std::function<void(const std::string& container, const ProbeNews& news)> told;
};

class Prober {
 public:
  explicit Prober(ProbeDesk desk) : desk_(std::move(desk)) {}

  // A run began: the start-up probe first, the others once it has passed.
  void begin(const std::string& container);
  void startupPassed(const std::string& container);
  void stop(const std::string& container);

 private:
  struct Watch {
    api::Probe probe;
    ProbeCount count;
    Timer timer;
  };
  void start(const std::string& container, ProbeKind kind, const api::Probe& probe);
  void schedule(const std::string& container, ProbeKind kind, Duration delay);
  void ask(const std::string& container, ProbeKind kind);
  void answered(const std::string& container, ProbeKind kind, ActionResult result);

  ProbeDesk desk_;
  // An answer to a watch that was stopped meanwhile finds another one here, or none: who asked
  // holds a weak pointer to his own and says nothing when that is gone.
  std::map<std::pair<std::string, ProbeKind>, std::shared_ptr<Watch>> watches_;
  Lifetime life_;
};

}  // namespace mangrove::runtime
