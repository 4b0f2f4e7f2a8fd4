#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "cli/command.h"
#include "cli/config_verdict.h"
#include "cli/migrate_facts.h"
#include "json/value.h"
#include "placement/config/config.h"

namespace mangrove::cli {
namespace {

using Items = std::vector<MigrateItem>;

// Which of ours takes the place of a component, what it is called there, and what is better then.
struct Successor {
  std::string_view role, lease, better;
};
constexpr std::array kSuccessors = {
    Successor{"manager", "koordinator-manager",
              "a key of the configuration that is wrong keeps its last good value"},
    Successor{"scheduler", "koord-scheduler", "every node is scored, and explain says why"},
    Successor{"agent", "",
              "best-effort work is cut as soon as services wait, and a guardian holds a safe limit "
              "when the agent dies"}};

bool hasCommand(std::string_view words) {
  const auto all = allCommands();
  return std::any_of(all.begin(), all.end(),
                     [&](const Command& one) { return one.words == words; });
}

// "koordlet:v1.6.0" -> "1.6"; "" when the tag is no version.
std::string minorOf(const std::string& image) {
  const size_t colon = image.rfind(':');
  if (colon == image.npos || image.find('@') != image.npos) return "";
  const auto parts = split(std::string_view(image).substr(colon + 1), '.');
  if (parts.size() < 2) return "";
  std::string_view major = parts[0];
  if (major.starts_with('v')) major.remove_prefix(1);
  return fmt::format("{}.{}", major, parts[1]);
}

void compareComponent(const ComponentFact& one, Items& out) {
  if (one.role.empty() || !hasCommand(one.role)) {
    out.push_back({Verdict::kUnsupported, one.where, one.image,
                   "nothing of ours takes its place; leave it running"});
    return;
  }
  const auto* successor = std::find_if(kSuccessors.begin(), kSuccessors.end(),
                                       [&](const Successor& s) { return s.role == one.role; });
  if (successor != kSuccessors.end())
    out.push_back(
        {Verdict::kBetter, one.where, "mangrove " + one.role, std::string(successor->better)});
  const std::string minor = minorOf(one.image);
  const bool tried = minor == "1.6" || minor == "1.8";
  out.push_back({tried ? Verdict::kSame : Verdict::kDifferent, one.where, one.image,
                 tried ? "compared with this version"
                       : "not compared with this version, only with 1.6 and 1.8"});
  for (MigrateItem& item : compareFlags(one)) out.push_back(std::move(item));
}

void compareConfig(const MigrateFacts& facts, Items& out) {
  if (!facts.config) {
    out.push_back({Verdict::kSame, "configuration", facts.configName,
                   "there is none, and the defaults are the reference's"});
    return;
  }
  for (const auto& [key, text] : facts.config->data) {
    auto lint = manager::lintConfig(text, key, {.key = key});
    if (!lint) {
      out.push_back({Verdict::kDifferent, "configuration", key, lint.error().text()});
      continue;
    }
    for (const auto& line : lint->lines)
      out.push_back(
          {Verdict::kDifferent, "configuration", line.key.empty() ? key : line.key, line.message});
    if (lint->lines.empty())
      out.push_back({Verdict::kSame, "configuration", key, "read the same here"});
  }
}

void compareSchedulerConfig(const TextFact& one, Items& out) {
  const auto config = placement::readConfig(one.text, one.where);
  if (!config) {
    out.push_back(
        {Verdict::kUnsupported, "scheduler configuration", one.where, config.error().text()});
    return;
  }
  for (const auto& warning : config->warnings)
    out.push_back({Verdict::kDifferent, "scheduler configuration", one.where, warning});
  if (config->warnings.empty())
    out.push_back({Verdict::kSame, "scheduler configuration", one.where, "read as a whole"});
}

// Kinds whose users depend on a plugin of the scheduler, or on the descheduler.
struct Dependence {
  std::string_view kind, plugin;
};
constexpr std::array kDependences = {
    Dependence{"Reservation", "Reservation"}, Dependence{"PodGroup", "Coscheduling"},
    Dependence{"ElasticQuota", "ElasticQuota"}, Dependence{"Device", "DeviceShare"}};

void compareObjects(const MigrateFacts& facts, Items& out) {
  for (const auto& [kind, count] : facts.objects) {
    const std::string item = fmt::format("{} {}", count, kind);
    const auto* depends = std::find_if(kDependences.begin(), kDependences.end(),
                                       [&](const Dependence& d) { return d.kind == kind; });
    const bool served = depends != kDependences.end() ? hasPlugin(depends->plugin)
                        : kind == "PodMigrationJob"   ? hasCommand("descheduler")
                                                      : true;
    out.push_back({served ? Verdict::kSame : Verdict::kUnsupported, "objects", item,
                   served ? "acted on here too" : "nothing of ours acts on them yet"});
  }
}

void compareRest(const MigrateFacts& facts, Items& out) {
  for (const auto& [name, versions] : facts.crds)
    out.push_back({Verdict::kSame, "custom resources",
                   fmt::format("{} ({})", name, join(versions, ", ")),
                   "used as they are, never replaced"});
  for (const auto& one : facts.profiles) {
    auto parsed = json::parse(one.text);
    out.push_back({parsed ? Verdict::kSame : Verdict::kDifferent, "profiles", one.where,
                   parsed ? "applied in the order of their names, as there" : "cannot be read"});
  }
  for (const auto& name : facts.webhooks)
    out.push_back({Verdict::kDifferent, "admission", name,
                   "ours has a name of its own; take this one away when ours answers"});
  for (const auto& why : facts.unknowns)
    out.push_back({Verdict::kDifferent, "not looked at", why, "ask again with more rights"});
}

std::string summary(const Items& items) {
  std::map<Verdict, size_t> counts;
  for (const auto& item : items) counts[item.verdict]++;
  return fmt::format("{} items: {} same, {} better, {} different, {} not supported", items.size(),
                     counts[Verdict::kSame], counts[Verdict::kBetter], counts[Verdict::kDifferent],
                     counts[Verdict::kUnsupported]);
}

// What needs a person comes first.
bool weightier(const MigrateItem& a, const MigrateItem& b) {
  return a.verdict > b.verdict;
}

}  // namespace

std::string_view verdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return "same";
    case Verdict::kBetter:
      return "better";
    case Verdict::kDifferent:
      return "different";
    case Verdict::kUnsupported:
      return "not supported";
  }
  return "";
}

std::vector<MigrateItem> compareMigration(const MigrateFacts& facts) {
  Items out;
  for (const auto& one : facts.components) compareComponent(one, out);
  compareConfig(facts, out);
  for (const auto& one : facts.schedulerConfigs) compareSchedulerConfig(one, out);
  compareObjects(facts, out);
  for (const auto& [key, count] : facts.keys) out.push_back(compareKey(key, count));
  compareRest(facts, out);
  return out;
}

Told judgeMigration(const MigrateFacts& facts) {
  Items items = compareMigration(facts);
  std::stable_sort(items.begin(), items.end(), weightier);
  Told told;
  const bool blocked = !items.empty() && items.front().verdict == Verdict::kUnsupported;
  told.good = !blocked;
  told.answer =
      (facts.components.empty() ? "Koordinator does not run here; " : "") + summary(items);
  std::vector<std::vector<std::string>> rows = {{"verdict", "about", "item", "why"}};
  json::Array list;
  for (const auto& item : items) {
    rows.push_back({std::string(verdictName(item.verdict)), item.about, item.item, item.reason});
    list.push_back(json::Object{{"verdict", verdictName(item.verdict)},
                                {"about", item.about},
                                {"item", item.item},
                                {"reason", item.reason}});
  }
  told.terms = tableText(rows);
  told.data["items"] = std::move(list);
  if (blocked)
    told.todo.push_back(
        "keep the reference's component for what is not supported; the others can "
        "move (docs/migrate.md)");
  return told;
}

}  // namespace mangrove::cli
