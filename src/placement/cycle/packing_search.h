#pragma once
// The search behind pack(): every item lies in some bin from the start, overfull ones are mended
// by exchanges. Each step takes a bin that is too full and does the best of all exchanges with
// another one: a move, a swap, up to two against two, all against all. Where nothing helps, what
// overflows is weighed more, so that the next steps solve it at the cost of something else
// (breakout), and what has just left a bin does not come back at once (tabu).
//
//   BinSearch<2> search(bins, kinds, items, seed);
//   if (search.run(budget)) search.bins();

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "base/number/rng.h"

namespace mangrove::placement {

// Amounts are whole numbers below 2^53: their sums are exact.
template <size_t W>
using BinAmounts = std::array<double, W>;

template <size_t W>
struct SearchKind {
  BinAmounts<W> amounts{};
  std::vector<uint8_t> allowed;  // by bin
};

template <size_t W>
class BinSearch {
 public:
  BinSearch(std::vector<BinAmounts<W>> free, std::vector<SearchKind<W>> kinds,
            std::vector<uint32_t> kindOf, uint64_t seed)
      : free_(std::move(free)),
        kinds_(std::move(kinds)),
        kindOf_(std::move(kindOf)),
        on_(free_.size()),
        cost_(free_.size()),
        at_(kindOf_.size()),
        left_(kindOf_.size()),
        rng_(seed) {
    scale();
  }

  // Whether it found bins for all; counts what it looks at.
  bool run(size_t& budget) {
    for (size_t starts = 0; budget >= at_.size() * on_.size(); starts++) {
      budget -= at_.size() * on_.size();
      start(starts > 0);
      const size_t patience = kPatience << starts % kLonger;
      for (step_ = 1; step_ <= patience; step_++) {
        gatherOverfull();
        if (overfull_.empty()) return true;
        if (budget == 0) return false;
        mend(overfull_[rng_.below(overfull_.size())]);
        budget -= std::min(budget, looks_);
      }
    }
    return false;
  }
  const std::vector<uint32_t>& bins() const { return at_; }

 private:
  // Steps after which another start may be better; some tasks want many starts, others long ones.
  static constexpr size_t kPatience = 2000, kLonger = 4;
  // Products of contents beyond which two at a time are too many, and not needed.
  static constexpr size_t kPairs = 64;
  using Items = std::vector<uint32_t>;
  struct Left {
    uint32_t bin = 0;
    size_t until = 0;  // step
  };
  struct Exchange {  // items that change places; none: all of the bin
    double gain = 0;
    uint32_t other = 0;  // bin
    bool isWhole = false;
    std::array<uint32_t, 2> out{}, in{};
    uint8_t outs = 0, ins = 0;
  };

  const BinAmounts<W>& amountsOf(uint32_t item) const { return kinds_[kindOf_[item]].amounts; }
  bool mayGo(uint32_t item, uint32_t bin) const {
    return kinds_[kindOf_[item]].allowed[bin] != 0 &&
           (left_[item].bin != bin || left_[item].until < step_);
  }

  // A bin of the mean size counts as one, whatever its resource is counted in.
  void scale() {
    for (size_t r = 0; r < W; r++) {
      double sum = 0;
      for (const auto& kind : kindOf_) sum += kinds_[kind].amounts[r];
      scale_[r] = sum > 0 ? static_cast<double>(free_.size()) / sum : 0;
    }
  }
  double sizeOf(const BinAmounts<W>& amounts) const {
    return std::inner_product(amounts.begin(), amounts.end(), scale_.begin(), 0.0);
  }

  static BinAmounts<W> sum(const BinAmounts<W>& a, const BinAmounts<W>& b) {
    BinAmounts<W> out;
    for (size_t r = 0; r < W; r++) out[r] = a[r] + b[r];
    return out;
  }
  static BinAmounts<W> difference(const BinAmounts<W>& a, const BinAmounts<W>& b) {
    BinAmounts<W> out;
    for (size_t r = 0; r < W; r++) out[r] = a[r] - b[r];
    return out;
  }
  double overflow(uint32_t bin, const BinAmounts<W>& room) const {
    double cost = 0;
    for (size_t r = 0; r < W; r++) cost += weights_[bin][r] * std::max(0.0, -room[r]);
    return cost;
  }

  void put(uint32_t item, uint32_t bin) {
    at_[item] = bin;
    on_[bin].push_back(item);
    room_[bin] = difference(room_[bin], amountsOf(item));
  }
  void take(uint32_t item) {
    Items& items = on_[at_[item]];
    items.erase(std::find(items.begin(), items.end(), item));
    room_[at_[item]] = sum(room_[at_[item]], amountsOf(item));
  }

  // The largest first, each where it overflows least and then where least is left.
  void start(bool shuffled) {
    room_ = free_;
    weights_.assign(free_.size(), scale_);
    for (Items& items : on_) items.clear();
    std::fill(left_.begin(), left_.end(), Left{});
    std::vector<std::pair<double, uint32_t>> order;
    for (uint32_t item = 0; item < at_.size(); item++)
      order.emplace_back(-sizeOf(amountsOf(item)) * (shuffled ? 0.7 + 0.6 * rng_.unit() : 1), item);
    std::sort(order.begin(), order.end());
    for (const auto& [size, item] : order) put(item, bestStart(item));
    for (uint32_t bin = 0; bin < on_.size(); bin++) cost_[bin] = overflow(bin, room_[bin]);
  }
  uint32_t bestStart(uint32_t item) const {
    uint32_t best = 0;
    std::pair<double, double> least{1e300, 0};
    for (uint32_t bin = 0; bin < on_.size(); bin++) {
      if (!kinds_[kindOf_[item]].allowed[bin]) continue;
      const BinAmounts<W> room = difference(room_[bin], amountsOf(item));
      const std::pair<double, double> key{overflow(bin, room) - overflow(bin, room_[bin]),
                                          sizeOf(room)};
      if (key < least) least = key, best = bin;
    }
    return best;
  }

  void gatherOverfull() {
    overfull_.clear();
    for (uint32_t bin = 0; bin < cost_.size(); bin++)
      if (cost_[bin] > 0) overfull_.push_back(bin);
  }

  void mend(uint32_t bin) {
    looks_ = on_.size();
    best_ = Exchange{1e300};
    const auto first = static_cast<uint32_t>(rng_.below(on_.size()));
    for (uint32_t i = 0; i < on_.size(); i++) {
      const uint32_t other = first + i < on_.size() ? first + i : first + i - on_.size();
      if (other != bin) lookAt(bin, other);
    }
    if (best_.gain == 1e300) return;
    if (best_.gain >= 0) weighMore();
    apply(bin);
  }

  void lookAt(uint32_t bin, uint32_t other) {
    const bool pairs = on_[bin].size() * on_[other].size() <= kPairs;
    for (size_t i = 0; i < on_[bin].size(); i++) {
      const uint32_t out = on_[bin][i];
      if (!mayGo(out, other)) continue;
      consider(bin, amountsOf(out), {0, other, false, {out}, {}, 1, 0});
      for (size_t j = 0; j < on_[other].size(); j++) {
        const uint32_t in = on_[other][j];
        if (!mayGo(in, bin)) continue;
        const BinAmounts<W> moved = difference(amountsOf(out), amountsOf(in));
        consider(bin, moved, {0, other, false, {out}, {in}, 1, 1});
        if (pairs) lookAtPairs(bin, other, i, j, moved);
      }
    }
    if (on_[other].size() > 0 && std::max(on_[bin].size(), on_[other].size()) > 2)
      lookAtWhole(bin, other);
  }
  // Two against one, one against two, two against two, with the first of each given.
  void lookAtPairs(uint32_t bin, uint32_t other, size_t i, size_t j, const BinAmounts<W>& moved) {
    const uint32_t out = on_[bin][i], in = on_[other][j];
    for (size_t k = i + 1; k < on_[bin].size(); k++) {
      const uint32_t second = on_[bin][k];
      if (!mayGo(second, other)) continue;
      const BinAmounts<W> both = sum(moved, amountsOf(second));
      consider(bin, both, {0, other, false, {out, second}, {in}, 2, 1});
      lookAtSecond(bin, other, j, both, {0, other, false, {out, second}, {in}, 2, 2});
    }
    lookAtSecond(bin, other, j, moved, {0, other, false, {out}, {in}, 1, 2});
  }
  void lookAtSecond(uint32_t bin, uint32_t other, size_t j, const BinAmounts<W>& moved,
                    Exchange exchange) {
    for (size_t k = j + 1; k < on_[other].size(); k++) {
      exchange.in[1] = on_[other][k];
      if (mayGo(exchange.in[1], bin))
        consider(bin, difference(moved, amountsOf(exchange.in[1])), exchange);
    }
  }
  void lookAtWhole(uint32_t bin, uint32_t other) {
    for (uint32_t item : on_[bin])
      if (!mayGo(item, other)) return;
    for (uint32_t item : on_[other])
      if (!mayGo(item, bin)) return;
    const BinAmounts<W> loads =
        difference(difference(free_[bin], room_[bin]), difference(free_[other], room_[other]));
    consider(bin, loads, {0, other, true});
  }

  // All of a bin against all of an equal one changes names only: what is overfull would wander to
  // whichever bin weighs least, and seem to get better.
  bool isRenaming(uint32_t bin, const Exchange& exchange) const {
    const bool isAll = exchange.isWhole || (exchange.outs == on_[bin].size() &&
                                            exchange.ins == on_[exchange.other].size());
    return isAll && free_[bin] == free_[exchange.other];
  }

  void consider(uint32_t bin, const BinAmounts<W>& moved, const Exchange& exchange) {
    looks_++;
    if (isRenaming(bin, exchange)) return;
    const double before = cost_[bin] + cost_[exchange.other];
    double gain = overflow(bin, sum(room_[bin], moved)) - before;
    if (gain >= best_.gain) return;
    gain += overflow(exchange.other, difference(room_[exchange.other], moved));
    if (gain >= best_.gain) return;
    best_ = exchange;
    best_.gain = gain;
  }

  void weighMore() {
    for (uint32_t bin : overfull_) {
      for (size_t r = 0; r < W; r++)
        if (room_[bin][r] < 0) weights_[bin][r] += scale_[r];
      cost_[bin] = overflow(bin, room_[bin]);
    }
  }

  void apply(uint32_t bin) {
    Items out(best_.out.begin(), best_.out.begin() + best_.outs);
    Items in(best_.in.begin(), best_.in.begin() + best_.ins);
    if (best_.isWhole) out = on_[bin], in = on_[best_.other];
    for (uint32_t item : out) carry(item, best_.other);
    for (uint32_t item : in) carry(item, bin);
    cost_[bin] = overflow(bin, room_[bin]);
    cost_[best_.other] = overflow(best_.other, room_[best_.other]);
  }
  void carry(uint32_t item, uint32_t to) {
    left_[item] = {at_[item], step_ + 2 + rng_.below(5)};
    take(item);
    put(item, to);
  }

  std::vector<BinAmounts<W>> free_;
  std::vector<SearchKind<W>> kinds_;
  std::vector<uint32_t> kindOf_;  // by item
  BinAmounts<W> scale_{};
  std::vector<BinAmounts<W>> room_, weights_;  // by bin
  std::vector<Items> on_;
  std::vector<double> cost_;
  std::vector<uint32_t> at_;  // by item
  std::vector<Left> left_;
  std::vector<uint32_t> overfull_;
  Exchange best_;
  size_t step_ = 0, looks_ = 0;
  Rng rng_;
};

}  // namespace mangrove::placement
