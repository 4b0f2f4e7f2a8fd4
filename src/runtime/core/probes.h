#pragma once
// What a container's probes decide: how many answers in a row count, what a verdict changes, and
// what a run is taken for before anybody has asked. Values only; node/pods/prober.h asks.

#include <optional>
#include <string>

namespace mangrove::runtime {

enum class ProbeKind { kStartup, kReadiness, kLiveness };
const char* probeName(ProbeKind kind);  // "Startup", as in events

// A probe's memory: fed with answers, says when the verdict is due.
struct ProbeCount {
  int good = 0, bad = 0;
  // True when this answer makes it `threshold` in a row; afterwards every further one does.
  bool passed(int threshold);
  bool failed(int threshold);
};

// One answer; `verdict`: often enough in a row to count.
struct ProbeNews {
  ProbeKind kind = ProbeKind::kReadiness;
  bool good = false;
  bool verdict = false;
  std::string output = {};
};

// What it changes of a container that runs; what is absent stays.
struct ProbeEffect {
  std::optional<bool> started = {}, ready = {};
  bool restart = false;
  bool operator==(const ProbeEffect&) const = default;
};
ProbeEffect effectOf(const ProbeNews& news, bool hasReadinessProbe);

// Who has no probe is taken to be fine; who has one is not until it said so, unless an earlier
// runner heard it say so.
struct Standing {
  bool started = false, ready = false;
  bool operator==(const Standing&) const = default;
};
Standing standingOf(bool hasStartupProbe, bool hasReadinessProbe, Standing heardBefore = {});

}  // namespace mangrove::runtime
