#pragma once
// Small clusters in every state they can come to: up to three nodes of eight CPUs and four pods,
// with the product's scheduler, its manager's ledger, exclusive CPUs, a reservation and quotas. A
// state holds what the API server has; a step shows it to a scheduler that has just begun, lets one
// thing happen, and reads back what the objects say, so that every state is also one in which the
// scheduler was restarted. Nodes are alike, so states that differ in their order are one.
//
//   Explored all = explore({.nodes = 2, .pods = 3, .rules = {Rule::kCpus, Rule::kQuota}});
//   all.states, all.violation                       // "": everything that must hold, holds
//
// For tests; one thread.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace mangrove::sim {

enum class Rule : uint8_t { kLedger, kCpus, kReservation, kQuota };

// A rule that is broken on purpose; whoever checks must find it.
enum class Mutant : uint8_t {
  kNone,
  kSellsTwice,         // the manager does not see what services use
  kLedgerUnread,       // the scheduler takes the whole node to be for sale
  kCpusForgotten,      // who has which CPUs is not read back
  kReservationHidden,  // the scheduler is not told what is reserved
  kNoQuota,            // nobody asks quotas
};

struct SmallWorld {
  int nodes = 1;
  int pods = 2;
  std::set<Rule> rules = {};
  Mutant mutant = Mutant::kNone;
};

struct Explored {
  size_t states = 0, steps = 0;
  std::string violation;  // the first; "" when there is none
};
Explored explore(const SmallWorld& world);

}  // namespace mangrove::sim
