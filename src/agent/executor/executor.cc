#include "agent/executor/executor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "agent/executor/plain_file.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

const Logger log("executor");

constexpr std::string_view kIdle = kernel::resource_name::kCpuIdle;
constexpr std::string_view kShares = kernel::resource_name::kCpuShares;
constexpr std::string_view kBurst = kernel::resource_name::kCpuBurst;
constexpr std::string_view kQuota = kernel::resource_name::kCpuQuota;
constexpr std::string_view kScore = "oom_score_adj";

size_t depthOf(const std::string& cgroup) {
  return static_cast<size_t>(std::count(cgroup.begin(), cgroup.end(), '/'));
}

// Switches of the machine first, then parents before children; the files of one cgroup in the order
// of the rules.
bool above(const std::string& a, const FileRule* ra, const std::string& b, const FileRule* rb) {
  if (ra->place != rb->place) return ra->place == Place::kPath;
  const size_t da = depthOf(a), db = depthOf(b);
  return da != db ? da < db : a != b ? a < b : ra < rb;
}

bool isGone(const Error& error) {
  return error.code() == Code::kNotFound || error.code() == Code::kGone;
}

}  // namespace

Executor::Executor(const Machine& machine, const Clock& clock, AuditLog& audit)
    : machine_(machine), clock_(clock), audit_(audit), reader_(machine) {}

ApplyReport Executor::apply(std::span<const OwnedWish> wishes,
                            std::span<const std::string_view> undecided) {
  ApplyReport report;
  Targets targets = composeAll(wishes, report);
  leaveSharesOfIdle(targets);
  clampBursts(targets);
  std::vector<Plan> plans;
  for (auto& [key, target] : targets)
    if (auto plan = planFile(key, target, report)) plans.push_back(*std::move(plan));
  planReleases(targets, undecided, plans);
  run(plans, report);
  ++totals_.applies;
  totals_.written += report.written;
  totals_.failed += report.failed;
  totals_.refused += report.refused;
  totals_.conflicts += report.conflicts;
  return report;
}

Executor::Targets Executor::composeAll(std::span<const OwnedWish> wishes, ApplyReport& report) {
  std::map<FileKey, std::vector<OwnedWish>> byFile;
  for (const OwnedWish& one : wishes) {
    const FileRule* rule = ruleOf(one.wish->resource);
    if (rule && mayWant(*rule, one)) {
      byFile[{one.wish->cgroup, rule->resource, one.wish->entry}].push_back(one);
      continue;
    }
    ++report.refused;
    log.warn("{} may not write {}", one.owner, one.wish->resource);
  }
  report.files = byFile.size();
  Targets targets;
  for (const auto& [key, parts] : byFile)
    if (auto target = composeOne(*ruleOf(key.resource), parts)) targets[key] = *std::move(target);
  return targets;
}

// What a strategy in a dry run wants for a file changes nothing of what others want for it.
std::optional<Executor::Target> Executor::composeOne(const FileRule& rule,
                                                     const std::vector<OwnedWish>& parts) const {
  std::vector<OwnedWish> live;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(live),
               [](const OwnedWish& one) { return !one.dryRun; });
  auto composed = compose(rule, live.empty() ? parts : live);
  if (!composed) return std::nullopt;
  Target target;
  target.composed = *std::move(composed);
  target.dryRun = live.empty();
  for (const OwnedWish& one : live.empty() ? parts : live) {
    target.ours |= one.wish->ours;
    if (one.wish->before) target.before = one.wish->before;
  }
  if (!live.empty() && live.size() < parts.size()) target.wouldBe = compose(rule, parts);
  return target;
}

// Once per value.
void Executor::sayWouldBe(const Plan& plan, const std::optional<Composed>& wouldBe,
                          ApplyReport& report) {
  HeldFile& held = held_[plan.key];
  if (!wouldBe) return held.wouldBe.clear();
  ++report.dryRun;
  const std::string text = showValue(*plan.rule, wouldBe->value);
  if (std::exchange(held.wouldBe, text) == text) return;
  Plan said = plan;
  said.owner = wouldBe->owner;
  said.why = wouldBe->why;
  record(said, wouldBe->value, "dry-run");
}

// The kernel refuses shares while a group is idle.
void Executor::leaveSharesOfIdle(Targets& targets) const {
  for (auto& [key, target] : targets) {
    if (key.resource != kShares) continue;
    auto wanted = targets.find({key.cgroup, kIdle});
    const auto idle = wanted != targets.end() ? std::optional(wanted->second.composed.value)
                                              : present({key.cgroup, kIdle});
    target.leave = idle && idle->number == 1;
  }
}

// Mainline kernels refuse a burst above the quota.
void Executor::clampBursts(Targets& targets) const {
  if (machine_.can().isAnolis()) return;
  for (auto& [key, target] : targets) {
    if (key.resource != kBurst) continue;
    auto wanted = targets.find({key.cgroup, kQuota});
    const auto quota = wanted != targets.end() ? std::optional(wanted->second.composed.value)
                                               : present({key.cgroup, kQuota});
    int64_t& burst = target.composed.value.number;
    if (quota && quota->number != kUnlimited) burst = std::min(burst, quota->number);
  }
}

std::optional<Executor::Plan> Executor::planFile(const FileKey& key, Target target,
                                                 ApplyReport& report) {
  if (target.leave) return std::nullopt;
  Plan plan;
  plan.rule = ruleOf(key.resource);
  plan.key = key;
  const auto path = reader_.path(key.cgroup, key.resource);
  auto present = path ? reader_.read(*plan.rule, *path, key.entry) : std::nullopt;
  if (!present || !*present) {
    heldVersion_ += held_.erase(key);
    return ++report.missing, std::nullopt;
  }
  auto checked = checkedValue(*plan.rule, std::move(target.composed.value));
  if (!checked) {
    held_[key].trouble = checked.error().text();
    return ++report.refused, std::nullopt;
  }
  plan.path = *path;
  plan.present = **std::move(present);
  plan.wanted = *std::move(checked);
  plan.owner = std::move(target.composed.owner);
  plan.why = std::move(target.composed.why);
  plan.dryRun = target.dryRun;
  plan.ours = target.ours;
  plan.before = std::move(target.before);
  note(plan, report);
  sayWouldBe(plan, target.wouldBe, report);
  plan.shares = held_[key].shares;
  return plan;
}

// Compares with what we know of the file and decides whether it is its turn.
void Executor::note(Plan& plan, ApplyReport& report) {
  HeldFile& held = held_[plan.key];
  const auto version = machine_.trees().version();
  const bool isSame = sameValue(*plan.rule, plan.present, plan.wanted, version);
  const bool wasWanted = held.before && sameValue(*plan.rule, held.wanted, plan.wanted, version);
  if (!held.before) ++heldVersion_;
  if (!held.before)
    held.before = plan.before                       ? plan.before
                  : plan.ours && plan.rule->neutral ? FileValue::of(*plan.rule->neutral)
                                                    : plan.present;
  if (plan.key.resource == kIdle && plan.present.number == 0 && plan.wanted.number == 1)
    held.shares = present({plan.key.cgroup, kShares});
  if (!wasWanted) held.since = clock_.wall(), held.strikes = 0, held.trouble.clear();
  if (wasWanted && held.inForce && !isSame && !plan.dryRun) {
    ++report.conflicts;
    ++held.conflicts;
    strike(held);
  }
  // After the comparison above: it needs what was wanted before.
  held.wanted = plan.wanted;
  held.owner = plan.owner;
  held.why = plan.why;
  held.dryRun = plan.dryRun;
  held.inForce = isSame;
  if (isSame) held.trouble.clear();
  plan.settled = isSame;
  if (isSame) ++report.equal;
  if (!isSame && mustWait(held)) plan.settled = true, ++report.waiting;
}

namespace {

// After so many strikes in a row.
Duration waitAfter(int strikes) {
  if (strikes <= Executor::kPatience) return {};
  const int doublings = std::min(strikes - Executor::kPatience, 6);
  return std::min<Duration>(std::chrono::seconds(1 << doublings), Executor::kLongestWait);
}

}  // namespace

// Strikes that are far apart are no fight.
void Executor::strike(HeldFile& held) {
  const MonoTime now = clock_.mono();
  const Duration apart = std::max<Duration>(kApart, 2 * waitAfter(held.strikes));
  const bool isNew = held.lastStrike == MonoTime::min() || now - held.lastStrike > apart;
  held.strikes = isNew ? 1 : held.strikes + 1;
  held.lastStrike = now;
}

bool Executor::mustWait(const HeldFile& held) const {
  if (held.strikes <= kPatience) return false;
  return clock_.mono() - held.lastStrike < waitAfter(held.strikes);
}

std::optional<Executor::Plan> Executor::planRelease(const FileKey& key, const HeldFile& held,
                                                    std::string_view why) {
  const FileRule* rule = ruleOf(key.resource);
  const auto path = reader_.path(key.cgroup, key.resource);
  auto present =
      path && !held.dryRun && held.before ? reader_.read(*rule, *path, key.entry) : std::nullopt;
  if (!present || !*present || **present == *held.before) return std::nullopt;
  // A process number may belong to somebody else by now.
  if (key.resource == kScore && **present != held.wanted) return std::nullopt;
  Plan plan;
  plan.rule = rule;
  plan.key = key;
  plan.path = *path;
  plan.present = **std::move(present);
  plan.wanted = *held.before;
  // v2: "as the parent", which the kernel refuses while processes are inside. All CPUs mean the
  // same.
  if (rule->kind == ValueKind::kCpus && plan.wanted.cpus.empty())
    plan.wanted = FileValue::of(machine_.cpus().online);
  plan.owner = held.owner;
  plan.why = why;
  plan.shares = held.shares;
  plan.release = true;
  return plan;
}

// Files that were wanted and are not any more: back to what they had.
void Executor::planReleases(const Targets& targets, std::span<const std::string_view> undecided,
                            std::vector<Plan>& plans) {
  const auto isUndecided = [&](const std::string& owners) {
    for (std::string_view one : split(owners, ','))
      if (std::find(undecided.begin(), undecided.end(), one) != undecided.end()) return true;
    return false;
  };
  for (auto it = held_.begin(); it != held_.end();) {
    if (targets.count(it->first) != 0 || isUndecided(it->second.owner)) {
      ++it;
      continue;
    }
    if (auto plan = planRelease(it->first, it->second, "no longer wanted"))
      plans.push_back(*std::move(plan));
    it = held_.erase(it);
    ++heldVersion_;
  }
}

void Executor::run(std::vector<Plan>& plans, ApplyReport& report) {
  // Down the tree what widens, then up the tree what is left: at no moment a child above its parent.
  std::stable_sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) {
    return above(a.key.cgroup, a.rule, b.key.cgroup, b.rule);
  });
  for (Plan& plan : plans) {
    if (plan.settled) continue;
    if (!plan.rule->nested)
      write(plan, plan.wanted, report);
    else if (isWider(*plan.rule, plan.wanted, plan.present))
      write(plan, widest(*plan.rule, plan.wanted, plan.present), report);
  }
  for (auto it = plans.rbegin(); it != plans.rend(); ++it)
    if (!it->settled) write(*it, it->wanted, report);
}

void Executor::write(Plan& plan, const FileValue& value, ApplyReport& report) {
  const auto version = machine_.trees().version();
  const bool isFinal = sameValue(*plan.rule, value, plan.wanted, version);
  plan.settled = isFinal;
  if (plan.dryRun) {
    plan.settled = true;
    ++report.dryRun;
    // Said once per value, not at every tick.
    if (held_[plan.key].trouble != "dry-run") record(plan, plan.wanted, "dry-run");
    held_[plan.key].trouble = "dry-run";
    return;
  }
  std::string text = formatEntry(*plan.rule, plan.key.entry, value, version);
  const bool plain = plan.rule->resource == kPlainFile;
  if (text.empty() && !plain) text = "\n";  // writing nothing at all would change nothing
  const MonoTime begun = clock_.mono();
  auto ok = plain ? writePlainFile(machine_.root(), plan.path, text)
                  : machine_.root().write(plan.path, text);
  if (onWrite_) onWrite_({plan.key, plan.owner, ok.has_value(), clock_.mono() - begun});
  if (ok) {
    if (isFinal) ++report.written;
    record(plan, value, "written");
    plan.present = value;
    if (isFinal) verify(plan);
    if (plan.key.resource == kIdle && value.number == 0) giveSharesBack(plan);
    return;
  }
  plan.settled = true;
  if (isGone(ok.error())) return void(++report.missing);
  ++report.failed;
  if (plan.release) return record(plan, value, ok.error().text());
  HeldFile& held = held_[plan.key];
  if (held.trouble != ok.error().text()) record(plan, value, ok.error().text());
  held.trouble = ok.error().text();
  strike(held);
}

// Before those who want other shares have their turn.
void Executor::giveSharesBack(const Plan& idle) {
  const auto path = reader_.path(idle.key.cgroup, kShares);
  if (!idle.shares || !path) return;
  Plan plan;
  plan.rule = ruleOf(kShares);
  plan.key = {idle.key.cgroup, kShares};
  plan.owner = idle.owner;
  plan.why = "shares it had before the idle class";
  if (const auto now = present({idle.key.cgroup, kShares})) plan.present = *now;
  if (plan.present == *idle.shares) return;
  const std::string text = formatValue(*plan.rule, *idle.shares, machine_.trees().version());
  auto ok = machine_.root().write(*path, text);
  record(plan, *idle.shares, ok ? "written" : ok.error().text());
}

// The kernel may have kept something else than we wrote.
void Executor::verify(const Plan& plan) {
  auto found = held_.find(plan.key);
  if (plan.release || found == held_.end()) return;
  auto now = reader_.read(*plan.rule, plan.path, plan.key.entry);
  if (!now || !*now) return;
  HeldFile& held = found->second;
  held.inForce = sameValue(*plan.rule, **now, plan.wanted, machine_.trees().version());
  held.trouble =
      held.inForce ? ""
                   : fmt::format("wrote {}, the kernel has {}", showValue(*plan.rule, plan.wanted),
                                 showValue(*plan.rule, **now));
  if (!held.inForce) strike(held);
}

void Executor::record(const Plan& plan, const FileValue& to, std::string outcome) {
  audit_.add({.at = clock_.wall(),
              .owner = plan.owner,
              .why = plan.why,
              .cgroup = plan.key.cgroup,
              .file = plan.key.entry.empty()
                          ? std::string(plan.key.resource)
                          : fmt::format("{}[{}]", plan.key.resource, plan.key.entry),
              .from = showValue(*plan.rule, plan.present),
              .to = showValue(*plan.rule, to),
              .outcome = std::move(outcome)});
}

void Executor::adopt(const FileKey& key, FileValue wanted, FileValue before,
                     std::string_view owner) {
  HeldFile& held = held_[key];
  if (held.before) return;  // known already, with what was there first
  ++heldVersion_;
  held.wanted = std::move(wanted);
  held.before = std::move(before);
  held.owner = owner;
  held.why = "narrowed between two ticks";
  held.since = clock_.wall();
}

ApplyReport Executor::restoreAll(std::string_view why) {
  ApplyReport report;
  std::vector<Plan> plans;
  for (const auto& [key, held] : held_)
    if (auto plan = planRelease(key, held, why)) plans.push_back(*std::move(plan));
  report.files = held_.size();
  ++heldVersion_;
  held_.clear();  // before writing: a release that fails is not ours to repair any more
  run(plans, report);
  totals_.restored += report.written;
  return report;
}

}  // namespace mangrove::agent
