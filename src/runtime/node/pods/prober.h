#pragma once
// Asks a container's probes at their times and tells the worker when an answer has lasted: passed
// `successThreshold` times, failed `failureThreshold` times. Owner thread.

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "runtime/node/pods/pod_worker.h"

namespace mangrove::runtime {

// A probe's memory. Pure: fed with answers, says when the verdict is due.
struct ProbeCount {
  int good = 0, bad = 0;
  // True when this answer makes it `threshold` in a row; afterwards every further one does.
  bool passed(int threshold);
  bool failed(int threshold);
};

class Prober {
 public:
  explicit Prober(PodWorker& worker) : worker_(worker) {}

  // A run began: the start-up probe first, the others once it has passed.
  void begin(const std::string& container);
  void startupPassed(const std::string& container);
  void stop(const std::string& container);

 private:
  using Kind = PodWorker::ProbeKind;
  struct Watch {
    api::Probe probe;
    ProbeCount count;
    Timer timer;
  };
  void start(const std::string& container, Kind kind, const api::Probe& probe);
  void schedule(const std::string& container, Kind kind, Duration delay);
  void ask(const std::string& container, Kind kind);
  void answered(const std::string& container, Kind kind, const struct ActionResult& result);

  PodWorker& worker_;
  std::map<std::pair<std::string, Kind>, std::shared_ptr<Watch>> watches_;
};

}  // namespace mangrove::runtime
