#pragma once
// What is done for a service that suffers, a step at a time, mildest first, and taken back in the
// reverse order once it is calm. Steps against offline work as a whole (L1 to L4, and the weights of
// disks, network and memory) need an anomaly; steps against one pod (L5 to L8) need the proof that
// it is this one, however severe the anomaly is.
//
//   Ladder ladder(Resource::kCache, limits);
//   Move move = ladder.step({.anomalous = true, .metric = 2.6, .fence = 1.8});
//   switch (move.kind) { case Move::Kind::kDown: want(move.rung, move.amount); … }
//
// A rung that changed nothing is taken back when the next one is entered; the account says so. Pure
// values; one owner.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "agent/interference/signals.h"
#include "base/number/units.h"
#include "json/fwd.h"

namespace mangrove::agent::interference {

enum class Rung : uint8_t {
  kIdleClass,   // L1: offline work in the kernel's idle class
  kSiblings,    // L2: offline work off the siblings of the victim's cores
  kCacheWays,   // L3: cache ways of offline work; amount: ways
  kBandwidth,   // L4: memory bandwidth of offline work; amount: percent
  kIoWeight,    // disks' weight of offline work
  kNetClass,    // network class of offline work
  kMemoryHigh,  // memory.high of offline work; amount: share of what it uses
  kQuota,       // L5: CPU time of the antagonist; amount: cores
  kHardCap,     // L6: next to nothing for five minutes; amount: cores
  kLeave,       // L7: no new offline work here, and the antagonist leaves
  kMoveVictim,  // L8: the victim moves, where it has other replicas
};
std::string_view rungName(Rung rung);                  // "L3 cache ways"
std::optional<Rung> rungNamed(std::string_view name);  // "L1" … "L8", "io-weight", …
bool isAgainstOnePod(Rung rung);

// The rungs for a shortage, in their order.
std::vector<Rung> rungsFor(Resource resource);

struct LadderLimits {
  int ways = 0;                // of the whole cache; 0: no control of it here
  int offlineWays = 0;         // what offline work has now
  bool bandwidth = false;      // control of memory bandwidth here
  double antagonistCores = 0;  // what the antagonist may use now
  bool bestEffort = true;      // its class, for the hard cap
  bool victimMayMove = false;  // LS with other replicas, and none of them is moving
  bool mayLeave = true;        // evictions are possible here
  std::set<Rung> off = {};     // switched off by policy
  int calmPeriods = 3;
  double leastHelp = 0.1;  // of the excess: less is no help
};

struct LadderInput {
  bool anomalous = false;
  bool severe = false;
  double metric = 0, fence = 0;
  bool proven = false;  // the antagonist was found guilty
};

struct Move {
  enum class Kind : uint8_t {
    kStay,
    kDown,       // `rung` gets `amount`
    kUp,         // `rung` gets `amount` back; `released`: it is off entirely
    kAskProof,   // the next rung needs it
    kExhausted,  // nothing is left to do
  } kind = Kind::kStay;
  Rung rung = Rung::kIdleClass;
  double amount = 0;
  bool released = false;
};

// What was tried and what came of it.
struct Account {
  Rung rung = Rung::kIdleClass;
  double before = 0, after = 0;  // the victim's signal when it was entered and when it was left
  bool helped = false;
  bool tried = true;  // false: still on it
};

class Ladder {
 public:
  Ladder() = default;
  Ladder(Resource resource, LadderLimits limits);

  // Once a control period.
  std::vector<Move> step(const LadderInput& input);
  // The limits as they are now: the antagonist may be another, or use something else.
  void setLimits(const LadderLimits& limits) { limits_ = limits; }

  // What is in force: rung and amount, in the order in which they were taken.
  struct Taken {
    Rung rung = Rung::kIdleClass;
    double amount = 0, full = 0;  // full: what it was before us
    double before = 0;            // the victim's signal then
  };
  const std::vector<Taken>& taken() const { return taken_; }
  const std::vector<Account>& account() const { return account_; }
  bool isIdle() const { return taken_.empty(); }
  // Everything against one pod, when it turns out to be innocent or is gone.
  std::vector<Move> dropAntagonist();

  json::Value state() const;
  void restore(const json::Value& state);

 private:
  bool has(Rung rung) const;
  double fullOf(Rung rung) const;
  std::optional<double> narrower(Rung rung, double amount) const;  // nullopt: at its limit
  double wider(Rung rung, double amount) const;
  std::optional<Rung> nextRung(bool proven) const;
  Move down(const LadderInput& input, std::vector<Move>& moves);
  Move up();
  void settle(const LadderInput& input, std::vector<Move>& moves);

  std::vector<Rung> rungs_;
  LadderLimits limits_;
  std::vector<Taken> taken_;
  std::set<Rung> left_;  // taken back because they did not help
  std::vector<Account> account_;
  int calm_ = 0;
};

// A service with a promise of its own: what offline work may have by how much of it is left.
struct LatencyRuling {
  enum class Kind : uint8_t { kFree, kNoGrowth, kShrink, kOff } kind = Kind::kFree;
  Duration lasts{};        // kOff: so long at least; zero: until the load is below 80 %
  int coresPerSocket = 0;  // kShrink
};
// `load`: share of its peak; `wasOff`: it is off because of the load.
LatencyRuling latencyRuling(double promised, double tail, double load, bool wasOff);
// Offline cores to take away when memory bandwidth is above nine tenths of its peak.
double coresToShed(double bandwidth, double peak, double perCore);

}  // namespace mangrove::agent::interference
