#include <algorithm>

#include "api/annotations/cpu.h"
#include "placement/plugins/numa/accumulator.h"

namespace mangrove::placement {

BindPolicy bindPolicyOf(std::string_view word) {
  if (word == api::cpu_bind::kFullPcpus) return BindPolicy::kFullPcpus;
  if (word == api::cpu_bind::kSpreadByPcpus) return BindPolicy::kSpreadByPcpus;
  if (word == api::cpu_bind::kConstrainedBurst) return BindPolicy::kConstrainedBurst;
  return BindPolicy::kNone;
}

std::string_view bindPolicyName(BindPolicy policy) {
  switch (policy) {
    case BindPolicy::kFullPcpus:
      return api::cpu_bind::kFullPcpus;
    case BindPolicy::kSpreadByPcpus:
      return api::cpu_bind::kSpreadByPcpus;
    case BindPolicy::kConstrainedBurst:
      return api::cpu_bind::kConstrainedBurst;
    case BindPolicy::kNone:
      break;
  }
  return "";
}

Exclusive exclusiveOf(std::string_view word) {
  if (word == "PCPULevel") return Exclusive::kPcpuLevel;
  if (word == "NUMANodeLevel") return Exclusive::kNumaNodeLevel;
  return Exclusive::kNone;
}

void CpuBooks::add(const CpuSet& cpus, Exclusive exclusive) {
  for (int cpu : cpus) {
    if (static_cast<size_t>(cpu) >= uses_.size()) uses_.resize(static_cast<size_t>(cpu) + 1);
    uses_[static_cast<size_t>(cpu)].refs++;
    uses_[static_cast<size_t>(cpu)].alone[static_cast<size_t>(exclusive)]++;
  }
}

void CpuBooks::remove(const CpuSet& cpus, Exclusive exclusive) {
  for (int cpu : cpus) {
    if (static_cast<size_t>(cpu) >= uses_.size()) continue;
    Use& use = uses_[static_cast<size_t>(cpu)];
    if (use.refs > 0) use.refs--;
    int& alone = use.alone[static_cast<size_t>(exclusive)];
    if (alone > 0) alone--;
  }
}

CpuBooks CpuBooks::without(const CpuSet& cpus) const {
  CpuBooks out = *this;
  for (int cpu : cpus) {
    if (static_cast<size_t>(cpu) >= out.uses_.size()) continue;
    Use& use = out.uses_[static_cast<size_t>(cpu)];
    if (use.refs > 0 && --use.refs == 0) use = Use();
  }
  return out;
}

int CpuBooks::refCount(int cpu) const {
  return static_cast<size_t>(cpu) < uses_.size() ? uses_[static_cast<size_t>(cpu)].refs : 0;
}

CpuSet CpuBooks::available(const CpuSet& reserved) const {
  CpuSet out = layout_->all() - reserved;
  for (size_t cpu = 0; cpu < uses_.size(); cpu++)
    if (uses_[cpu].refs >= maxRefCount_) out.remove(static_cast<int>(cpu));
  return out;
}

CpuSet CpuBooks::taken() const {
  CpuSet out;
  for (size_t cpu = 0; cpu < uses_.size(); cpu++)
    if (uses_[cpu].refs > 0) out.add(static_cast<int>(cpu));
  return out;
}

bool CpuBooks::coreIsExclusive(int core) const {
  return std::any_of(layout_->cpus().begin(), layout_->cpus().end(), [&](const auto& cpu) {
    return cpu.core == core && static_cast<size_t>(cpu.id) < uses_.size() &&
           uses_[static_cast<size_t>(cpu.id)].alone[static_cast<size_t>(Exclusive::kPcpuLevel)] > 0;
  });
}

bool CpuBooks::nodeIsExclusive(int node) const {
  return std::any_of(layout_->cpus().begin(), layout_->cpus().end(), [&](const auto& cpu) {
    return cpu.node == node && static_cast<size_t>(cpu.id) < uses_.size() &&
           uses_[static_cast<size_t>(cpu.id)]
                   .alone[static_cast<size_t>(Exclusive::kNumaNodeLevel)] > 0;
  });
}

}  // namespace mangrove::placement
