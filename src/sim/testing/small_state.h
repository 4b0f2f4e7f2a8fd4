#pragma once
// What a small world's API server has, and what must hold of it. Values; pure functions.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/testing/small_world.h"

namespace mangrove::sim {

inline constexpr int kSmallCpus = 8;  // of a node
inline constexpr int kReserved = 4;   // CPUs of the one reservation

enum class PodKind : uint8_t { kService, kBatch, kExclusive, kOwner, kQuotaA, kQuotaB };
struct KindInfo {
  int cpus;
  int most = 0;  // CPUs of its quota; 0: it has none
};
KindInfo infoOf(PodKind kind);
std::vector<PodKind> kindsUnder(const std::set<Rule>& rules);

struct SmallPod {
  PodKind kind{};
  std::string cpuset;       // that it has to itself
  bool isReserved = false;  // it took of the reservation
  auto operator<=>(const SmallPod&) const = default;
};
struct SmallNode {
  int sold = 0;          // CPUs for batch work, as the manager wrote it last
  bool hasRoom = false;  // the reservation is here
  std::vector<SmallPod> pods;
  auto operator<=>(const SmallNode&) const = default;

  int cpusOf(PodKind kind) const;
  int native() const;  // CPUs asked for natively, by whomever
};
struct SmallState {
  std::vector<SmallNode> nodes;
  std::vector<PodKind> waiting;
  auto operator<=>(const SmallState&) const = default;

  int pods() const;
  void order();  // the one way in which this state is written
  std::string text() const;
};

// What is wrong in `after`, to which `before` led; "" where nothing is.
std::string violationOf(const SmallState& before, const SmallState& after);

}  // namespace mangrove::sim
