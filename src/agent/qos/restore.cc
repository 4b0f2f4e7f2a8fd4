// Giving back what a dead agent held.
#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/executor/reflex_acts.h"
#include "agent/memory/strategy.h"
#include "agent/qos/enforcer.h"
#include "agent/qos/network/shaper.h"
#include "base/os/files.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

struct Neutral {
  std::string_view owner;
  Wish wish;
};

// What suppression may have left on the best-effort group when nobody knows what was there.
std::vector<Neutral> neutralWishes(const Machine& machine) {
  const std::string group = machine.layout().tierDir(kernel::PodTier::kBestEffort);
  const std::string why = "restored without a record of what was there";
  return {
      {owner::kCpuSuppress,
       {group, kernel::resource_name::kCpuQuota, Part::base(FileValue::of(kUnlimited)), why}},
      {owner::kCpuSuppress,
       {group, kernel::resource_name::kCpuset, Part::base(FileValue::of(machine.cpus().online)),
        why}},
      {owner::kGiveBack,
       {group, kernel::resource_name::kMemoryHigh, Part::base(FileValue::of(kUnlimited)), why}}};
}

bool loadState(const Machine& machine, const std::string& stateFile, Executor& executor,
               Deeds& deeds) {
  auto text = stateFile.empty() ? Result<std::string>("") : readFile(stateFile);
  auto state = text ? json::parse(*text) : Result<json::Value>(json::Value());
  if (!state || !state->is_object()) return false;
  const json::Value* boot = state->get_object().if_contains("boot");
  if (!boot || *boot != json::Value(machine.bootId())) return false;
  executor.load(*state);
  if (const json::Value* one = state->get_object().if_contains("deeds")) deeds.load(*one);
  return true;
}

// Who a dead agent froze goes on.
std::vector<std::string> thawLeftBehind(const Machine& machine, const std::string& stateFile) {
  auto text = stateFile.empty() ? Result<std::string>("") : readFile(stateFile);
  auto state = text ? json::parse(*text) : Result<json::Value>(json::Value());
  std::vector<std::string> lines;
  if (!state || !state->is_object()) return lines;
  const json::Value* all = state->get_object().if_contains("strategies");
  const json::Value* own =
      all && all->is_object() ? all->get_object().if_contains(owner::kGiveBack) : nullptr;
  if (!own) return lines;
  for (const std::string& cgroup : frozenOf(*own)) {
    auto ok = ReflexActs(machine.root(), machine.trees(), owner::kGiveBack).freeze(cgroup, false);
    lines.push_back(fmt::format("{} thawed ({})", cgroup, ok ? "written" : ok.error().text()));
  }
  return lines;
}

}  // namespace

Result<std::vector<std::string>> restoreMachine(const Machine& machine, Clock& clock,
                                                const std::string& stateFile) {
  AuditLog audit;
  Executor executor(machine, clock, audit);
  NetlinkShaper shaper;
  KernelCookies cookies;
  Deeds deeds(machine, clock, audit, {&cookies, &shaper});
  ApplyReport report;
  std::vector<std::string> lines = thawLeftBehind(machine, stateFile);
  if (loadState(machine, stateFile, executor, deeds)) {
    report = executor.restoreAll("restored by hand");
    deeds.undoAll("restored by hand", report);
    // Nothing is held any more; a later start must not believe otherwise.
    if (auto ok = writeFileAtomically(stateFile, "{}"); !ok) return pass(ok.error());
  } else {
    const std::vector<Neutral> neutral = neutralWishes(machine);
    std::vector<OwnedWish> wishes;
    for (const Neutral& one : neutral) wishes.push_back({one.owner, &one.wish, false});
    report = executor.apply(wishes);
  }
  for (const AuditRecord& record : audit.last(0, AuditLog::kKept))
    lines.insert(lines.begin(), fmt::format("{} {}: {} -> {} ({})", record.cgroup, record.file,
                                            record.from, record.to, record.outcome));
  lines.push_back(fmt::format("{} written, {} failed", report.written, report.failed));
  return lines;
}

}  // namespace mangrove::agent
