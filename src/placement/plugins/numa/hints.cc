#include "placement/plugins/numa/hints.h"

#include <algorithm>
#include <bit>
#include <set>

#include "placement/framework/scale.h"
#include "placement/plugins/noderesources/scoring.h"

namespace mangrove::placement {

namespace {

struct SubsetSums {
  NumaAmounts total, used;
  std::set<std::string> lacking;  // resources that one of the nodes has nothing of
};

SubsetSums sumsOf(const NumaState& state, const NumaRequest& request, NumaMask mask) {
  SubsetSums out;
  for (int node : nodesIn(mask)) {
    const NumaAmounts left = availableOn(state, request, node);
    const auto zone = state.zones.find(node);
    if (zone == state.zones.end()) continue;
    for (const auto& [name, amount] : zone->second) {
      out.total[name] += amount;
      out.used[name] += amount - left.at(name);
    }
    for (const auto& [name, amount] : request.amounts)
      if (!left.contains(name) || left.at(name) == 0) out.lacking.insert(name);
  }
  return out;
}

bool isSame(const std::optional<NumaMask>& a, NumaMask b) {
  return a && *a == b;
}

// One hint of each list put together.
NumaHint together(NumaMask all, const std::vector<const NumaHint*>& parts) {
  NumaHint out;
  NumaMask merged = all;
  std::optional<NumaMask> first;
  int widest = 0;
  out.preferred = true;
  for (const NumaHint* part : parts) {
    out.preferred = out.preferred && part->preferred;
    out.unsatisfied = out.unsatisfied || part->unsatisfied;
    if (!part->mask) continue;
    if (!first) first = part->mask;
    out.preferred = out.preferred && *first == *part->mask;
    merged &= *part->mask;
    widest = std::max(widest, std::popcount(*part->mask));
  }
  out.mask = merged;
  out.unsatisfied = out.unsatisfied || widest > std::popcount(merged);
  for (const NumaHint* part : parts)
    if (isSame(part->mask, merged)) out.score += part->score;
  return out;
}

bool isBetter(const NumaHint& a, const NumaHint& b) {
  if (a.preferred != b.preferred) return a.preferred;
  const int na = std::popcount(*a.mask), nb = std::popcount(*b.mask);
  if (na != nb) return na < nb;
  return *a.mask < *b.mask || a.score > b.score;
}

using Lists = std::vector<std::vector<NumaHint>>;

class Merge {
 public:
  Merge(NumaMask all, const Exclusivity& exclusivity) : all_(all), exclusivity_(exclusivity) {
    best_.mask = all;
  }

  NumaHint best(const Lists& lists) {
    chosen_.clear();
    walk(lists, 0);
    return best_;
  }

 private:
  void walk(const Lists& lists, size_t at) {
    if (at == lists.size()) return consider();
    for (const NumaHint& hint : lists[at]) {
      chosen_.push_back(&hint);
      walk(lists, at + 1);
      chosen_.pop_back();
    }
  }
  void consider() {
    NumaHint hint = together(all_, chosen_);
    if (*hint.mask == 0) return;
    if (exclusivity_.required && disturbs(*hint.mask)) hint.preferred = false;
    if (isBetter(hint, best_)) best_ = hint;
  }
  bool disturbs(NumaMask mask) const {
    const bool several = std::popcount(mask) > 1;
    for (int node : nodesIn(mask)) {
      const auto at = exclusivity_.uses.find(node);
      const NumaUse use = at == exclusivity_.uses.end() ? NumaUse::kIdle : at->second;
      if (use == (several ? NumaUse::kSingle : NumaUse::kShared)) return true;
    }
    return false;
  }

  NumaMask all_;
  const Exclusivity& exclusivity_;
  std::vector<const NumaHint*> chosen_;
  NumaHint best_;
};

struct Flattened {
  Lists lists;
  std::vector<std::string> reasons;  // resources that fit nowhere
};

Flattened flatten(const std::vector<HintMap>& providers) {
  const NumaHint any{std::nullopt, true, 0, false};
  const NumaHint nowhere{std::nullopt, false, 0, true};
  Flattened out;
  for (const HintMap& provider : providers) {
    if (provider.empty()) out.lists.push_back({any});
    for (const auto& [resource, hints] : provider) {
      if (!hints) {
        out.lists.push_back({any});
      } else if (hints->empty()) {
        out.lists.push_back({nowhere});
        out.reasons.push_back("Unsatisfied NUMA " + resource);
      } else {
        out.lists.push_back(*hints);
      }
    }
  }
  std::sort(out.reasons.begin(), out.reasons.end());
  return out;
}

void keepSingle(Lists& lists) {
  for (auto& list : lists)
    std::erase_if(list, [](const NumaHint& hint) {
      return !hint.preferred || (hint.mask && std::popcount(*hint.mask) != 1);
    });
}

std::string summary(const std::vector<HintMap>& providers, std::string_view separator) {
  std::vector<std::string> parts;
  for (const HintMap& provider : providers)
    for (const auto& [resource, hints] : provider) {
      if (!hints) continue;
      std::string prefer, among;
      for (const NumaHint& hint : *hints) {
        if (!hint.mask) continue;
        const std::string text = maskText(*hint.mask);
        among += (among.empty() ? "" : " ") + text;
        if (hint.preferred) prefer += (prefer.empty() ? "" : " ") + text;
      }
      parts.push_back(resource + " prefer [" + prefer + "] among [" + among + "]");
    }
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : std::string(separator)) + part;
  return out;
}

Admission mergeRestricted(NumaMask all, const std::vector<HintMap>& providers,
                          const Exclusivity& exclusivity, bool single) {
  Flattened flat = flatten(providers);
  Admission out;
  out.best.mask = all;
  if (!flat.reasons.empty()) {
    out.reasons = std::move(flat.reasons);
    if (single) out.best.mask = std::nullopt;
    return out;
  }
  if (single) keepSingle(flat.lists);
  out.best = Merge(all, exclusivity).best(flat.lists);
  if (single && *out.best.mask == all) {
    out.best.mask = std::nullopt;
    out.best.score = 0;
  }
  out.admitted = out.best.preferred;
  if (!out.admitted)
    out.reasons.push_back("Unaligned NUMA Hint cause " + summary(providers, single ? "," : " & "));
  return out;
}

}  // namespace

std::vector<NumaMask> numaSubsets(const std::vector<int>& nodes) {
  std::vector<std::vector<int>> found;
  const auto n = nodes.size();
  for (uint64_t bits = 1; bits < (uint64_t{1} << n); bits++) {
    std::vector<int> one;
    for (size_t i = 0; i < n; i++)
      if (bits & (uint64_t{1} << i)) one.push_back(nodes[i]);
    found.push_back(std::move(one));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  std::vector<NumaMask> out;
  for (const auto& one : found) out.push_back(maskOf(one));
  return out;
}

std::string maskText(NumaMask mask) {
  std::string digits;
  for (NumaMask rest = mask; rest != 0; rest >>= 1)
    digits.insert(digits.begin(), rest & 1 ? '1' : '0');
  size_t width = 2;
  while (width < 62 && mask > (NumaMask{1} << width)) width += 2;
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

int64_t NumaScorer::score(const NumaAmounts& requested, const NumaAmounts& total,
                          const NumaAmounts& pod) const {
  if (!enabled) return 0;
  static const std::vector<std::pair<std::string, int64_t>> kEven = {{"cpu", 1}, {"memory", 1}};
  int64_t sum = 0, weightSum = 0;
  for (const auto& [name, weight] : weights.empty() ? kEven : weights) {
    const auto have = total.find(name);
    if (have == total.end() || have->second == 0) continue;
    const auto ask = pod.find(name);
    const int64_t asked = ask == pod.end() ? 0 : ask->second;
    if (asked == 0 && name != "cpu" && name != "memory") continue;
    const auto used = requested.find(name);
    const int64_t then = (used == requested.end() ? 0 : used->second) + asked;
    sum += weight * (mostAllocated ? placement::mostAllocated(then, have->second)
                                   : leastAllocated(then, have->second));
    weightSum += weight;
  }
  return weightSum == 0 ? 0 : sum / weightSum;
}

HintMap numaHints(const NumaState& state, const NumaRequest& request, NumaPolicy policy,
                  const NumaScorer& scorer) {
  std::vector<int> nodes;
  HintMap out;
  for (const auto& [node, amounts] : state.zones) {
    nodes.push_back(node);
    for (const auto& [name, amount] : request.amounts)
      if (amount > 0 && amounts.contains(name)) out.try_emplace(name, std::vector<NumaHint>());
  }
  NumaAmounts pod = request.amounts;
  if (request.binds && pod.contains("cpu")) pod["cpu"] = amplified(pod["cpu"], state.cpuRatio);
  std::map<std::string, int> smallest;
  for (NumaMask mask : numaSubsets(nodes)) {
    if (!allocate(state, request, mask).ok()) continue;
    const SubsetSums sums = sumsOf(state, request, mask);
    const int64_t score = scorer.score(sums.used, sums.total, pod);
    for (auto& [name, hints] : out) {
      if (sums.lacking.contains(name)) continue;
      smallest.try_emplace(name, std::popcount(mask));
      hints->push_back({mask, false, score, false});
    }
  }
  for (auto& [name, hints] : out)
    for (NumaHint& hint : *hints)
      hint.preferred =
          policy == NumaPolicy::kRestricted || std::popcount(*hint.mask) == smallest[name];
  return out;
}

Admission mergeHints(NumaPolicy policy, const std::vector<int>& nodes,
                     const std::vector<HintMap>& providers, const Exclusivity& exclusivity) {
  const NumaMask all = maskOf(nodes);
  Admission out;
  out.admitted = true;
  switch (policy) {
    case NumaPolicy::kNone:
      return out;
    case NumaPolicy::kBestEffort:
      out.best = Merge(all, exclusivity).best(flatten(providers).lists);
      if (out.best.unsatisfied) out.best = {all, false, 0, false};
      return out;
    case NumaPolicy::kRestricted:
      return mergeRestricted(all, providers, exclusivity, false);
    case NumaPolicy::kSingleNumaNode:
      return mergeRestricted(all, providers, exclusivity, true);
  }
  return out;
}

}  // namespace mangrove::placement
