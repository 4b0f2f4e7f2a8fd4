#include "placement/testing/oracle_numa.h"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "api/pod/pod_requests.h"
#include "placement/testing/oracle_board.h"

namespace mangrove::placement::oracle {

namespace {

using Place = World::Place;
using Policy = api::NumaTopologyPolicy;

// ---- NUMA policies

struct Option {
  std::vector<int> zones;
  bool preferred = false;
  int64_t score = 0;
};

int64_t zoneScore(bool most, const Amounts& used, const Amounts& total, const Amounts& pod) {
  int64_t sum = 0, count = 0;
  for (const std::string resource : {"cpu", "memory"}) {
    const int64_t have = amountIn(total, resource);
    if (have == 0) continue;
    const int64_t then = amountIn(used, resource) + amountIn(pod, resource);
    count++;
    if (most)
      sum += std::min(then, have) * 100 / have;
    else
      sum += then > have ? 0 : (have - then) * 100 / have;
  }
  return count == 0 ? 0 : sum / count;
}

std::vector<std::vector<int>> allSubsets(const std::vector<int>& zones) {
  std::vector<std::vector<int>> out;
  for (size_t size = 1; size <= zones.size(); size++) {
    std::vector<bool> chosen(zones.size());
    std::fill(chosen.begin(), chosen.begin() + static_cast<long>(size), true);
    do {
      std::vector<int> one;
      for (size_t i = 0; i < zones.size(); i++)
        if (chosen[i]) one.push_back(zones[i]);
      out.push_back(one);
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
  }
  return out;
}

std::map<std::string, std::vector<Option>> optionsOf(const NumaRules& rules, const Question& q,
                                                     Policy policy) {
  std::map<std::string, std::vector<Option>> out;
  std::vector<int> zones;
  for (const auto& [zone, amounts] : q.board.zones) zones.push_back(zone);
  for (const auto& [resource, wanted] : q.demand.amounts)
    if (isReported(q.board, resource)) out[resource] = {};
  Amounts pod = q.demand.amounts;
  if (q.binds) pod["cpu"] = raised(pod["cpu"], q.board.zoneRatio);
  for (const auto& subset : allSubsets(zones)) {
    if (!grantOn(q, subset)) continue;
    Amounts used, total;
    for (int zone : subset)
      for (const auto& [resource, have] : q.board.zones.at(zone)) {
        total[resource] += have;
        used[resource] += have - leftOn(q, zone, resource);
      }
    const int64_t score = zoneScore(rules.zonesMost, used, total, pod);
    for (auto& [resource, options] : out) {
      const bool everywhere = std::all_of(subset.begin(), subset.end(), [&](int zone) {
        return q.board.zones.at(zone).contains(resource) && leftOn(q, zone, resource) > 0;
      });
      if (everywhere) options.push_back({subset, false, score});
    }
  }
  for (auto& [resource, options] : out)
    for (Option& option : options)
      option.preferred =
          policy == Policy::kRestricted || option.zones.size() == options[0].zones.size();
  return out;
}

uint64_t bits(const std::vector<int>& zones) {
  uint64_t out = 0;
  for (int zone : zones) out |= uint64_t{1} << zone;
  return out;
}

// A NUMA node on which cpuset pods run that span several (shared) or stay on it (single).
bool disturbs(const Board& board, const std::vector<int>& zones) {
  for (int zone : zones) {
    bool shared = false, single = false;
    for (const Holder& holder : board.holders) {
      std::set<int> on;
      for (int id : holder.cpus) on.insert(board.machine.at(id).node);
      if (!on.contains(zone)) continue;
      (on.size() > 1 ? shared : single) = true;
    }
    if (zones.size() > 1 ? single && !shared : shared) return true;
  }
  return false;
}

struct Choice {
  std::vector<int> zones;
  bool preferred = false, unsatisfied = false;
  int64_t score = 0;
};

Choice bestOf(const Question& q, const std::vector<std::vector<Option>>& lists,
              const std::vector<int>& all) {
  Choice best{all, false, false, 0};
  std::vector<const Option*> chosen;
  const std::function<void(size_t)> walk = [&](size_t depth) {
    if (depth < lists.size()) {
      for (const Option& option : lists[depth]) {
        chosen.push_back(&option);
        walk(depth + 1);
        chosen.pop_back();
      }
      return;
    }
    Choice one{all, true, false, 0};
    size_t widest = 0;
    for (const Option* option : chosen) {
      std::vector<int> both;
      for (int zone : one.zones)
        if (std::count(option->zones.begin(), option->zones.end(), zone)) both.push_back(zone);
      one.zones = both;
      one.preferred = one.preferred && option->preferred && option->zones == chosen[0]->zones;
      widest = std::max(widest, option->zones.size());
    }
    if (one.zones.empty()) return;
    one.unsatisfied = widest > one.zones.size();
    for (const Option* option : chosen)
      if (option->zones == one.zones) one.score += option->score;
    if (q.demand.lonelyZone && disturbs(q.board, one.zones)) one.preferred = false;
    bool better = one.preferred && !best.preferred;
    if (one.preferred == best.preferred) {
      better = one.zones.size() < best.zones.size();
      if (one.zones.size() == best.zones.size())
        better = bits(one.zones) < bits(best.zones) || one.score > best.score;
    }
    if (better) best = one;
  };
  walk(0);
  return best;
}

// The NUMA nodes to use; nullopt: refused. Empty: any.
std::optional<std::vector<int>> zonesFor(const NumaRules& rules, const Question& q, Policy policy) {
  std::vector<int> all;
  for (const auto& [zone, amounts] : q.board.zones) all.push_back(zone);
  const auto options = optionsOf(rules, q, policy);
  std::vector<std::vector<Option>> lists;
  bool nowhere = false;
  for (const auto& [resource, list] : options) {
    lists.push_back(list);
    nowhere = nowhere || list.empty();
  }
  if (policy == Policy::kBestEffort) {
    if (nowhere) return all;
    const Choice best = bestOf(q, lists, all);
    return best.unsatisfied ? all : best.zones;
  }
  if (nowhere) return std::nullopt;
  if (policy == Policy::kSingleNumaNode)
    for (auto& list : lists)
      std::erase_if(list, [](const Option& o) { return !o.preferred || o.zones.size() != 1; });
  const Choice best = bestOf(q, lists, all);
  if (!best.preferred) return std::nullopt;
  if (policy == Policy::kSingleNumaNode && best.zones == all) return std::vector<int>();
  return best.zones;
}

// ---- score

int64_t nodeScore(const NumaRules& rules, const Question& q, const Place& place) {
  int64_t sum = 0, count = 0;
  for (const std::string resource : {"cpu", "memory"}) {
    const int64_t have = amount(place.node->status.allocatable, resource);
    if (have == 0) continue;
    int64_t ask = amountIn(q.demand.amounts, resource), used = 0;
    for (const api::Pod* pod : place.pods) used += amount(api::podRequests(*pod->spec), resource);
    if (resource == "cpu" && ask > 0 && q.board.ratio > 1) {
      const int64_t bound = 1000 * static_cast<int64_t>(q.board.taken().size());
      used += raised(bound, q.board.ratio) - bound;
      if (q.binds) ask = raised(ask, q.board.ratio);
    }
    const int64_t then = used + ask;
    count++;
    if (rules.scoreMost)
      sum += std::min(then, have) * 100 / have;
    else
      sum += then > have ? 0 : (have - then) * 100 / have;
  }
  return count == 0 ? 0 : sum / count;
}

int64_t zonesScore(const NumaRules& rules, const Question& q, const NumaGrant& grant) {
  std::vector<int> zones;
  for (const auto& [zone, amounts] : grant.zones) zones.push_back(zone);
  if (zones.empty())
    for (const auto& [zone, amounts] : q.board.zones) zones.push_back(zone);
  Amounts used, total, pod = q.demand.amounts;
  for (int zone : zones) {
    for (const auto& [resource, have] : q.board.zones.at(zone)) total[resource] += have;
    for (const Holder& holder : q.board.holders)
      if (holder.zones.contains(zone))
        for (const auto& [resource, n] : holder.zones.at(zone)) used[resource] += n;
    const int64_t bound = q.board.machine.isValid() ? q.board.boundOn(zone) : 0;
    used["cpu"] += raised(bound, q.board.zoneRatio) - bound;
  }
  if (q.binds) pod["cpu"] = raised(pod["cpu"], q.board.zoneRatio);
  return zoneScore(rules.scoreMost, used, total, pod);
}

bool lacksAmplified(const Question& q, const Place& place) {
  if (q.board.ratio <= 1 || q.demand.cpu() == 0) return false;
  int64_t used = 0;
  for (const api::Pod* pod : place.pods) used += amount(api::podRequests(*pod->spec), "cpu");
  const int64_t bound = 1000 * static_cast<int64_t>(q.board.taken().size());
  if (bound > 0 && used >= bound) used += raised(bound, q.board.ratio) - bound;
  const int64_t ask = q.binds ? raised(q.demand.cpu(), q.board.ratio) : q.demand.cpu();
  return ask > amount(place.node->status.allocatable, "cpu") - used;
}

std::string bindRefusal(Question& q) {
  if (!q.binds) return "";
  if (q.demand.cpu() % 1000 != 0) return "the requested CPUs must be integer";
  if (!q.board.machine.isValid()) return "node(s) invalid CPU Topology";
  const std::string& required = q.board.forced.empty() ? q.demand.required : q.board.forced;
  if (!q.demand.required.empty() && q.demand.required != required)
    return "node(s) cpu bind policy conflicts with pod's required cpu bind policy";
  q.cpus.need = static_cast<int>(q.demand.cpu() / 1000);
  q.cpus.required = !required.empty();
  q.cpus.full = (required.empty() ? q.demand.preferred : required) == "FullPCPUs";
  q.cpus.alone = q.demand.alone;
  q.cpus.most = q.board.most;
  if (required == "FullPCPUs" && q.cpus.need % q.board.machine.perCore != 0)
    return "node(s) requested cpus not multiple cpus per core";
  return "";
}

}  // namespace

std::string NumaRules::json() const {
  const auto type = [](bool most) { return most ? "MostAllocated" : "LeastAllocated"; };
  return fmt::format(
      R"({{"defaultCPUBindPolicy":"{}","scoringStrategy":{{"type":"{}"}},
          "numaScoringStrategy":{{"type":"{}"}}}})",
      spreadDefault ? "SpreadByPCPUs" : "FullPCPUs", type(scoreMost), type(zonesMost));
}

bool numaLooksAt(const api::Pod& pod) {
  const auto requests = api::podRequests(*pod.spec);
  return std::any_of(requests.begin(), requests.end(),
                     [&](const auto& entry) { return amount(requests, entry.name.view()) > 0; });
}

NumaAnswerOf askNuma(const NumaRules& rules, const api::Pod& pod, const Place& place) {
  NumaAnswerOf out;
  if (!numaLooksAt(pod)) return out;
  const Demand demand = demandOf(rules, pod);
  const Board board = boardOf(rules, place);
  Question q{board, demand, false, {}};
  q.binds = demand.binds || (!demand.cpuset && demand.cpu() > 0 && !board.forced.empty());
  const auto refuse = [&](std::string why) {
    out.refusal = std::move(why);
    return out;
  };
  if (board.policy != Policy::kNone && demand.policy != Policy::kNone &&
      board.policy != demand.policy)
    return refuse("node(s) NUMA Topology policy not match");
  if (board.badRatio && demand.cpu() > 0) return refuse("node(s) invalid CPU amplification ratio");
  if (lacksAmplified(q, place)) return refuse("Insufficient amplified cpu");
  if (auto why = bindRefusal(q); !why.empty()) return refuse(why);
  const Policy policy = board.policy == Policy::kNone ? demand.policy : board.policy;
  std::optional<std::vector<int>> zones = std::vector<int>();
  if (policy != Policy::kNone) {
    if (board.zones.empty()) return refuse("node(s) missing NUMA resources");
    zones = zonesFor(rules, q, policy);
    if (!zones) return refuse("NUMA nodes do not align");
  }
  if (!zones->empty()) {
    const auto grant = grantOn(q, *zones);
    if (!grant) return refuse("Insufficient NUMA");
    out.grant = *grant;
  } else if (q.binds) {
    const auto cpus = pickCpus(board.machine, board.freeOn(-1), board.lonely(), q.cpus);
    if (!cpus) return refuse("not enough cpus available to satisfy request");
    out.grant.cpus = *cpus;
  }
  out.score =
      policy == Policy::kNone ? nodeScore(rules, q, place) : zonesScore(rules, q, out.grant);
  return out;
}

}  // namespace mangrove::placement::oracle
