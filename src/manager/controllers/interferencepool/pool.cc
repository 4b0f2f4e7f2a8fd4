#include "manager/controllers/interferencepool/pool.h"

#include "json/value.h"

namespace mangrove::manager {

std::string FencePool::add(const api::InterferenceFences& fences, bool nodeIsThere, WallTime now) {
  const std::string name = fences.meta.name.str();
  if (fences.spec.node.empty()) {
    there_[name] = fences.spec.book;
    return "";
  }
  if (!nodeIsThere) {
    orphans_.insert(name);
    return "";
  }
  auto book = api::bookOf(fences);
  if (!book) return book.error().text();
  book->dropBefore(now - kForget);
  ++nodes_;
  for (const std::string& key : book->keys()) {
    Sum& sum = workloads_[key];
    sum.book.add(book->only(key));
    ++sum.nodes;
  }
  return "";
}

std::vector<PoolStep> FencePool::steps(WallTime now) const {
  std::vector<PoolStep> out;
  std::set<std::string> wanted;
  for (const auto& [key, sum] : workloads_) {
    PoolStep step;
    step.name = api::workloadFencesName(key);
    step.spec.workload = key;
    step.spec.nodes = sum.nodes;
    step.spec.book = json::write(sum.book.state());
    step.spec.updated = now;
    wanted.insert(step.name);
    const auto known = there_.find(step.name);
    if (known != there_.end() && known->second == step.spec.book) continue;
    step.kind = known == there_.end() ? PoolStep::Kind::kCreate : PoolStep::Kind::kPatch;
    out.push_back(std::move(step));
  }
  for (const auto& [name, text] : there_)
    if (wanted.count(name) == 0) out.push_back({PoolStep::Kind::kDelete, name});
  for (const std::string& name : orphans_) out.push_back({PoolStep::Kind::kDelete, name});
  return out;
}

}  // namespace mangrove::manager
