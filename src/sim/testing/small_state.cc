#include "sim/testing/small_state.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "agent/qos/cpu_suppress/pick.h"
#include "base/number/cpu_set.h"

namespace mangrove::sim {
namespace {

std::string_view nameOf(PodKind kind) {
  constexpr std::string_view kNames[] = {"service", "batch", "exclusive", "owner", "a", "b"};
  return kNames[static_cast<size_t>(kind)];
}

std::string exclusiveTrouble(const SmallNode& node) {
  CpuSet taken;
  for (const SmallPod& pod : node.pods) {
    if (pod.kind != PodKind::kExclusive) continue;
    const auto cpus = CpuSet::parse(pod.cpuset);
    if (!cpus || cpus->size() != static_cast<size_t>(infoOf(pod.kind).cpus))
      return fmt::format("an exclusive pod has the CPUs '{}'", pod.cpuset);
    if (!(taken & *cpus).empty()) return "a CPU belongs to two pods";
    taken = taken | *cpus;
  }
  return "";
}

// What the agent would give best-effort work on this node, for every budget.
std::string bestEffortTrouble(const SmallNode& node) {
  agent::SuppressCpus in;
  for (int cpu = 0; cpu < kSmallCpus; cpu++)
    in.machine.push_back({.id = cpu, .core = cpu / 2, .socket = 0, .node = 0});
  in.present = *CpuSet::parse("0-7");
  CpuSet taken;
  for (const SmallPod& pod : node.pods)
    if (const auto cpus = CpuSet::parse(pod.cpuset); cpus && pod.kind == PodKind::kExclusive) {
      in.bound.push_back({api::Qos::kLse, *cpus});
      taken = taken | *cpus;
    }
  for (int budget = -1; budget <= kSmallCpus; budget++) {
    in.budget = MilliCpu{budget * 1000};
    const CpuSet given = agent::suppressCpus(in);
    if (!(given & taken).empty()) return "best-effort work is on exclusive CPUs";
    const size_t free = kSmallCpus - taken.size();
    if (given.size() < std::min<size_t>(2, free)) return "best-effort work has less than its least";
  }
  return "";
}

// Where something came to, in this step.
bool grew(const SmallState& before, const SmallState& after, PodKind kind) {
  int was = 0, is = 0;
  for (const SmallNode& node : before.nodes) was += node.cpusOf(kind);
  for (const SmallNode& node : after.nodes) is += node.cpusOf(kind);
  return is > was;
}

std::string roomTrouble(const SmallNode& node) {
  int outside = 0, inside = 0;
  for (const SmallPod& pod : node.pods)
    if (pod.kind != PodKind::kBatch) (pod.isReserved ? inside : outside) += infoOf(pod.kind).cpus;
  const int room = node.hasRoom ? std::max(kReserved, inside) : inside;
  return outside + room > kSmallCpus ? "what is reserved was given to others" : "";
}

std::string quotaTrouble(const SmallState& before, const SmallState& after) {
  for (PodKind kind : {PodKind::kQuotaA, PodKind::kQuotaB}) {
    int used = 0;
    for (const SmallNode& node : after.nodes) used += node.cpusOf(kind);
    if (used > infoOf(kind).most && grew(before, after, kind)) return "a quota is over its maximum";
  }
  return "";
}

// A node on which batch work grew, against what was for sale there.
std::string ledgerTrouble(const SmallState& before, const SmallState& after) {
  if (!grew(before, after, PodKind::kBatch)) return "";
  std::multimap<int, int> held;  // by what is sold
  for (const SmallNode& node : before.nodes) held.emplace(node.sold, node.cpusOf(PodKind::kBatch));
  for (const SmallNode& node : after.nodes) {
    const int now = node.cpusOf(PodKind::kBatch);
    if (now <= node.sold) continue;
    const auto [first, last] = held.equal_range(node.sold);
    const bool wasSo = std::any_of(first, last, [&](const auto& one) { return one.second >= now; });
    if (!wasSo) return "more batch work than was for sale";
  }
  return "";
}

}  // namespace

KindInfo infoOf(PodKind kind) {
  switch (kind) {
    case PodKind::kService:
      return {3};
    case PodKind::kBatch:
      return {3};
    case PodKind::kExclusive:
      return {4};
    case PodKind::kOwner:
      return {2};
    case PodKind::kQuotaA:
      return {2, 3};
    case PodKind::kQuotaB:
      return {3, 6};
  }
  return {1};
}

std::vector<PodKind> kindsUnder(const std::set<Rule>& rules) {
  std::set<PodKind> out = {PodKind::kService};
  if (rules.contains(Rule::kLedger)) out.insert(PodKind::kBatch);
  if (rules.contains(Rule::kCpus)) out.insert(PodKind::kExclusive);
  if (rules.contains(Rule::kReservation)) out.insert(PodKind::kOwner);
  if (rules.contains(Rule::kQuota)) out.insert({PodKind::kQuotaA, PodKind::kQuotaB});
  return {out.begin(), out.end()};
}

int SmallNode::cpusOf(PodKind kind) const {
  int out = 0;
  for (const SmallPod& pod : pods) out += pod.kind == kind ? infoOf(kind).cpus : 0;
  return out;
}

int SmallNode::native() const {
  int out = 0;
  for (const SmallPod& pod : pods) out += pod.kind == PodKind::kBatch ? 0 : infoOf(pod.kind).cpus;
  return out;
}

int SmallState::pods() const {
  size_t out = waiting.size();
  for (const SmallNode& node : nodes) out += node.pods.size();
  return static_cast<int>(out);
}

void SmallState::order() {
  for (SmallNode& node : nodes) std::sort(node.pods.begin(), node.pods.end());
  std::sort(nodes.begin(), nodes.end());
  std::sort(waiting.begin(), waiting.end());
}

std::string SmallState::text() const {
  std::string out;
  for (const SmallNode& node : nodes) {
    out += fmt::format("[{}{}", node.sold, node.hasRoom ? " room" : "");
    for (const SmallPod& pod : node.pods)
      out += fmt::format(" {}{}{}", nameOf(pod.kind), pod.cpuset.empty() ? "" : ":" + pod.cpuset,
                         pod.isReserved ? "*" : "");
    out += "]";
  }
  for (PodKind kind : waiting) out += fmt::format(" {}?", nameOf(kind));
  return out;
}

std::string violationOf(const SmallState& before, const SmallState& after) {
  for (const SmallNode& node : after.nodes) {
    if (node.native() > kSmallCpus) return "a node is over-committed";
    for (const std::string& trouble :
         {exclusiveTrouble(node), bestEffortTrouble(node), roomTrouble(node)})
      if (!trouble.empty()) return trouble;
    if (node.sold < 0 || node.sold > kSmallCpus) return "more is sold than there is";
  }
  if (auto trouble = quotaTrouble(before, after); !trouble.empty()) return trouble;
  return ledgerTrouble(before, after);
}

}  // namespace mangrove::sim
