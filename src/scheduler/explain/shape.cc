#include "scheduler/explain/shape.h"

#include <fmt/core.h>

#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "json/value.h"
#include "placement/intake/transform.h"
#include "scheduler/explain/filled_engine.h"

namespace mangrove::scheduler {

namespace {

Result<std::string> scopeOf(const std::string& topology) {
  if (topology.empty() || topology == "node" || topology == "nvlink") return std::string();
  if (topology == "numa") return std::string("NUMANode");
  if (topology == "pcie") return std::string("PCIe");
  return invalid("--topology is '{}'; want node, numa, pcie or nvlink", topology);
}

json::Object requestsOf(const ShapeRequest& request) {
  json::Object out{{"cpu", request.cpu}, {"memory", request.memory}};
  const std::string amount = std::to_string(request.gpus * request.percent);
  if (request.gpus > 0) {
    out["koordinator.sh/gpu-core"] = amount;
    out["koordinator.sh/gpu-memory-ratio"] = amount;
    if (request.percent < 100) out["koordinator.sh/gpu.shared"] = std::to_string(request.gpus);
  }
  if (request.rdma > 0) out["koordinator.sh/rdma"] = std::to_string(request.rdma);
  return out;
}

json::Object notesOf(const ShapeRequest& request, const std::string& scope) {
  json::Object out, hints;
  if (!scope.empty()) hints["gpu"] = json::Object{{"requiredTopologyScope", scope}};
  if (request.rdma > 0) {
    hints["rdma"] = json::Object{{"allocateStrategy", "RequestsAsCount"}};
    out[api::annotation::kDeviceJointAllocate] = R"({"deviceTypes":["gpu","rdma"]})";
  }
  if (!hints.empty()) out[api::annotation::kDeviceAllocateHint] = json::write(hints);
  if (request.topology == "nvlink")
    out[api::annotation::kGpuPartitionSpec] = R"({"allocatePolicy":"BestEffort"})";
  return out;
}

}  // namespace

Result<std::string> podOf(const ShapeRequest& request) {
  if (request.gpus < 0 || request.gpus > 1024)
    return invalid("--gpus is {}; want 0 to 1024", request.gpus);
  if (request.percent < 1 || request.percent > 100)
    return invalid("--percent is {}; want 1 to 100", request.percent);
  auto scope = scopeOf(request.topology);
  if (!scope) return pass(scope.error());
  const json::Object container{{"name", "c"},
                               {"resources", json::Object{{"requests", requestsOf(request)}}}};
  return json::write(
      json::Object{{"metadata", json::Object{{"name", "what-if"},
                                             {"namespace", "default"},
                                             {"annotations", notesOf(request, *scope)}}},
                   {"spec", json::Object{{"schedulerName", request.schedulerName},
                                         {"containers", json::Array{container}}}}});
}

Result<ShapeAnswer> explainShape(client::ApiClient& client, const SchedulerConfig& config,
                                 const ShapeRequest& request, Clock& clock) {
  auto text = podOf(request);
  if (!text) return pass(text.error());
  auto pod = api::decodeText<api::Pod>(*text);
  if (!pod) return pass(pod.error());
  transformPod(*pod);
  auto filled = FilledEngine::make(client, config, clock);
  if (!filled) return pass(filled.error());
  Engine& engine = (*filled)->engine();
  Profile* profile = engine.profileOf(*pod);
  if (!profile)
    return fail(mangrove::Code::kNotFound, "no profile serves schedulerName '{}'",
                request.schedulerName);
  return tryShape(engine, *profile, *pod, static_cast<size_t>(std::max<int64_t>(1, request.most)));
}

std::string toText(const ShapeRequest& request, const ShapeAnswer& a) {
  std::string out =
      fmt::format("{}{} pods with {} GPUs of {} % each{} fit now\n", a.more ? "at least " : "",
                  a.fits, request.gpus, request.percent,
                  request.topology.empty() ? "" : fmt::format(" ({})", request.topology));
  for (const auto& [node, count] : a.byNode) out += fmt::format("  {:<24} {}\n", node, count);
  if (a.more) return out;
  out += fmt::format("\none more: {}\n", a.message);
  if (a.moves.empty()) return out + "no few moves would make room for one more\n";
  out += fmt::format("these moves would make room for one more on {}:\n", a.movesOn);
  for (const auto& move : a.moves)
    out += fmt::format("  {:<32} {} -> {}\n", move.pod, move.from, move.to);
  return out;
}

std::string toJsonText(const ShapeAnswer& a) {
  json::Array nodes, moves;
  for (const auto& [node, count] : a.byNode)
    nodes.push_back(json::Object{{"node", node}, {"pods", count}});
  for (const auto& move : a.moves)
    moves.push_back(json::Object{{"pod", move.pod}, {"from", move.from}, {"to", move.to}});
  return json::writePretty(json::Object{{"fits", a.fits},
                                        {"stoppedCounting", a.more},
                                        {"nodes", nodes},
                                        {"oneMore", a.message},
                                        {"moves", moves}}) +
         "\n";
}

}  // namespace mangrove::scheduler
