// Prod reclaimable and prod peak from models of pods and classes.
#include "agent/predict/models.h"
#include "agent/predict/reclaim.h"
#include "json/view.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

std::optional<agent::Peak> modelOf(const json::Object& c, std::string_view key) {
  const json::Value& model = member(member(c, "models_by_uid").as_object(), key);
  if (!model.is_object()) return std::nullopt;
  const json::Object& m = model.get_object();
  return agent::Peak{MilliCpu{member(m, "p95_cpu_milli").to_number<int64_t>()},
                     Bytes{member(m, "p98_memory_bytes").to_number<int64_t>()}};
}

template <class T>
T decoded(const json::Value& value) {
  json::Doc doc;
  const std::string text = json::write(value);
  return *api::decode<T>(*doc.parse(text));
}

json::Value amountsJson(const Result<agent::Amounts>& amounts) {
  if (!amounts) return nullptr;
  return json::Object{{"cpu_milli", amounts->cpu.v}, {"memory_bytes", amounts->memory.v}};
}

}  // namespace

void prodReclaimable(const json::Object& c, Report& r) {
  std::vector<api::Pod> pods;
  std::vector<agent::ReclaimPod> inputs;
  const json::Array& listed =
      member(c, "pods").is_array() ? member(c, "pods").get_array() : json::Array{};
  for (const json::Value& one : listed) {
    pods.push_back(decoded<api::Pod>(one.at("pod")));
    if (member(one.as_object(), "terminating").is_bool() && one.at("terminating").as_bool())
      pods.back().meta.deletionTimestamp = WallTime{};
  }
  for (size_t i = 0; i < pods.size(); ++i)
    inputs.push_back({&pods[i],
                      std::chrono::minutes(
                          static_cast<int64_t>(number(listed[i].as_object(), "age_hours") * 60)),
                      modelOf(c, pods[i].meta.uid.str())});
  const auto node = decoded<api::Node>(member(c, "node"));
  const auto got = agent::prodReclaimable(
      {.allocatable = agent::rawAllocatable(node),
       .marginPercent = static_cast<int64_t>(number(c, "safety_margin_percent")),
       .coldStart = std::chrono::minutes(static_cast<int64_t>(number(c, "cold_start_hours") * 60)),
       .pods = inputs,
       .system = modelOf(c, agent::model_key::kSystem),
       .prod = modelOf(c, agent::model_key::ofBand("koord-prod")),
       .none = modelOf(c, agent::model_key::ofBand(""))});
  const json::Object& want = member(c, "expect").as_object();
  json::Array refused;
  for (bool one : got.refused) refused.emplace_back(one);
  r.expect("add_pod_errors", member(want, "add_pod_errors"), refused);
  r.expect("reclaimable_error", member(want, "reclaimable_error"), !got.reclaimable.has_value());
  r.expect("peak_error", member(want, "peak_error"), !got.peak.has_value());
  r.expect("reclaimable", member(want, "reclaimable"), amountsJson(got.reclaimable));
  r.expect("peak", member(want, "peak"), amountsJson(got.peak));
}

}  // namespace mangrove::vectors
