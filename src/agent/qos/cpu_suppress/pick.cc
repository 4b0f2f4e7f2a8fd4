#include "agent/qos/cpu_suppress/pick.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace mangrove::agent {
namespace {

constexpr size_t kLeastCpus = 2;

// CPUs of one NUMA node and socket, by core.
struct Bucket {
  Cpus cpus;
  std::vector<bool> taken;
};

std::vector<Bucket> bucketsOf(const Cpus& from) {
  std::map<std::pair<int, int>, Bucket> byPlace;
  for (const auto& cpu : from) byPlace[{cpu.node, cpu.socket}].cpus.push_back(cpu);
  std::vector<Bucket> buckets;
  for (auto& [place, bucket] : byPlace) {
    std::sort(bucket.cpus.begin(), bucket.cpus.end(), [](const auto& a, const auto& b) {
      return std::pair(a.core, a.id) < std::pair(b.core, b.id);
    });
    bucket.taken.assign(bucket.cpus.size(), false);
    buckets.push_back(std::move(bucket));
  }
  std::stable_sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) {
    if (a.cpus.size() != b.cpus.size()) return a.cpus.size() > b.cpus.size();
    return a.cpus.front().id < b.cpus.front().id;
  });
  return buckets;
}

bool takePair(Bucket& bucket, std::vector<int>& out) {
  for (size_t i = 0; i + 1 < bucket.cpus.size(); ++i) {
    if (bucket.taken[i] || bucket.taken[i + 1]) continue;
    if (bucket.cpus[i].core != bucket.cpus[i + 1].core) continue;
    bucket.taken[i] = bucket.taken[i + 1] = true;
    out.push_back(bucket.cpus[i].id);
    out.push_back(bucket.cpus[i + 1].id);
    return true;
  }
  return false;
}

bool takeOne(Bucket& bucket, std::vector<int>& out) {
  for (size_t i = 0; i < bucket.cpus.size(); ++i) {
    if (bucket.taken[i]) continue;
    bucket.taken[i] = true;
    out.push_back(bucket.cpus[i].id);
    return true;
  }
  return false;
}

// Goes round the buckets from `at` while `more`, until a whole round from there took nothing.
// Returns the bucket to go on with.
template <class Take, class More>
size_t goRound(std::vector<Bucket>& buckets, size_t at, std::vector<int>& out, Take take,
               More more) {
  const size_t start = at;
  bool tookInRound = true;
  while (more()) {
    if (at == start && !std::exchange(tookInRound, false)) break;
    tookInRound |= take(buckets[at], out);
    at = (at + 1) % buckets.size();
  }
  return at;
}

struct Eligible {
  Cpus lsr, ls;
};

// A CPU is what the last pod that names it says.
std::map<int, api::Qos> marks(const std::vector<BoundCpus>& bound) {
  std::map<int, api::Qos> out;
  for (const auto& pod : bound)
    for (int cpu : pod.cpus) out[cpu] = pod.qos;
  return out;
}

Eligible eligible(const SuppressCpus& in) {
  const auto marked = marks(in.bound);
  Eligible out;
  for (const auto& cpu : in.machine) {
    if (in.reserved.contains(cpu.id) || in.system.contains(cpu.id)) continue;
    auto at = marked.find(cpu.id);
    const api::Qos qos = at == marked.end() ? api::Qos::kNone : at->second;
    if (qos == api::Qos::kLse) continue;
    (qos == api::Qos::kLsr ? out.lsr : out.ls).push_back(cpu);
  }
  return out;
}

CpuSet setOf(const std::vector<int>& cpus) {
  CpuSet out;
  for (int cpu : cpus) out.add(cpu);
  return out;
}

}  // namespace

std::vector<int> pickCpus(const Cpus& from, size_t count) {
  if (count > from.size() || count == 0) return {};
  std::vector<Bucket> buckets = bucketsOf(from);
  std::vector<int> out;
  const size_t at = goRound(buckets, 0, out, takePair, [&] { return out.size() + 1 < count; });
  goRound(buckets, at, out, takeOne, [&] { return out.size() < count; });
  return out;
}

namespace {

constexpr double kLeastShare = 0.05;  // a node without memory comes last, not never

// Each node's buckets share what the node's memory is worth.
std::vector<double> weightsOf(const std::vector<Bucket>& buckets, const CpuHints& hints) {
  std::map<int, double> count;
  for (const Bucket& bucket : buckets) count[bucket.cpus.front().node] += 1;
  std::vector<double> out;
  for (const Bucket& bucket : buckets) {
    const int node = bucket.cpus.front().node;
    const auto share = hints.memory.find(node);
    const double worth = hints.memory.empty()          ? 1
                         : share == hints.memory.end() ? kLeastShare
                                                       : std::max(share->second, kLeastShare);
    out.push_back(worth / count[node]);
  }
  return out;
}

// Takes from the bucket that is worth most per CPU it would then have given, while `more`.
template <class Take, class More>
void takeByWeight(std::vector<Bucket>& buckets, const std::vector<double>& weights,
                  std::vector<int>& out, Take take, More more) {
  std::vector<bool> spent(buckets.size(), false);
  while (more()) {
    size_t best = buckets.size();
    double most = -1;
    for (size_t i = 0; i < buckets.size(); ++i) {
      if (spent[i]) continue;
      const auto given = std::count(buckets[i].taken.begin(), buckets[i].taken.end(), true);
      const double worth = weights[i] / (static_cast<double>(given) + 1);
      if (worth > most) best = i, most = worth;
    }
    if (best == buckets.size()) return;
    spent[best] = !take(buckets[best], out);
  }
}

void pickByWeight(const Cpus& from, size_t count, const CpuHints& hints, std::vector<int>& out) {
  if (from.empty()) return;
  std::vector<Bucket> buckets = bucketsOf(from);
  const std::vector<double> weights = weightsOf(buckets, hints);
  const size_t end = std::min(out.size() + count, out.size() + from.size());
  takeByWeight(buckets, weights, out, takePair, [&] { return out.size() + 1 < end; });
  takeByWeight(buckets, weights, out, takeOne, [&] { return out.size() < end; });
}

}  // namespace

std::vector<int> pickCpus(const Cpus& from, size_t count, const CpuHints& hints) {
  if (hints.empty()) return pickCpus(from, count);
  if (count > from.size() || count == 0) return {};
  std::set<int> loudCores;
  for (const auto& cpu : from)
    if (hints.loud.contains(cpu.id)) loudCores.insert(cpu.core);
  Cpus quiet, loud;
  for (const auto& cpu : from) (loudCores.count(cpu.core) != 0 ? loud : quiet).push_back(cpu);
  std::vector<int> out;
  pickByWeight(quiet, count, hints, out);
  if (out.size() < count) pickByWeight(loud, count - out.size(), hints, out);
  return out;
}

size_t suppressCount(MilliCpu budget, size_t present, size_t processors) {
  const int64_t worth = budget.v <= 0 ? 0 : (budget.v + 999) / 1000;
  const size_t wanted = std::max(static_cast<size_t>(worth), kLeastCpus);
  const size_t growth = (processors + 9) / 10;
  return wanted > present + growth ? present + growth : wanted;
}

CpuSet suppressCpus(const SuppressCpus& in) {
  const Eligible may = eligible(in);
  const size_t all = may.lsr.size() + may.ls.size();
  if (all == 0) return {};
  // More than there are is all there are: an old set that overlaps foreign CPUs must never stay.
  const size_t count =
      std::min(suppressCount(in.budget, in.present.size(), in.machine.size()), all);
  size_t ofLsr = count * may.lsr.size() / all;
  size_t ofLs = count - ofLsr;
  if (ofLs > may.ls.size()) {
    ofLs = may.ls.size();
    ofLsr = count - ofLs;
  }
  return setOf(pickCpus(may.lsr, ofLsr, in.hints)) | setOf(pickCpus(may.ls, ofLs, in.hints));
}

CpuSet recoverCpus(const SuppressCpus& in) {
  CpuSet out;
  const Eligible may = eligible(in);
  for (const auto& list : {may.lsr, may.ls})
    for (const auto& cpu : list) out.add(cpu.id);
  return out;
}

}  // namespace mangrove::agent
