#include "placement/cycle/packing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "placement/cycle/packing_search.h"

namespace mangrove::placement {

namespace {

bool fitsAlone(const PackingTask& task, const PackingKind& kind, size_t bin) {
  if (kind.allowed[bin] == 0) return false;
  for (size_t r = 0; r < kind.amounts.size(); r++)
    if (kind.amounts[r] > std::max<int64_t>(task.free[bin][r], 0)) return false;
  return true;
}

bool hasBin(const PackingTask& task, const PackingKind& kind) {
  for (size_t bin = 0; bin < task.free.size(); bin++)
    if (fitsAlone(task, kind, bin)) return true;
  return false;
}

// Items of each part that have a bin at all, by kind.
std::vector<std::vector<size_t>> placeable(const PackingTask& task) {
  std::vector<bool> has;
  for (const PackingKind& kind : task.kinds) has.push_back(hasBin(task, kind));
  std::vector<std::vector<size_t>> out(task.needed.size());
  for (const PackingItem& item : task.items)
    if (has[item.kind]) out[item.part].push_back(item.kind);
  return out;
}

// The least that the needed items take of one resource, the largest first.
std::vector<int64_t> leastAmounts(const PackingTask& task,
                                  const std::vector<std::vector<size_t>>& parts, size_t resource) {
  std::vector<int64_t> out;
  for (size_t part = 0; part < parts.size(); part++) {
    std::vector<int64_t> amounts;
    for (size_t kind : parts[part]) amounts.push_back(task.kinds[kind].amounts[resource]);
    std::sort(amounts.begin(), amounts.end());
    out.insert(out.end(), amounts.begin(),
               amounts.begin() + static_cast<ptrdiff_t>(task.needed[part]));
  }
  std::sort(out.begin(), out.end(), std::greater<>());
  return out;
}

// Whether so many items of at least this amount are more than the bins hold, each for itself.
bool areTooMany(const std::vector<int64_t>& free, int64_t amount, int64_t items) {
  int64_t places = 0;
  for (size_t i = 0; i < free.size() && free[i] >= amount && places < items; i++)
    places += free[i] / amount;
  return places < items;
}

// What is larger than a bin must find room in the others. Both are sorted, the largest first.
bool isTooMuchOf(const std::vector<int64_t>& asked, const std::vector<int64_t>& free) {
  int64_t sumAsked = 0, sumFree = 0;
  size_t bins = 0;
  for (size_t i = 0; i < asked.size() && asked[i] > 0; i++) {
    for (; bins < free.size() && free[bins] >= asked[i]; bins++) sumFree += free[bins];
    sumAsked += asked[i];
    if (sumAsked > sumFree) return true;
    const bool isLastOfEquals = i + 1 == asked.size() || asked[i + 1] != asked[i];
    if (isLastOfEquals && areTooMany(free, asked[i], static_cast<int64_t>(i + 1))) return true;
  }
  return false;
}

// The task without what decides nothing: resources of which there is enough for all in each bin,
// bins that take nobody. Those whom their part does not need may go to a bin of its own, which
// holds any amounts but only so many items.
class Reduction {
 public:
  explicit Reduction(const PackingTask& task) : task_(task) {
    countSurplus();
    chooseResources();
    chooseBins();
    chooseKinds();
  }

  // Of the resources that decide, and of counting who is left over.
  size_t width() const { return resources_.size() + (hasSurplus_ ? 1 : 0); }

  template <size_t W>
  std::optional<std::vector<size_t>> search(size_t& budget, uint64_t seed) const {
    if (!allHaveBins()) return std::nullopt;
    BinSearch<W> search(free<W>(), kinds<W>(), kindOf_, seed);
    if (!search.run(budget)) return std::nullopt;
    std::vector<size_t> out;
    for (uint32_t bin : search.bins()) out.push_back(bin < bins_.size() ? bins_[bin] : kNoBin);
    return out;
  }

 private:
  void countSurplus() {
    surplus_.assign(task_.needed.size(), 0);
    for (const PackingItem& item : task_.items) surplus_[item.part]++;
    for (size_t part = 0; part < surplus_.size(); part++)
      surplus_[part] -= std::min(surplus_[part], task_.needed[part]);
    hasSurplus_ = std::any_of(surplus_.begin(), surplus_.end(), [](size_t n) { return n > 0; });
  }

  void chooseResources() {
    const size_t resources = task_.kinds.empty() ? 0 : task_.kinds.front().amounts.size();
    for (size_t r = 0; r < resources; r++) {
      int64_t sum = 0;
      for (const PackingItem& item : task_.items) sum += task_.kinds[item.kind].amounts[r];
      const bool decides = std::any_of(task_.free.begin(), task_.free.end(),
                                       [&](const auto& free) { return free[r] < sum; });
      if (decides) resources_.push_back(r), sums_.push_back(sum);
    }
  }

  void chooseBins() {
    for (size_t bin = 0; bin < task_.free.size(); bin++)
      if (std::any_of(task_.kinds.begin(), task_.kinds.end(),
                      [&](const PackingKind& kind) { return fitsAlone(task_, kind, bin); }))
        bins_.push_back(bin);
    for (size_t part = 0; part < surplus_.size(); part++)
      if (surplus_[part] > 0) outside_.push_back(part);
  }

  // Equal items of different parts differ where they can be left over.
  void chooseKinds() {
    std::map<std::pair<size_t, size_t>, uint32_t> known;
    for (const PackingItem& item : task_.items) {
      const std::pair<size_t, size_t> key{item.kind, hasSurplus_ ? item.part : 0};
      const auto [at, isNew] = known.emplace(key, static_cast<uint32_t>(kinds_.size()));
      if (isNew) kinds_.push_back(item);
      kindOf_.push_back(at->second);
    }
  }

  std::vector<uint8_t> allowed(const PackingItem& item) const {
    std::vector<uint8_t> out;
    for (size_t bin : bins_) out.push_back(fitsAlone(task_, task_.kinds[item.kind], bin));
    for (size_t part : outside_) out.push_back(part == item.part);
    return out;
  }
  bool allHaveBins() const {
    return std::all_of(kinds_.begin(), kinds_.end(), [&](const PackingItem& item) {
      return surplus_[item.part] > 0 || hasBin(task_, task_.kinds[item.kind]);
    });
  }

  // More than all items together is as good as that.
  template <size_t W>
  std::vector<BinAmounts<W>> free() const {
    BinAmounts<W> all{};
    for (size_t i = 0; i < sums_.size(); i++) all[i] = static_cast<double>(sums_[i]);
    for (size_t i = sums_.size(); i < W; i++) all[i] = static_cast<double>(task_.items.size());
    std::vector<BinAmounts<W>> out(bins_.size() + outside_.size(), all);
    for (size_t bin = 0; bin < bins_.size(); bin++)
      for (size_t i = 0; i < resources_.size(); i++)
        out[bin][i] =
            std::clamp(static_cast<double>(task_.free[bins_[bin]][resources_[i]]), 0.0, all[i]);
    for (size_t i = 0; i < outside_.size(); i++)
      out[bins_.size() + i][sums_.size()] = static_cast<double>(surplus_[outside_[i]]);
    return out;
  }

  template <size_t W>
  std::vector<SearchKind<W>> kinds() const {
    std::vector<SearchKind<W>> out;
    for (const PackingItem& item : kinds_) {
      SearchKind<W> kind{{}, allowed(item)};
      for (size_t i = 0; i < resources_.size(); i++)
        kind.amounts[i] = static_cast<double>(task_.kinds[item.kind].amounts[resources_[i]]);
      if (hasSurplus_) kind.amounts[resources_.size()] = 1;
      out.push_back(std::move(kind));
    }
    return out;
  }

  const PackingTask& task_;
  std::vector<size_t> surplus_;  // by part: items beyond the need
  bool hasSurplus_ = false;
  std::vector<size_t> resources_;  // that decide
  std::vector<int64_t> sums_;      // of them, over all items
  std::vector<size_t> bins_;       // that take somebody
  std::vector<size_t> outside_;    // parts that can leave somebody over
  std::vector<PackingItem> kinds_;
  std::vector<uint32_t> kindOf_;  // by item
};

}  // namespace

bool isTooMuch(const PackingTask& task) {
  const auto parts = placeable(task);
  for (size_t part = 0; part < parts.size(); part++)
    if (parts[part].size() < task.needed[part]) return true;
  const size_t resources = task.kinds.empty() ? 0 : task.kinds.front().amounts.size();
  for (size_t r = 0; r < resources; r++) {
    std::vector<int64_t> free;
    for (const auto& bin : task.free) free.push_back(std::max<int64_t>(bin[r], 0));
    std::sort(free.begin(), free.end(), std::greater<>());
    if (isTooMuchOf(leastAmounts(task, parts, r), free)) return true;
  }
  return false;
}

size_t exchangesAfter(int32_t failures) {
  constexpr size_t kAtFirst = 6'000'000;
  constexpr int32_t kMostHalvings = 6;
  return kAtFirst >> std::clamp(failures, 0, kMostHalvings);
}

std::optional<std::vector<size_t>> pack(const PackingTask& task, size_t& budget, uint64_t seed) {
  if (isTooMuch(task)) return std::nullopt;
  const Reduction reduced(task);
  switch (reduced.width()) {
    case 0:
    case 1:
    case 2:
      return reduced.search<2>(budget, seed);
    case 3:
      return reduced.search<3>(budget, seed);
    case 4:
      return reduced.search<4>(budget, seed);
    case 5:
    case 6:
      return reduced.search<6>(budget, seed);
    case 7:
    case 8:
      return reduced.search<8>(budget, seed);
    default:
      return std::nullopt;  // nobody has seen so many scarce resources at once
  }
}

}  // namespace mangrove::placement
