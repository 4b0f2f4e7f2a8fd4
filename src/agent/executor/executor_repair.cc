// What the executor does between two ticks: foreign writes are undone as soon as they are heard of.
#include <algorithm>
#include <array>

#include "agent/executor/executor.h"
#include "agent/executor/owners.h"

namespace mangrove::agent {
namespace {

constexpr std::array<std::string_view, 3> kReflexes = {owner::kFailSafe, owner::kPressure,
                                                       owner::kGiveBack};

bool reflexesWrite(const FileRule& rule) {
  return std::any_of(kReflexes.begin(), kReflexes.end(),
                     [&](std::string_view one) { return rankOf(rule, one).has_value(); });
}

}  // namespace

ApplyReport Executor::repair(std::span<const FileKey> written) {
  ApplyReport report;
  for (const FileKey& key : written) {
    const auto found = held_.find(key);
    // What was not in force is the tick's business: it waits for its turn.
    if (found == held_.end() || found->second.dryRun || !found->second.inForce) continue;
    ++report.files;
    repairOne(key, found->second, report);
  }
  totals_.written += report.written;
  totals_.failed += report.failed;
  totals_.conflicts += report.conflicts;
  return report;
}

void Executor::repairOne(const FileKey& key, HeldFile& held, ApplyReport& report) {
  Plan plan;
  plan.rule = ruleOf(key.resource);
  plan.key = key;
  const auto path = reader_.path(key.cgroup, key.resource);
  auto present = path ? reader_.read(*plan.rule, *path, key.entry) : std::nullopt;
  if (!present || !*present) return;
  plan.path = *path;
  plan.present = **std::move(present);
  plan.wanted = held.wanted;
  if (sameValue(*plan.rule, plan.present, plan.wanted, machine_.trees().version())) return;
  if (reflexesWrite(*plan.rule) && !isWider(*plan.rule, plan.present, plan.wanted)) return;
  ++report.conflicts;
  ++held.conflicts;
  strike(held);
  held.inForce = false;
  if (mustWait(held)) return void(++report.waiting);
  plan.owner = held.owner;
  plan.why = held.why + "; somebody else wrote it";
  plan.shares = held.shares;
  write(plan, plan.wanted, report);
}

}  // namespace mangrove::agent
