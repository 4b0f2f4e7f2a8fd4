// Loading colocation-config from one or two ConfigMaps, and what holds for one node.
#include "manager/config/node_strategy.h"
#include "vector_runner/handlers.h"
#include "vector_runner/manager_support.h"

namespace mangrove::vectors {

void colocationConfig(const json::Object& c, Report& r) {
  const auto config = loadSequence(c);
  const auto node = decoded<api::Node>(c, "node", r);
  const json::Object want = objectOf(c, "expect");
  r.expect("available", member(want, "available"), config.colocation.available);
  r.expect("error_status", member(want, "error_status"), config.colocation.wrong);
  if (!config.colocation.available) return;
  r.expect("cluster_enable", member(want, "cluster_enable"),
           config.colocation.config.cluster.enable.value_or(false));
  const auto strategy = manager::colocationFor(config.colocation.config, node.meta);
  r.expectAmounts("strategy", member(want, "strategy"), toJson(strategy.strategy));
  r.expect("strategy_in_range", member(want, "strategy_in_range"), strategy.inRange);
}

void nodesloRender(const json::Object& c, Report& r) {
  const auto config = loadSequence(c);
  const auto node = decoded<api::Node>(c, "node", r);
  const auto rendered = manager::renderNodeSlo(config, node.meta);
  r.expectAmounts("expect", member(c, "expect"), toJson(rendered.spec));
}

}  // namespace mangrove::vectors
