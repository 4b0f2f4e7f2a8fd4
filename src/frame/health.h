#pragma once
// What /healthz and /readyz answer. Components register named probes; a probe says nothing when all
// is well, or why not. Any thread may register and ask; probes run in the asking thread and must be
// quick (look at a flag, not at the network).

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::frame {

class Health {
 public:
  using Probe = std::function<Result<>()>;
  // Alive: if this fails the process should be restarted.
  void live(std::string name, Probe probe);
  // Ready: alive, and able to do its work now (caches filled, server reached). Live probes count as
  // well.
  void ready(std::string name, Probe probe);

  struct Verdict {
    bool good = true;
    std::string text;  // one line per probe, as Kubernetes components print it
  };
  Verdict liveness() const;
  Verdict readiness() const;

 private:
  struct Named {
    std::string name;
    Probe probe;
  };
  Verdict ask(const std::vector<Named>& probes, std::string_view endpoint) const;

  mutable std::mutex mutex_;
  std::vector<Named> live_;
  std::vector<Named> ready_;
};

}  // namespace mangrove::frame
