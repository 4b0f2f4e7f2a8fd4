#include "agent/executor/deeds.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/os/log.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "kernel/make_dir.h"
#include "kernel/mount_resctrl.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

std::string describe(const NetPlan& plan) {
  std::string out;
  for (const NetClass& one : plan.classes)
    out += fmt::format("{}1:{} {}-{} B/s", out.empty() ? "" : ", ", one.minor, one.rate, one.ceil);
  return fmt::format("{}; {} addresses", out, plan.members.size());
}

std::set<int> tasksOf(const kernel::SysRoot& root, const std::string& path) {
  std::set<int> out;
  auto text = kernel::readText(root, path);
  if (!text || !*text) return out;
  for (std::string_view line : split(**text, '\n'))
    if (const auto id = parseInt<int>(trim(line))) out.insert(*id);
  return out;
}

}  // namespace

Deeds::Deeds(const Machine& machine, const Clock& clock, AuditLog& audit, DeedTools tools)
    : machine_(machine), clock_(clock), audit_(audit), tools_(tools) {}

void Deeds::record(std::string_view owner, std::string_view why, std::string what, std::string file,
                   std::string to, std::string outcome) {
  audit_.add({.at = clock_.wall(),
              .owner = std::string(owner),
              .why = std::string(why),
              .cgroup = std::move(what),
              .file = std::move(file),
              .from = "",
              .to = std::move(to),
              .outcome = std::move(outcome)});
}

void Deeds::apply(std::span<const OwnedDeeds> wanted, ApplyReport& report) {
  std::set<std::string> groups;
  const OwnedDeeds* network = nullptr;
  for (const OwnedDeeds& one : wanted) {
    for (const GroupWish& wish : one.wishes->groups) {
      if (!groups.insert(wish.path).second) continue;
      applyGroup(one, wish, report);
    }
    if (one.wishes->network && network == nullptr) network = &one;
  }
  dropGroups(groups, "no longer wanted", report);
  applyCookies(wanted, report);
  applyNetwork(network, report);
}

// ---- resctrl ---------------------------------------------------------------------------------

void Deeds::applyGroup(const OwnedDeeds& by, const GroupWish& wish, ApplyReport& report) {
  if (by.dryRun) {
    ++report.dryRun;
    if (said_.insert(wish.path).second)
      record(by.owner, wish.why, wish.path, "group", "made", "dry-run");
    return;
  }
  const bool isWhole = wish.path == machine_.mounts().resctrl;
  if (isWhole && groups_.count(wish.path) != 0) return;
  auto made = isWhole ? kernel::mountResctrl(machine_.root(), wish.path)
                      : kernel::makeDir(machine_.root(), wish.path);
  if (!made) {
    ++report.failed;
    if (said_.insert(made.error().text()).second)
      record(by.owner, wish.why, wish.path, "group", "made", made.error().text());
    return;
  }
  Group& group = groups_[wish.path];
  group.made |= *made;
  if (*made) {
    ++report.written;
    record(by.owner, wish.why, wish.path, "group", "made", "written");
  }
  if (group.owner.empty()) group.since = clock_.wall();
  group.owner = by.owner;
  group.why = wish.why;
  group.tasks = wish.tasks.size();
  attach(by, wish, report);
}

// One id per write, as resctrl wants it. A thread that ended meanwhile is no trouble.
void Deeds::attach(const OwnedDeeds& by, const GroupWish& wish, ApplyReport& report) {
  if (wish.tasks.empty()) return;
  const std::string path = wish.path + "/tasks";
  const std::set<int> present = tasksOf(machine_.root(), path);
  size_t added = 0;
  for (int task : wish.tasks)
    if (present.count(task) == 0 && machine_.root().write(path, std::to_string(task))) ++added;
  if (added == 0) return;
  ++report.written;
  record(by.owner, wish.why, wish.path, "tasks", fmt::format("+{}", added), "written");
}

// Removing a group sends its tasks back to everybody's. Monitoring groups are inside of others and
// go first.
void Deeds::dropGroups(const std::set<std::string>& wanted, std::string_view why,
                       ApplyReport& report) {
  std::vector<std::string> unwanted;
  for (const auto& [path, group] : groups_)
    if (wanted.count(path) == 0) unwanted.push_back(path);
  std::reverse(unwanted.begin(), unwanted.end());
  for (const std::string& path : unwanted) {
    const Group group = groups_[path];
    groups_.erase(path);
    if (!group.made) continue;
    // Mounted it stays: groups of pods and of others may be in it by now.
    if (path == machine_.mounts().resctrl) continue;
    auto gone = kernel::removeDir(machine_.root(), path);
    ++(gone ? report.written : report.failed);
    record(group.owner, why, path, "group", "removed", gone ? "written" : gone.error().text());
  }
}

// ---- core scheduling -------------------------------------------------------------------------

void Deeds::applyCookies(std::span<const OwnedDeeds> wanted, ApplyReport& report) {
  if (tools_.cookies == nullptr) return;
  std::vector<CookieWish> wishes;
  std::map<int, std::string> next;
  const OwnedDeeds* by = nullptr;
  for (const OwnedDeeds& one : wanted)
    for (const CookieWish& wish : one.wishes->cookies) {
      if (!next.emplace(wish.pid, wish.group).second) continue;
      wishes.push_back(wish);
      by = &one;
    }
  if (by != nullptr && by->dryRun) return void(++report.dryRun);
  // Whom we gave a cookie and nobody names any more.
  for (const auto& [pid, group] : cookies_)
    if (next.count(pid) == 0) wishes.push_back({pid, ""});
  std::map<int, uint64_t> present;
  for (const CookieWish& one : wishes)
    if (auto cookie = tools_.cookies->get(one.pid)) present[one.pid] = *cookie;
  for (const auto& [pid, given] : cookies_)
    if (next.count(pid) == 0 && present[pid] != given.cookie) present.erase(pid);
  for (const CookieStep& step : cookieSteps(wishes, present)) {
    auto ok = tools_.cookies->run(step);
    ++(ok ? report.written : report.failed);
    const auto group = next.find(step.pid);
    record(by ? by->owner : "core-sched", "core scheduling", fmt::format("process {}", step.pid),
           "cookie", group == next.end() || group->second.empty() ? "none" : group->second,
           ok ? "written" : ok.error().text());
    if (auto cookie = tools_.cookies->get(step.pid)) present[step.pid] = *cookie;
  }
  cookies_.clear();
  for (auto& [pid, group] : next)
    if (!group.empty() && present.count(pid) != 0) cookies_[pid] = {std::move(group), present[pid]};
}

// ---- network ---------------------------------------------------------------------------------

void Deeds::applyNetwork(const OwnedDeeds* by, ApplyReport& report) {
  if (tools_.network == nullptr) return;
  if (by == nullptr) return removeNetwork("no longer wanted", report);
  const NetPlan& plan = *by->wishes->network;
  if (by->dryRun) {
    ++report.dryRun;
    if (said_.insert(describe(plan)).second)
      record(by->owner, by->wishes->note, plan.device, "tc", describe(plan), "dry-run");
    return;
  }
  const MonoTime now = clock_.mono();
  if (network_ && network_->plan == plan) {
    if (now < network_->retryAt) return;
    const auto there = tools_.network->isThere(plan.device);
    network_->retryAt = now + kRetry;
    if (network_->inForce && there && *there) return;
  }
  if (network_ && network_->plan.device != plan.device) removeNetwork("another device", report);
  const auto ok = tools_.network->apply(plan);
  const std::string trouble = ok ? "" : ok.error().text();
  ++(ok ? report.written : report.failed);
  if (ok || !network_ || network_->trouble != trouble)
    record(by->owner, by->wishes->note, plan.device, "tc", describe(plan),
           ok ? "written" : trouble);
  network_ = Network{plan,          std::string(by->owner), by->wishes->note, trouble,
                     clock_.wall(), now + kRetry,           ok.has_value()};
}

void Deeds::removeNetwork(std::string_view why, ApplyReport& report) {
  if (!network_) return;
  if (network_->inForce) {
    auto ok = tools_.network->remove(network_->plan.device);
    ++(ok ? report.written : report.failed);
    record(network_->owner, why, network_->plan.device, "tc", "removed",
           ok ? "written" : ok.error().text());
  }
  network_.reset();
}

// ---- the rest --------------------------------------------------------------------------------

void Deeds::undoAll(std::string_view why, ApplyReport& report) {
  dropGroups({}, why, report);
  applyCookies({}, report);
  if (tools_.network != nullptr) removeNetwork(why, report);
}

json::Array Deeds::explain() const {
  json::Array out;
  for (const auto& [path, group] : groups_)
    out.push_back(json::Object{{"what", "resctrl group"},
                               {"where", path},
                               {"value", fmt::format("{} tasks", group.tasks)},
                               {"owner", group.owner},
                               {"why", group.why},
                               {"since", formatMicroTime(group.since)}});
  if (!cookies_.empty())
    out.push_back(json::Object{{"what", "core scheduling"},
                               {"where", "processes"},
                               {"value", fmt::format("{} with a cookie", cookies_.size())},
                               {"owner", "core-sched"},
                               {"why", "services and batch work never share a core"}});
  if (network_)
    out.push_back(json::Object{{"what", "network classes"},
                               {"where", network_->plan.device},
                               {"value", describe(network_->plan)},
                               {"owner", network_->owner},
                               {"why", network_->why},
                               {"since", formatMicroTime(network_->since)},
                               {"trouble", network_->trouble}});
  return out;
}

json::Value Deeds::state() const {
  json::Array groups;
  for (const auto& [path, group] : groups_)
    if (group.made) groups.push_back(json::Object{{"path", path}, {"owner", group.owner}});
  json::Array cookies;
  for (const auto& [pid, given] : cookies_)
    cookies.push_back(json::Object{{"pid", pid}, {"cookie", std::to_string(given.cookie)}});
  json::Value device;
  if (network_ && network_->inForce) device = network_->plan.device;
  return json::Object{{"groups", std::move(groups)},
                      {"cookies", std::move(cookies)},
                      {"device", std::move(device)}};
}

void Deeds::loadCookies(const json::Value& list) {
  if (!list.is_array()) return;
  for (const json::Value& one : list.get_array()) {
    const json::Object* given = one.if_object();
    const json::Value* pid = given ? given->if_contains("pid") : nullptr;
    const json::Value* cookie = given ? given->if_contains("cookie") : nullptr;
    if (!pid || !pid->is_int64() || !cookie || !cookie->is_string()) continue;
    if (const auto value = parseInt<uint64_t>(std::string_view(cookie->get_string())))
      cookies_[static_cast<int>(pid->get_int64())].cookie = *value;
  }
}

void Deeds::load(const json::Value& state) {
  const json::Object* top = state.if_object();
  if (top == nullptr) return;
  const json::Value* groups = top->if_contains("groups");
  if (groups && groups->is_array())
    for (const json::Value& one : groups->get_array()) {
      const json::Object* group = one.if_object();
      const json::Value* path = group ? group->if_contains("path") : nullptr;
      if (path && path->is_string()) groups_[std::string(path->get_string())].made = true;
    }
  if (const json::Value* cookies = top->if_contains("cookies")) loadCookies(*cookies);
  const json::Value* device = top->if_contains("device");
  if (device == nullptr || !device->is_string()) return;
  network_.emplace();
  network_->plan.device = std::string(device->get_string());
  network_->inForce = true;
}

}  // namespace mangrove::agent
