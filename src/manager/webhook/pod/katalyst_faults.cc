// Katalyst's annotations: a value outside of its range refuses the pod; members that we do not know
// are left alone.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "api/annotations/annotation.h"
#include "base/text/strings.h"
#include "json/view.h"
#include "manager/webhook/pod/dialect.h"
#include "manager/webhook/pod/validate.h"

namespace mangrove::manager {
namespace {

constexpr std::string_view kReason = "katalyst-range";

// The levels and the priorities that OOM handling gives them: from, up to but not including.
struct Level {
  std::string_view name;
  int64_t from, to;
};
constexpr std::array kLevels = {
    Level{"reclaimed_cores", -100, 0},
    Level{"shared_cores", 0, 100},
    Level{"dedicated_cores", 100, 200},
    Level{"system_cores", 200, 300},
};
constexpr int64_t kIgnoredByOom = -300, kSparedByOom = 300;

enum class Form { kBool, kRatio, kPercent, kWhole, kWholeList, kWord, kText };

struct Member {
  std::string_view annotation, name;
  Form form;
  std::string_view level = "";  // the only level that may say it
  std::span<const std::string_view> words = {};
};

constexpr std::array<std::string_view, 4> kBurst = {"default", "closed", "static", "dynamic"};
constexpr std::array<std::string_view, 4> kNamespaces = {"host_ns", "host_ns_preferred",
                                                         "anti_host_ns", "anti_host_ns_preferred"};

constexpr std::array kMembers = {
    Member{katalyst::kCpu, "cpuset_pool", Form::kText, "shared_cores"},
    Member{katalyst::kCpu, "numa_share", Form::kBool},
    Member{katalyst::kCpu, "suppression_tolerance_rate", Form::kRatio, "reclaimed_cores"},
    Member{katalyst::kCpu, "cpu_burst_policy", Form::kWord, "", kBurst},
    Member{katalyst::kCpu, "cpu_burst_percent", Form::kPercent},
    Member{katalyst::kCpu, "align_by_socket", Form::kBool},
    Member{katalyst::kCpu, "distribute_evenly_across_numa", Form::kBool},
    Member{katalyst::kCpu, "full_pcpus_pairing", Form::kBool},
    Member{katalyst::kCpu, "katalyst.kubewharf.io/numa_number", Form::kWhole},
    Member{katalyst::kCpu, "katalyst.kubewharf.io/numa_ids", Form::kWholeList},
    Member{katalyst::kMemory, "numa_binding", Form::kBool},
    Member{katalyst::kMemory, "numa_exclusive", Form::kBool},
    Member{katalyst::kMemory, "rss_overuse_threshold", Form::kRatio},
    Member{katalyst::kNetwork, "namespace_type", Form::kWord, "", kNamespaces},
    Member{katalyst::kNetwork, "topology_affinity_restricted", Form::kBool},
};

// What would be right; "" when it is.
std::string wantedInstead(const Member& member, std::string_view value) {
  switch (member.form) {
    case Form::kBool:
      return value == "true" || value == "false" ? "" : "true or false";
    case Form::kRatio: {
      const auto number = api::parseGoFloat(value);
      return number && *number > 0 ? "" : "a number above 0";
    }
    case Form::kPercent: {
      const auto number = api::parseGoFloat(value);
      return number && *number >= 0 && *number <= 100 ? "" : "a number from 0 to 100";
    }
    case Form::kWhole: {
      const auto number = parseInt<int64_t>(value);
      return number && *number > 0 ? "" : "a whole number above 0";
    }
    case Form::kWholeList:
      for (auto part : splitTrimmed(value, ','))
        if (const auto id = parseInt<int64_t>(part); !id || *id < 0)
          return "whole numbers separated by commas";
      return "";
    case Form::kWord:
      return std::find(member.words.begin(), member.words.end(), value) != member.words.end()
                 ? ""
                 : "one of " + join(member.words, ", ");
    case Form::kText:
      return value.empty() ? "a name" : "";
  }
  return "";
}

void addOomPriority(std::string_view value, const Level& level, Faults& out) {
  const auto number = parseInt<int64_t>(value);
  const bool good = number && (*number == kIgnoredByOom || *number == kSparedByOom ||
                               (*number >= level.from && *number < level.to));
  if (good) return;
  out.push_back(
      {kReason, fmt::format("metadata.annotations[{}]: oom_priority '{}': want {} to {} for {}, or "
                            "{} or {}",
                            katalyst::kMemory, value, level.from, level.to - 1, level.name,
                            kIgnoredByOom, kSparedByOom)});
}

void addMembers(std::string_view annotation, json::View object, const Level& level, Faults& out) {
  const auto fault = [&](std::string_view member, std::string text) {
    out.push_back(
        {kReason, fmt::format("metadata.annotations[{}]: {}{}", annotation, member, text)});
  };
  for (const Member& member : kMembers) {
    const json::View said = object[member.name];
    if (member.annotation != annotation || !said.exists()) continue;
    const auto value = said.string();
    if (!value) {
      fault(member.name, ": want a text, \"2\" and not 2");
      continue;
    }
    if (!member.level.empty() && member.level != level.name)
      fault(member.name, fmt::format(" is for {} alone, the pod is {}", member.level, level.name));
    if (auto wanted = wantedInstead(member, *value); !wanted.empty())
      fault(member.name, fmt::format(" '{}': want {}", *value, wanted));
  }
  if (annotation == katalyst::kMemory && object["oom_priority"].exists())
    addOomPriority(object["oom_priority"].string().value_or(""), level, out);
}

const Level* levelOf(std::string_view name) {
  const auto found = std::find_if(kLevels.begin(), kLevels.end(),
                                  [&](const Level& level) { return level.name == name; });
  return found == kLevels.end() ? nullptr : &*found;
}

}  // namespace

Faults katalystFaults(const api::Pod& pod) {
  Faults out;
  const auto said = pod.meta.annotations.get(katalyst::kLevel);
  const Level* level = levelOf(said.value_or("shared_cores"));
  if (level == nullptr)
    return {{kReason, fmt::format("metadata.annotations[{}]: '{}': want reclaimed_cores, "
                                  "shared_cores, dedicated_cores or system_cores",
                                  katalyst::kLevel, *said)}};
  for (std::string_view key : {katalyst::kCpu, katalyst::kMemory, katalyst::kNetwork}) {
    const auto text = pod.meta.annotations.get(key);
    if (!text || text->empty()) continue;
    api::TextDoc doc;
    const auto view = doc.parse(*text);
    if (!view || !view->isObject())
      out.push_back({kReason, fmt::format("metadata.annotations[{}]: want a JSON object of texts{}",
                                          key, view ? "" : ": " + view.error().text())});
    else
      addMembers(key, *view, *level, out);
  }
  return out;
}

}  // namespace mangrove::manager
