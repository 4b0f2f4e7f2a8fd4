#include "placement/quota/split.h"

#include <algorithm>

#include "base/number/int128.h"
#include "placement/quota/amounts.h"

namespace mangrove::placement {

namespace {

int64_t floorOf(const Share& child) {
  return child.request <= child.floor && child.lends ? child.request : child.floor;
}

// The +1 for those with the largest remainders; `residual` is less than the number of children.
void giveResidual(int64_t residual, const std::vector<Int128>& remainders,
                  std::span<const int64_t> weights, std::vector<size_t>& order,
                  std::vector<int64_t>& out) {
  if (residual <= 0) return;
  order.clear();
  for (size_t i = 0; i < weights.size(); i++)
    if (weights[i] > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  for (size_t i = 0; i < order.size() && residual > 0; i++, residual--) out[order[i]]++;
}

void divide(int64_t amount, std::span<const int64_t> weights, std::vector<Int128>& remainders,
            std::vector<size_t>& order, std::vector<int64_t>& out) {
  out.assign(weights.size(), 0);
  remainders.assign(weights.size(), 0);
  Int128 sum = 0;
  for (int64_t weight : weights) sum += std::max<int64_t>(weight, 0);
  if (sum == 0 || amount <= 0) return;
  int64_t given = 0;
  for (size_t i = 0; i < weights.size(); i++) {
    if (weights[i] <= 0) continue;
    const Int128 product = static_cast<Int128>(weights[i]) * amount;  // below 2^126
    out[i] = static_cast<int64_t>(product / sum);
    remainders[i] = product - sum * out[i];
    given += out[i];
  }
  giveResidual(amount - given, remainders, weights, order, out);
}

bool anyWeight(const std::vector<int64_t>& weights) {
  return std::any_of(weights.begin(), weights.end(), [](int64_t weight) { return weight > 0; });
}

}  // namespace

std::vector<int64_t> proportional(int64_t amount, std::span<const int64_t> weights) {
  std::vector<int64_t> out;
  std::vector<Int128> remainders;
  std::vector<size_t> order;
  divide(amount, weights, remainders, order, out);
  return out;
}

int64_t satedBy(const Share& child) {
  if (child.request <= child.floor) return child.lends ? child.request : child.floor;
  return child.weight > 0 ? child.request : child.floor;
}

std::vector<int64_t> waterFill(int64_t total, std::span<const Share> children) {
  WaterFill fill;
  const auto parts = fill(total, children);
  return {parts.begin(), parts.end()};
}

std::span<const int64_t> WaterFill::operator()(int64_t total, std::span<const Share> children) {
  runtime_.resize(children.size());
  weights_.clear();  // of those that ask for more
  asking_.clear();
  int64_t left = total;
  for (size_t i = 0; i < children.size(); i++) {
    runtime_[i] = floorOf(children[i]);
    left = saturatingDifference(left, runtime_[i]);
    if (children[i].request <= children[i].floor) continue;
    asking_.push_back(i);
    weights_.push_back(children[i].weight);
  }
  while (left > 0 && anyWeight(weights_)) {
    divide(left, weights_, remainders_, order_, parts_);
    left = 0;
    size_t kept = 0;
    for (size_t i = 0; i < asking_.size(); i++) {
      const Share& child = children[asking_[i]];
      int64_t& has = runtime_[asking_[i]];
      has = saturatingSum(has, parts_[i]);
      if (has >= child.request) {  // the surplus is for the next round
        left += has - child.request;
        has = child.request;
        continue;
      }
      asking_[kept] = asking_[i];
      weights_[kept++] = child.weight;
    }
    asking_.resize(kept);
    weights_.resize(kept);
  }
  return runtime_;
}

std::vector<int64_t> scaledMins(int64_t total, std::span<const MinShare> children) {
  std::vector<int64_t> out;
  int64_t sum = 0, fixed = 0;
  for (const MinShare& child : children) {
    out.push_back(child.min);
    sum = saturatingSum(sum, child.min);
    if (!child.scales) fixed = saturatingSum(fixed, child.min);
  }
  if (total >= sum) return out;
  const Int128 left = std::max<int64_t>(saturatingDifference(total, fixed), 0);
  const int64_t weights = saturatingDifference(sum, fixed);
  for (size_t i = 0; i < children.size(); i++)
    if (children[i].scales)
      out[i] = weights == 0 ? 0 : static_cast<int64_t>(left * children[i].min / weights);
  return out;
}

}  // namespace mangrove::placement
