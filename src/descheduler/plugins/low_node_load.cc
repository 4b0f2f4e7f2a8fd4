#include "descheduler/plugins/low_node_load.h"

#include <algorithm>
#include <map>

#include "base/os/log.h"
#include "descheduler/plugins/load_pass.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

void append(NodeLoads& to, const NodeLoads& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

// The nodes of a pool by class, and those of the hot ones that are hot for long enough.
struct LowNodeLoad::Sorted {
  std::map<LoadClass, NodeLoads> by;
  NodeLoads abnormal;
  NodeLoads abnormalProd;

  explicit Sorted(std::vector<NodeLoad>& nodes) {
    for (NodeLoad& node : nodes) by[classOf(node)].push_back(&node);
  }
  NodeLoads lows(LoadClass own) {
    NodeLoads out = by[own];
    append(out, by[LoadClass::kBothLow]);
    return out;
  }
  size_t lowCount() {
    return by[LoadClass::kLow].size() + by[LoadClass::kProdLow].size() +
           by[LoadClass::kBothLow].size();
  }
};

LowNodeLoad::LowNodeLoad(LowNodeLoadArgs args)
    : args_(std::move(args)),
      nodeDetectors_(args_.detectorTtl),
      prodDetectors_(args_.detectorTtl) {}

// Every node that was judged is marked, hot or calm, so that "in a row" means what it says.
void LowNodeLoad::observe(const LoadPool& pool, Sorted& sorted, MonoTime now) {
  nodeDetectors_.forgetOld(now);
  prodDetectors_.forgetOld(now);
  for (auto& [kind, nodes] : sorted.by) {
    for (NodeLoad* node : nodes) {
      if (kind != LoadClass::kHigh) nodeDetectors_.observeCalm(node->name(), now);
      if (kind != LoadClass::kHigh && kind != LoadClass::kProdHigh) {
        prodDetectors_.observeCalm(node->name(), now);
      }
    }
  }
  for (NodeLoad* node : sorted.by[LoadClass::kHigh]) {
    if (nodeDetectors_.observeHot(node->name(), pool.anomaly, now)) sorted.abnormal.push_back(node);
  }
  for (NodeLoad* node : sorted.by[LoadClass::kProdHigh]) {
    if (prodDetectors_.observeHot(node->name(), pool.anomaly, now)) {
      sorted.abnormalProd.push_back(node);
    }
  }
}

static void relieveAll(LoadPass& pass, const NodeLoads& sources, Detectors& detectors,
                       bool fewest) {
  pass.demandGain(sources);
  if (fewest) {
    pass.relieveByFewest(sources);
    for (NodeLoad* node : sources)
      if (pass.isRelieved(*node)) detectors.reset(node->name());
    return;
  }
  for (NodeLoad* node : sources) {
    if (pass.relieve(*node)) detectors.reset(node->name());
  }
}

void LowNodeLoad::balance(const LoadPool& pool, Round& round, NodeSet& done) {
  Nodes nodes = matching(pool.nodeSelector, round.nodes);
  std::erase_if(nodes, [&](const api::Node* node) { return done.contains(node); });
  const Bounds bounds = completed(pool.bounds);
  const Scale scale = scaleOf(bounds);
  std::vector<NodeLoad> loads = measure(round.look, nodes, scale, args_.metricExpiration);
  setLimits(loads, bounds, scale);
  if (round.foresight != nullptr) {
    histories_[pool.name].observe(loads, round.now);
    foresee(loads, round.look, round.underWay, scale);
  }
  Sorted sorted(loads);
  observe(pool, sorted, round.now);
  for (NodeLoad* node : sorted.by[LoadClass::kHigh]) done.insert(node->node);
  if (sorted.abnormal.empty() && sorted.abnormalProd.empty()) return;
  const size_t lows = sorted.lowCount();
  if (lows == 0 || static_cast<int64_t>(lows) <= args_.numberOfNodes || lows == nodes.size()) {
    log.debug("pool {}: {} hot nodes, {} with room of {}: nothing is moved", pool.name,
              sorted.abnormal.size() + sorted.abnormalProd.size(), lows, nodes.size());
    return;
  }
  for (const LoadClass kind : {LoadClass::kLow, LoadClass::kBothLow}) {
    for (NodeLoad* node : sorted.by[kind]) nodeDetectors_.reset(node->name());
  }
  for (NodeLoad* node : sorted.by[LoadClass::kProdLow]) prodDetectors_.reset(node->name());

  const PassView view{
      kName, args_, pool, bounds, scale, round, args_.budget > 0 ? &movesLeft_ : nullptr};
  sortHottestFirst(sorted.abnormal, view, LoadPass::By::kAll);
  sortHottestFirst(sorted.abnormalProd, view, LoadPass::By::kProd);
  const NodeLoads& both = sorted.by[LoadClass::kBothLow];
  const Loads bothRoom = headroomOf(both, scale, LoadPass::By::kAll);
  const Loads bothProdRoom = headroomOf(both, scale, LoadPass::By::kProd);

  const NodeLoads targets = sorted.lows(LoadClass::kLow);
  LoadPass all(view, LoadPass::By::kAll, targets, headroomOf(targets, scale, LoadPass::By::kAll));
  if (!targets.empty()) relieveAll(all, sorted.abnormal, nodeDetectors_, args_.minimalPlans);

  // What the first pass took of nodes that are low both ways is not there for the second.
  Loads prodRoom = smaller(bothProdRoom, smaller(bothRoom, all.headroom()));
  add(prodRoom, headroomOf(sorted.by[LoadClass::kProdLow], scale, LoadPass::By::kProd));
  const NodeLoads prodTargets = sorted.lows(LoadClass::kProdLow);
  LoadPass prod(view, LoadPass::By::kProd, prodTargets, prodRoom);
  if (!prodTargets.empty()) {
    relieveAll(prod, sorted.abnormalProd, prodDetectors_, args_.minimalPlans);
  }
}

Result<> LowNodeLoad::run(Round& round) {
  if (args_.paused) return {};
  movesLeft_ = args_.budget;
  NodeSet done;
  for (const LoadPool& pool : args_.pools) balance(pool, round, done);
  return {};
}

}  // namespace mangrove::descheduler
