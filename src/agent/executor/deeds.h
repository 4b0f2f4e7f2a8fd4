#pragma once
// What strategies want that is no value in a file: resctrl groups and their tasks, cookies of core
// scheduling, classes of the network. Done by the same rules as files: compared first, recorded,
// dry where asked, and undone when nobody wants it any more.
//
//   Deeds deeds(machine, clock, audit, {&cookies, &shaper});
//   deeds.apply(wanted, report);            // before the executor's files: groups bring files
//   deeds.undoAll("the agent leaves", report);
//
// Owner thread only.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agent/executor/executor.h"
#include "agent/executor/wish.h"

namespace mangrove::agent {

// Null: this machine has none.
struct DeedTools {
  CoreCookies* cookies = nullptr;
  NetShaper* network = nullptr;
};

struct OwnedDeeds {
  std::string_view owner;
  const Wishes* wishes = nullptr;
  bool dryRun = false;
};

class Deeds {
 public:
  // After a failure the network is left alone for so long.
  static constexpr Duration kRetry = std::chrono::seconds(30);

  Deeds(const Machine& machine, const Clock& clock, AuditLog& audit, DeedTools tools);

  void apply(std::span<const OwnedDeeds> wanted, ApplyReport& report);
  void undoAll(std::string_view why, ApplyReport& report);

  // For `explain`.
  json::Array explain() const;
  json::Value state() const;
  void load(const json::Value& state);

 private:
  struct Group {
    std::string owner, why;
    WallTime since{};
    size_t tasks = 0;
    bool made = false;  // by us; others' groups are not removed
  };
  struct Network {
    NetPlan plan;
    std::string owner, why, trouble;
    WallTime since{};
    MonoTime retryAt = MonoTime::min();
    bool inForce = false;
  };
  // A process we gave a cookie. Its number may be another's by now: the cookie tells.
  struct Given {
    std::string group;
    uint64_t cookie = 0;
  };
  void loadCookies(const json::Value& list);
  void applyGroup(const OwnedDeeds& by, const GroupWish& wish, ApplyReport& report);
  void attach(const OwnedDeeds& by, const GroupWish& wish, ApplyReport& report);
  void dropGroups(const std::set<std::string>& wanted, std::string_view why, ApplyReport& report);
  void applyCookies(std::span<const OwnedDeeds> wanted, ApplyReport& report);
  void applyNetwork(const OwnedDeeds* by, ApplyReport& report);
  void removeNetwork(std::string_view why, ApplyReport& report);
  void record(std::string_view owner, std::string_view why, std::string what, std::string file,
              std::string to, std::string outcome);

  const Machine& machine_;
  const Clock& clock_;
  AuditLog& audit_;
  DeedTools tools_;
  std::map<std::string, Group> groups_;  // by path
  std::map<int, Given> cookies_;         // by pid
  std::set<std::string> said_;           // dry runs and failures, once each
  std::optional<Network> network_;
};

}  // namespace mangrove::agent
