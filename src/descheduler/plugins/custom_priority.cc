#include "descheduler/plugins/custom_priority.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "base/os/log.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

// After so many misfits in a row the larger ones that follow are not tried.
constexpr int kMisfits = 5;

api::ResourceList containerRequests(const api::Pod& pod) {
  api::ResourceList sum;
  for (const api::Container& container : pod.spec->containers) sum.add(container.requests);
  return sum;
}

void smallestFirst(Pods& pods) {
  const auto size = [](const api::Pod* pod) {
    const api::ResourceList sum = containerRequests(*pod);
    return std::tuple(sum.cpu(), sum.memory(), pod->meta.ns.view(), pod->meta.name.view());
  };
  std::stable_sort(pods.begin(), pods.end(),
                   [&](const api::Pod* a, const api::Pod* b) { return size(a) < size(b); });
}

std::vector<CustomPriorityArgs::Level> readLevels(Args& args) {
  std::vector<CustomPriorityArgs::Level> out;
  std::set<std::string> names;
  for (const json::Value& entry : args.list("evictionOrder")) {
    Args one(entry, args.where() + ".evictionOrder");
    one.only({"name", "nodeSelector", "keepThreshold", "rejectThreshold"});
    CustomPriorityArgs::Level level{one.text("name"), readSelector(one, "nodeSelector")};
    if (level.name.empty()) one.complain("a level has no name");
    if (!names.insert(level.name).second) {
      one.complain(fmt::format("two levels are called '{}'", level.name));
    }
    if (!level.nodeSelector) {
      one.complain(fmt::format("level '{}' has no nodeSelector", level.name));
    }
    out.push_back(std::move(level));
    args.take(one);
  }
  if (out.size() < 2) args.complain("evictionOrder has fewer than two levels");
  return out;
}

// A node belongs to the first level that wants it.
std::vector<Nodes> nodesByLevel(const CustomPriorityArgs& args, const Nodes& nodes) {
  std::vector<Nodes> out(args.levels.size());
  for (const api::Node* node : matching(args.nodeSelector, nodes)) {
    for (size_t i = 0; i < args.levels.size(); ++i) {
      if (!matches(args.levels[i].nodeSelector, node->meta.labels)) continue;
      out[i].push_back(node);
      break;
    }
  }
  return out;
}

}  // namespace

Result<CustomPriorityArgs> readCustomPriorityArgs(const json::Value& value) {
  Args args(value, "CustomPriorityArgs");
  args.only({"paused", "dryRun", "evictableNamespaces", "nodeSelector", "podSelectors", "nodeFit",
             "evictionOrder", "mode", "autoCordon"});
  CustomPriorityArgs out;
  out.paused = args.boolean("paused", false);
  out.dryRun = args.boolean("dryRun", false);
  out.nodeFit = args.boolean("nodeFit", true);
  out.autoCordon = args.boolean("autoCordon", false);
  out.nodeSelector = readSelector(args, "nodeSelector");
  out.choice = readPodChoice(args);
  out.levels = readLevels(args);
  const std::string mode = args.text("mode", "BestEffort");
  out.drain = mode == "DrainNode";
  if (!out.drain && mode != "BestEffort" && !mode.empty()) {
    args.complain(fmt::format("mode is '{}', want BestEffort or DrainNode", mode));
  }
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

Pods CustomPriority::candidates(const api::Node& source, Round& round) const {
  Pods pods = evictable(round.look.activeOn(source.meta.name.view()), args_.choice, round.evictor);
  smallestFirst(pods);
  return pods;
}

bool CustomPriority::evict(const api::Pod& pod, const std::string& reason, Round& round) const {
  if (!args_.dryRun) return round.evictor.evict(pod, kName, reason);
  log.info("dry run: would evict {}: {}", api::keyOf(pod.meta).text(), reason);
  return true;
}

void CustomPriority::relieve(const std::string& level, const api::Node& source,
                             const Nodes& targets, Round& round) {
  int misfits = 0;
  for (const api::Pod* pod : candidates(source, round)) {
    if (args_.nodeFit && !round.fit.fitsAny(*pod, targets)) {
      if (++misfits == kMisfits) return;
      continue;
    }
    misfits = 0;
    evict(*pod, fmt::format("evicting from {} priority resource to lower priority resource", level),
          round);
  }
}

bool CustomPriority::placeAll(const Pods& pods, Rooms& rooms) const {
  for (const api::Pod* pod : pods) {
    const api::ResourceList requests = api::podRequests(*pod);
    const auto at = std::find_if(rooms.begin(), rooms.end(), [&](const auto& room) {
      return admits(*room.first, *pod) && holds(room.second, requests);
    });
    if (at == rooms.end()) return false;
    at->second.free.subtract(requests);
    --at->second.pods;
  }
  return true;
}

void CustomPriority::drain(const std::string& level, const api::Node& source, const Pods& pods,
                           Round& round) {
  const bool acts = !args_.dryRun && !round.dryRun;
  const bool cordoned =
      acts && args_.autoCordon && !source.spec.unschedulable && round.hands.cordon(source, true);
  const std::string reason =
      fmt::format("drain node {} (sourcePriority={})", source.meta.name.view(), level);
  for (const api::Pod* pod : pods) {
    if (evict(*pod, reason, round)) continue;
    if (cordoned) round.hands.cordon(source, false);
    return;
  }
}

// Room is taken for a node only when all its pods found some.
void CustomPriority::drainLevel(const std::string& level, const Nodes& sources,
                                const Nodes& targets, Round& round) {
  Rooms rooms;
  for (const api::Node* target : targets) rooms.emplace_back(target, round.fit.room(*target));
  for (const api::Node* source : sources) {
    const Pods pods = candidates(*source, round);
    Rooms after = rooms;
    if (pods.empty() || !placeAll(pods, after)) continue;
    rooms = std::move(after);
    drain(level, *source, pods, round);
  }
}

Result<> CustomPriority::run(Round& round) {
  if (args_.paused) return {};
  const std::vector<Nodes> levels = nodesByLevel(args_, round.nodes);
  for (size_t i = 0; i < levels.size(); ++i) {
    Nodes targets;
    for (size_t j = i + 1; j < levels.size(); ++j) {
      targets.insert(targets.end(), levels[j].begin(), levels[j].end());
    }
    if (targets.empty()) continue;
    const std::string& name = args_.levels[i].name;
    if (args_.drain) {
      drainLevel(name, levels[i], targets, round);
      continue;
    }
    for (const api::Node* source : levels[i]) relieve(name, *source, targets, round);
  }
  return {};
}

}  // namespace mangrove::descheduler
