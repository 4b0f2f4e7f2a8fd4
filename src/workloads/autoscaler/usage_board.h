#pragma once
// What pods and their containers used in the last half minute, as their node's agent measures it
// every second. Between the agent's thread, which writes, and those who ask.
//
//   board.note(look.wall, {{"default", "web-1", {{"app", 0.3, 64 << 20}}}});
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
  };
  void note(WallTime at, std::vector<Seen> pods);
  std::optional<Measured> of(std::string_view ns, std::string_view pod) const;

 private:
  struct Sample {
    WallTime at{};
    std::vector<Container> containers;
  };
  using Samples = std::deque<Sample>;
  static void forget(Samples& samples, WallTime before);

  mutable std::mutex mutex_;
  std::map<std::string, Samples, std::less<>> pods_;  // by "namespace/name"
};

}  // namespace mangrove::workloads
