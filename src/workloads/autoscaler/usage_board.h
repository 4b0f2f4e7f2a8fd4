#pragma once
// What pods and their containers used in the last half minute, as their node's agent measures it
// every second. Between the agent's thread, which writes, and those who ask.
//
//   board.note(look.wall, {{"default", "web-1", {{"app", 0.3, 64 << 20}}, labels}});
//   board.of("default", "web-1")          mean cores, last memory, over at most half a minute
//
// Any thread.

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/select/labels.h"
#include "workloads/autoscaler/autoscaler.h"

namespace mangrove::workloads {

class UsageBoard {
 public:
  static constexpr auto kWindow = std::chrono::seconds(30);

  struct Container {
    std::string name;
    double cores = 0;
    int64_t bytes = 0;
  };
  struct Seen {
    std::string ns, pod;
    std::vector<Container> containers;
    api::Labels labels = {};
  };
  void note(WallTime at, std::vector<Seen> pods);
  void noteNode(WallTime at, std::string name, double cores, int64_t bytes);
  std::optional<Measured> of(std::string_view ns, std::string_view pod) const;

  // Everything that is known, in the order of names.
  struct Known {
    std::string ns, name;  // ns "": a node
    api::Labels labels;
    Measured measured;
    std::map<std::string, double> cpuSeconds = {};  // by container, since it was first seen
  };
  std::vector<Known> pods() const;
  std::vector<Known> nodes() const;

 private:
  struct Sample {
    WallTime at{};
    std::vector<Container> containers;
  };
  struct Subject {
    std::string ns, name;
    api::Labels labels;
    std::deque<Sample> samples;
    std::map<std::string, double> cpuSeconds;
  };
  using Subjects = std::map<std::string, Subject, std::less<>>;  // by "namespace/name"
  static void add(Subjects& subjects, WallTime at, Seen seen);
  static void forget(Subjects& subjects, WallTime before);
  static Measured meanOf(const Subject& subject);
  static std::vector<Known> all(const Subjects& subjects);

  mutable std::mutex mutex_;
  Subjects pods_, nodes_;
};

}  // namespace mangrove::workloads
