#include "scheduler/service/service.h"

#include <algorithm>

#include <fmt/core.h>

#include "json/value.h"
#include "placement/plugins/volumes/claims.h"

namespace mangrove::scheduler {

namespace {

constexpr std::string_view kNodes = "/apis/v1/nodes/";
constexpr std::string_view kPlugins = "/apis/v1/plugins/";

ServiceAnswer told(int status, std::string_view message) {
  return {status, json::write(json::Object{{"message", message}})};
}

std::string amountText(const NodeTable& table, ResourceId id, int64_t amount) {
  const std::string_view name = table.resources().name(id).view();
  if (name == "cpu") return Quantity::ofMilli(amount).text();
  return (name == "memory" || name == "ephemeral-storage" ? Quantity::of(Bytes{amount})
                                                          : Quantity::of(amount))
      .text();
}

template <class AmountOf>
json::Object amounts(const NodeTable& table, Row row, AmountOf amountOf) {
  json::Object out;
  for (ResourceId id = 0; id < table.resources().size(); id++)
    if (table.allocatable(id)[row] != 0 || table.requested(id)[row] != 0)
      out[table.resources().name(id).view()] = amountText(table, id, amountOf(id));
  return out;
}

json::Value portsOf(const NodeInfo& info) {
  json::Array out;
  for (const HostPort& port : info.ports)
    out.push_back(json::Object{
        {"ip", port.ip.view()}, {"protocol", port.protocol.view()}, {"port", port.port}});
  return out;
}

json::Value imagesOf(const api::Node& node) {
  json::Object out;
  for (const auto& image : node.status.images)
    for (const auto& name : image.names) out[name.view()] = json::Object{{"size", image.size.v}};
  return out;
}

json::Value claimCounts(const NodeInfo& info) {
  std::map<std::string, int64_t> counts;
  for (const PodPtr& pod : info.pods)
    for (const std::string& claim : claimsOf(*pod->cls)) counts[claim]++;
  json::Object out;
  for (const auto& [claim, count] : counts) out[claim] = count;
  return out;
}

json::Value nodeJson(const NodeTable& table, Row row) {
  const NodeInfo& info = table.info(row);
  json::Array pods, withTerms, withAnti;
  for (const PodPtr& pod : info.pods) {
    const std::string key = pod->pod->meta.ns.str() + "/" + pod->pod->meta.name.str();
    pods.emplace_back(key);
    if (pod->cls->hasTerms()) withTerms.emplace_back(key);
    if (!pod->cls->requiredAntiAffinity.empty()) withAnti.emplace_back(key);
  }
  const int64_t *cpu = table.nonZeroCpu(), *memory = table.nonZeroMemory();
  return json::Object{
      {"node", info.name.view()},
      {"pods", pods},
      {"podsWithAffinity", withTerms},
      {"podsWithRequiredAntiAffinity", withAnti},
      {"usedPorts", portsOf(info)},
      {"requested", amounts(table, row, [&](auto id) { return table.requested(id)[row]; })},
      {"nonZeroRequested", json::Object{{"cpu", Quantity::ofMilli(cpu[row]).text()},
                                        {"memory", Quantity::of(Bytes{memory[row]}).text()}}},
      {"remaining",
       amounts(table, row,
               [&](auto id) { return table.allocatable(id)[row] - table.requested(id)[row]; })},
      {"allocatable", amounts(table, row, [&](auto id) { return table.allocatable(id)[row]; })},
      {"allocatablePods", table.podLimit()[row]},
      {"imageStates", imagesOf(table.node(row))},
      {"pvcRefCounts", claimCounts(info)},
      {"generation", table.now()}};
}

ServiceAnswer services() {
  return {200, json::write(json::Object{
                   {"GET", json::Array{"/apis/v1/__services__", "/apis/v1/nodes/:nodeName",
                                       "/apis/v1/plugins/Coscheduling/gang/:namespace/:name",
                                       "/apis/v1/plugins/Coscheduling/gangs",
                                       "/apis/v1/plugins/Coscheduling/head",
                                       "/apis/v1/plugins/DeviceShare/nodeDeviceSummaries",
                                       "/apis/v1/plugins/DeviceShare/nodeDeviceSummaries/:name",
                                       "/apis/v1/plugins/ElasticQuota/pods/:uid",
                                       "/apis/v1/plugins/ElasticQuota/quota/:name",
                                       "/apis/v1/plugins/ElasticQuota/quotas",
                                       "/apis/v1/plugins/ElasticQuota/quotas/:name",
                                       "/apis/v1/plugins/LoadAwareScheduling/node/:nodeName",
                                       "/apis/v1/plugins/NodeNUMAResource/nodes/:name",
                                       "/apis/v1/plugins/Reservation/nodes/:nodeName",
                                       "/apis/v1/plugins/Reservation/reservations",
                                       "/apis/v1/plugins/Reservation/reservations/:name"}}})};
}

ServiceAnswer askPlugin(Engine& engine, std::string_view path) {
  const size_t slash = path.find('/');
  const std::string_view name = path.substr(0, slash);
  const std::string_view rest =
      slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  Plugin* found = nullptr;
  std::optional<json::Value> answer;
  for (const auto& profile : engine.profiles()) {  // each knows its own pods
    Plugin* plugin = profile->find(name);
    if (!plugin) continue;
    found = plugin;
    auto value = plugin->serve(rest);
    if (!value) continue;
    answer =
        answer ? plugin->together(std::move(*answer), std::move(*value), rest) : std::move(*value);
  }
  if (!found) return told(404, fmt::format("no plugin '{}' is enabled", name));
  if (!answer) return told(404, fmt::format("plugin {} serves no '{}'", name, rest));
  const auto* code = answer->is_object() ? answer->get_object().if_contains("code") : nullptr;
  return {code && code->is_int64() ? static_cast<int>(code->get_int64()) : 200,
          json::write(*answer)};
}

}  // namespace

ServiceAnswer answerService(Engine& engine, std::string_view path, bool leading) {
  if (!leading) return told(503, "the instance is not leader");
  if (path == "/apis/v1/__services__") return services();
  if (path.starts_with(kPlugins)) return askPlugin(engine, path.substr(kPlugins.size()));
  if (!path.starts_with(kNodes)) return told(404, fmt::format("no such path: {}", path));
  const NodeTable& table = engine.cluster().table;
  const Row row = table.find(path.substr(kNodes.size()));
  if (row == kNoRow)
    return told(404, fmt::format("cannot find node {}", path.substr(kNodes.size())));
  return {200, json::write(nodeJson(table, row))};
}

}  // namespace mangrove::scheduler
