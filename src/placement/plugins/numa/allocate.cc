#include "placement/plugins/numa/allocate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace mangrove::placement {

namespace {

constexpr int64_t kMilli = 1000;

int64_t find(const NumaAmounts& amounts, const std::string& name) {
  const auto at = amounts.find(name);
  return at == amounts.end() ? 0 : at->second;
}

CpuSet availableCpus(const NumaState& state, int node) {
  return state.books.available(state.reserved) & state.books.layout().onNode(node);
}

// The step in which this resource is handed out.
int64_t granularityOf(const std::string& resource, const NumaState& state,
                      const NumaRequest& request) {
  if (resource != kNumaCpu || !request.binds) return 1;
  const bool wholeCores = request.wish.required && request.wish.policy == BindPolicy::kFullPcpus;
  return kMilli * (wholeCores ? std::max(1, state.books.layout().cpusPerCore()) : 1);
}

// Evenly over the NUMA nodes, those with the least left first; what cannot be placed is returned.
int64_t distribute(const std::string& resource, int64_t amount, int64_t unit, int64_t step,
                   std::vector<std::pair<int64_t, int>> left, std::map<int, NumaAmounts>& out) {
  std::sort(left.begin(), left.end());
  int64_t remaining = amount;
  for (size_t i = 0; i < left.size(); i++) {
    const auto others = static_cast<int64_t>(left.size() - i);
    const int64_t whole = (remaining + unit - 1) / unit * unit;
    const int64_t share = others == 1 ? whole : whole / others / step * step;
    const int64_t part = std::min(left[i].first, share);
    if (part != 0) out[left[i].second][resource] = part;
    remaining -= part;
  }
  return remaining;
}

// CPUs for what was recorded per NUMA node.
Result<CpuSet> takePerNode(const NumaState& state, const NumaRequest& request,
                           const std::map<int, NumaAmounts>& perNode) {
  CpuSet out;
  for (const auto& [node, amounts] : perNode) {
    CpuWish wish = request.wish;
    wish.need = static_cast<int>(find(amounts, std::string(kNumaCpu)) / kMilli);
    auto cpus = takeFrom(state.books, availableCpus(state, node), wish.preferred, wish);
    if (!cpus) return cpus;
    out = out | *cpus;
  }
  if (static_cast<int>(out.size()) != request.wish.need)
    return fail(mangrove::Code::kUnavailable, "not enough cpus available to satisfy request");
  return out;
}

}  // namespace

int64_t amplified(int64_t amount, double ratio) {
  if (ratio <= 1) return amount;
  return static_cast<int64_t>(std::ceil(static_cast<double>(amount) * ratio));
}

int64_t boundCpu(const NumaState& state, int node) {
  return kMilli *
         static_cast<int64_t>((state.books.taken() & state.books.layout().onNode(node)).size());
}

NumaAmounts availableOn(const NumaState& state, const NumaRequest& request, int node) {
  const auto zone = state.zones.find(node);
  if (zone == state.zones.end()) return {};
  NumaAmounts out = zone->second;
  if (const auto booked = state.booked.find(node); booked != state.booked.end())
    for (const auto& [name, amount] : booked->second)
      if (auto at = out.find(name); at != out.end()) at->second -= amount;
  const auto cpu = out.find(std::string(kNumaCpu));
  if (cpu != out.end() && state.cpuRatio > 1) {
    const int64_t bound = boundCpu(state, node);
    cpu->second -= amplified(bound, state.cpuRatio) - bound;
  }
  if (cpu != out.end() && request.binds && request.wish.required) {
    const CpuSet usable =
        usableUnder(state.books.layout(), availableCpus(state, node), request.wish);
    cpu->second = std::min(cpu->second, kMilli * static_cast<int64_t>(usable.size()));
  }
  for (auto& [name, amount] : out) amount = std::max<int64_t>(0, amount);
  return out;
}

NumaOutcome allocate(const NumaState& state, const NumaRequest& request, NumaMask mask) {
  NumaOutcome out;
  std::map<int, NumaAmounts> available;
  for (int node : nodesIn(mask)) available[node] = availableOn(state, request, node);
  std::set<std::string> reported;
  for (const auto& [node, amounts] : state.zones)
    for (const auto& [name, amount] : amounts) reported.insert(name);
  for (const auto& [name, amount] : request.amounts) {
    if (amount <= 0 || !reported.contains(name)) continue;
    std::vector<std::pair<int64_t, int>> left;
    for (const auto& [node, amounts] : available) left.emplace_back(find(amounts, name), node);
    const bool bound = name == kNumaCpu && request.binds;
    const int64_t missing =
        distribute(name, amount, bound ? kMilli : 1, granularityOf(name, state, request),
                   std::move(left), out.allocation.perNode);
    if (missing != 0) out.reasons.push_back("Insufficient NUMA " + name);
  }
  std::sort(out.reasons.begin(), out.reasons.end());
  if (!out.ok() || !request.binds) return out;
  auto cpus = takePerNode(state, request, out.allocation.perNode);
  if (cpus)
    out.allocation.cpus = std::move(*cpus);
  else
    out.reasons.push_back(cpus.error().sentence());
  return out;
}

NumaMask maskOf(const std::vector<int>& nodes) {
  NumaMask mask = 0;
  for (int node : nodes) mask |= NumaMask{1} << node;
  return mask;
}

std::vector<int> nodesIn(NumaMask mask) {
  std::vector<int> out;
  for (; mask != 0; mask &= mask - 1) out.push_back(std::countr_zero(mask));
  return out;
}

}  // namespace mangrove::placement
