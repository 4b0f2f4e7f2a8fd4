#include "placement/device/partitions.h"

#include <algorithm>
#include <array>
#include <functional>

namespace mangrove::placement {
namespace {

using Minors = std::set<int64_t>;
using ByScore = std::map<int64_t, std::vector<const api::GpuPartition*>, std::greater<>>;

ByScore byScore(const std::vector<api::GpuPartition>& partitions) {
  ByScore out;
  for (const api::GpuPartition& one : partitions) out[one.allocationScore].push_back(&one);
  return out;
}

bool apart(const api::GpuPartition& partition, const Minors& minors) {
  return std::none_of(partition.minors.begin(), partition.minors.end(),
                      [&](int64_t minor) { return minors.contains(minor); });
}

class PartitionChoice {
 public:
  explicit PartitionChoice(const PartitionQuestion& question) : question_(question) {
    for (const Card& card : question.all)
      if (card.inUse()) used_.insert(card.minor);
    for (const Card* card : question.visible)
      if (!card->total.empty()) healthy_[card->minor] = card;
  }

  // nullptr: none can be used.
  const api::GpuPartition* best(int size, const std::vector<api::GpuPartition>& partitions) const {
    const bool restricted = question_.spec && question_.spec->allocatePolicy == "Restricted";
    for (const auto& [score, group] : byScore(partitions)) {
      if (const api::GpuPartition* found = bestOf(size, group)) return found;
      if (restricted) return nullptr;
    }
    return nullptr;
  }
  DevicePicks picks(const api::GpuPartition& partition, const Amounts& each) const {
    DevicePicks out;
    for (int64_t minor : partition.minors) out.push_back(pickOf(*healthy_.at(minor), each));
    return out;
  }

 private:
  bool usable(const api::GpuPartition& one) const {
    if (question_.spec && question_.spec->ringBusBandwidth &&
        (!one.ringBusBandwidth || *one.ringBusBandwidth < *question_.spec->ringBusBandwidth))
      return false;
    return apart(one, used_) &&
           std::all_of(one.minors.begin(), one.minors.end(),
                       [&](int64_t minor) { return healthy_.contains(minor); });
  }

  const api::GpuPartition* bestOf(int size,
                                  const std::vector<const api::GpuPartition*>& group) const {
    const api::GpuPartition* best = nullptr;
    int64_t most = 0;
    for (const api::GpuPartition* one : group) {
      if (!usable(*one)) continue;
      const int64_t left = leftAfter(size, *one);
      if (!best || left > most) best = one, most = left;
    }
    return best;
  }

  // The worth of the partitions that stay free: one of eight cards outweighs any of four, and so
  // on. Whether a card is healthy is not asked: it may come back.
  int64_t leftAfter(int size, const api::GpuPartition& chosen) const {
    static constexpr std::array<std::pair<int, int64_t>, 3> kWeights = {
        {{8, 10000}, {4, 100}, {2, 1}}};
    Minors taken = used_;
    taken.insert(chosen.minors.begin(), chosen.minors.end());
    int64_t sum = 0;
    for (const auto& [cards, weight] : kWeights) {
      const auto at = question_.table.bySize.find(cards);
      if (cards < size || at == question_.table.bySize.end() || at->second.empty()) continue;
      const ByScore groups = byScore(at->second);
      for (const api::GpuPartition* one : groups.begin()->second)
        if (apart(*one, taken)) sum += weight * one->allocationScore;
    }
    return sum;
  }

  const PartitionQuestion& question_;
  Minors used_;
  std::map<int64_t, const Card*> healthy_;
};

api::GpuPartitionTable halvedEight() {
  api::GpuPartitionTable out;
  for (int size : {1, 2, 4, 8})
    for (int first = 0; first < 8; first += size) {
      api::GpuPartition one;
      for (int minor = first; minor < first + size; ++minor) one.minors.push_back(minor);
      one.gpuLinkType = "NVLink";
      one.allocationScore = 1;
      out.bySize[size].push_back(std::move(one));
    }
  return out;
}

}  // namespace

std::optional<api::GpuPartitionTable> builtInPartitions(std::string_view vendor,
                                                        std::string_view model) {
  static constexpr std::array<std::string_view, 3> kModels = {"H100", "H800", "H20"};
  if (!vendor.empty() && vendor != "nvidia") return std::nullopt;
  if (std::find(kModels.begin(), kModels.end(), model) == kModels.end()) return std::nullopt;
  return halvedEight();
}

Picked pickPartition(const PartitionQuestion& question, int64_t count, const Amounts& each) {
  const auto at = count > 1024 ? question.table.bySize.end()
                               : question.table.bySize.find(static_cast<int>(count));
  if (at == question.table.bySize.end())
    return shortOf("node(s) Unsupported number of GPU requests", true);
  const PartitionChoice choice(question);
  const api::GpuPartition* best = choice.best(at->first, at->second);
  if (!best) return shortOf("Insufficient Partitioned GPU Devices");
  return choice.picks(*best, each);
}

}  // namespace mangrove::placement
