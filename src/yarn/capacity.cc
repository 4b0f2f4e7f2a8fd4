#include "yarn/capacity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace mangrove::yarn {
namespace {

constexpr double kSmall = 0.1;  // of what was told

// What Kubernetes keeps: what its pods have, and what they wait for up to its share.
int64_t kept(int64_t sold, int64_t has, int64_t waits, double share) {
  const auto own = static_cast<int64_t>(static_cast<double>(sold) * share);
  return std::max(has, std::min(has + waits, own));
}

bool isWorth(int64_t from, int64_t to, int64_t least) {
  const double difference = std::abs(static_cast<double>(to - from));
  return difference >= std::max(static_cast<double>(least), kSmall * static_cast<double>(from));
}

bool isBeyond(const Capacity& used, const Capacity& capacity) {
  return used.vcores > capacity.vcores || used.memoryMb > capacity.memoryMb;
}

// Time that containers beyond the capacity have left, from when they first were.
void setDrain(CapacityStep& step, const NodeReport& report, const Capacity& used, MonoTime now) {
  step.after.drainBy.reset();
  if (!isBeyond(used, step.to)) return;
  step.after.drainBy = report.drainBy.value_or(now + kDrainTime);
  step.overcommit = std::max(Duration::zero(), *step.after.drainBy - now);
}

}  // namespace

Capacity capacityOf(const NodeLedger& ledger, const CapacityOptions& options) {
  const double weights = options.kubernetesWeight + options.yarnWeight;
  const double share = weights > 0 ? options.kubernetesWeight / weights : 1;
  const int64_t cpu = ledger.sold.cpu.v -
                      kept(ledger.sold.cpu.v, ledger.kubernetes.cpu.v, ledger.waiting.cpu.v, share);
  const int64_t memory =
      ledger.sold.memory.v -
      kept(ledger.sold.memory.v, ledger.kubernetes.memory.v, ledger.waiting.memory.v, share);
  const int64_t step = std::max<int64_t>(options.memoryStepMb, 1);
  const double vcores =
      static_cast<double>(std::max<int64_t>(cpu, 0)) * options.vcoresPerCpu / 1000;
  return {static_cast<int64_t>(std::floor(vcores)),
          std::max<int64_t>(memory, 0) / kMiB.v / step * step};
}

std::optional<CapacityStep> nextStep(const NodeReport& report, const Capacity& wanted,
                                     const Capacity& used, MonoTime now) {
  const Capacity& told = report.told;
  const bool worthCpu = isWorth(told.vcores, wanted.vcores, 1);
  const bool worthMemory = isWorth(told.memoryMb, wanted.memoryMb, 512);
  const bool falls =
      (worthCpu && wanted.vcores < told.vcores) || (worthMemory && wanted.memoryMb < told.memoryMb);
  const bool rises =
      (worthCpu && wanted.vcores > told.vcores) || (worthMemory && wanted.memoryMb > told.memoryMb);
  const bool mayRise = !report.raisedAt || now - *report.raisedAt >= kRaiseEvery;
  if (!falls && !(rises && mayRise)) return std::nullopt;
  CapacityStep step{wanted, {}, report};
  if (!mayRise) {
    step.to.vcores = std::min(wanted.vcores, told.vcores);
    step.to.memoryMb = std::min(wanted.memoryMb, told.memoryMb);
  }
  const bool grew = step.to.vcores > told.vcores || step.to.memoryMb > told.memoryMb;
  step.after.told = step.to;
  if (grew) step.after.raisedAt = now;
  setDrain(step, report, used, now);
  return step;
}

NodeReport observed(NodeReport report, const Capacity& total, const Capacity& used) {
  const bool forgot = total.vcores < report.told.vcores || total.memoryMb < report.told.memoryMb;
  if (forgot) report.raisedAt.reset();
  report.told = total;
  if (!isBeyond(used, total)) report.drainBy.reset();
  return report;
}

std::vector<size_t> beyond(std::span<const Container> containers, const Capacity& capacity) {
  std::vector<size_t> order(containers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Container &x = containers[a], &y = containers[b];
    return std::tuple(x.isMaster, y.started) < std::tuple(y.isMaster, x.started);
  });
  Capacity used;
  for (const Container& one : containers) {
    used.vcores += one.uses.vcores;
    used.memoryMb += one.uses.memoryMb;
  }
  std::vector<size_t> out;
  for (const size_t i : order) {
    if (!isBeyond(used, capacity)) break;
    used.vcores -= containers[i].uses.vcores;
    used.memoryMb -= containers[i].uses.memoryMb;
    out.push_back(i);
  }
  return out;
}

}  // namespace mangrove::yarn
