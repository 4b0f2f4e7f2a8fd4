// CPU picks, NUMA allocation, hints and their merging (docs/scheduler.md).
#include <algorithm>

#include "placement/plugins/numa/hints.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using namespace placement;

CpuLayout layoutOf(const json::Object& t) {
  const auto at = [&](std::string_view key) { return static_cast<int>(number(t, key)); };
  const int sockets = at("sockets"), nodes = at("numa_per_socket"), cores = at("cores_per_numa");
  const int threads = at("threads_per_core"), total = sockets * nodes * cores;
  const bool split = text(t, "numbering") == "split";
  std::vector<api::CpuInfo> detail;
  for (int core = 0; core < total; core++)
    for (int thread = 0; thread < threads; thread++)
      detail.push_back({split ? core + thread * total : core * threads + thread, core,
                        core / (nodes * cores), core / cores});
  return CpuLayout::of(detail);
}

CpuSet setOf(std::string_view text) {
  return CpuSet::parse(text).value_or(CpuSet());
}

CpuWish wishOf(const json::Object& c) {
  CpuWish wish;
  wish.need = static_cast<int>(number(c, "need"));
  wish.policy = bindPolicyOf(text(c, "bind_policy"));
  wish.required = member(c, "required").is_bool() && member(c, "required").get_bool();
  wish.exclusive = exclusiveOf(text(c, "exclusive"));
  wish.mostAllocated = text(c, "numa_strategy") == "MostAllocated";
  return wish;
}

// cpu_milli and memory_bytes, other names as they are.
NumaAmounts amountsOf(const json::Value& value) {
  NumaAmounts out;
  if (!value.is_object()) return out;
  for (const auto& entry : value.get_object()) {
    std::string name(entry.key());
    if (name == "cpu_milli") name = "cpu";
    if (name == "memory_bytes") name = "memory";
    out[name] = entry.value().to_number<int64_t>();
  }
  return out;
}

json::Object toJson(const NumaAmounts& amounts) {
  json::Object out;
  for (const auto& [name, amount] : amounts)
    out[name == "cpu" ? "cpu_milli" : name == "memory" ? "memory_bytes" : name] = amount;
  return out;
}

NumaState stateOf(const json::Object& c, const CpuLayout& layout) {
  NumaState state(layout);
  state.cpuRatio = number(c, "cpu_amplification_ratio", 1);
  for (const auto& value : member(c, "zones_raw").as_array()) {
    const json::Object& zone = value.as_object();
    NumaAmounts amounts = amountsOf(member(zone, "allocatable"));
    if (amounts.contains("cpu")) amounts["cpu"] = amplified(amounts["cpu"], state.cpuRatio);
    state.zones[static_cast<int>(number(zone, "numa"))] = std::move(amounts);
  }
  for (const auto& value : member(c, "allocated").as_array()) {
    const json::Object& pod = value.as_object();
    state.books.add(setOf(text(pod, "cpus")), exclusiveOf(text(pod, "exclusive")));
    if (const json::Value& parts = member(pod, "numa_resources"); parts.is_array())
      for (const auto& part : parts.get_array())
        for (const auto& [name, amount] : amountsOf(member(part.as_object(), "resources")))
          state.booked[static_cast<int>(number(part.as_object(), "numa"))][name] += amount;
  }
  return state;
}

NumaRequest requestOf(const json::Object& c) {
  NumaRequest out;
  out.amounts = amountsOf(member(c, "pod_requests"));
  out.binds = member(c, "binds_cpus").is_bool() && member(c, "binds_cpus").get_bool();
  out.wish = wishOf(c);
  return out;
}

NumaMask maskIn(const json::Value& ids) {
  std::vector<int> nodes;
  for (const auto& id : ids.as_array()) nodes.push_back(static_cast<int>(id.to_number<int64_t>()));
  return maskOf(nodes);
}

json::Array idsOf(NumaMask mask) {
  json::Array out;
  for (int node : nodesIn(mask)) out.emplace_back(node);
  return out;
}

NumaPolicy policyOf(std::string_view word) {
  if (word == "best-effort") return NumaPolicy::kBestEffort;
  if (word == "restricted") return NumaPolicy::kRestricted;
  if (word == "single-numa-node") return NumaPolicy::kSingleNumaNode;
  return word == "none" ? NumaPolicy::kNone : api::numaTopologyPolicyOf(word);
}

std::vector<HintMap> providersOf(const json::Value& value) {
  std::vector<HintMap> out;
  for (const auto& provider : value.as_array()) {
    HintMap& map = out.emplace_back();
    for (const auto& entry : provider.as_object()) {
      auto& slot = map[std::string(entry.key())];
      if (!entry.value().is_array()) continue;
      slot.emplace();
      for (const auto& one : entry.value().get_array()) {
        const json::Object& hint = one.as_object();
        slot->push_back({maskIn(member(hint, "numa")), member(hint, "preferred").as_bool(),
                         static_cast<int64_t>(number(hint, "score")), false});
      }
    }
  }
  return out;
}

}  // namespace

void numaCpuAccumulator(const json::Object& c, Report& r) {
  const CpuLayout layout = layoutOf(member(c, "topology").as_object());
  CpuBooks books(layout, static_cast<int>(number(c, "max_ref_count", 1)));
  for (const auto& value : member(c, "allocated").as_array())
    books.add(setOf(text(value.as_object(), "cpus")),
              exclusiveOf(text(value.as_object(), "exclusive")));
  auto cpus =
      takeCpus(books, setOf(text(c, "reserved_cpus")), setOf(text(c, "preferred_cpus")), wishOf(c));
  r.expect("result", member(c, "result"),
           cpus ? json::Object{{"cpus", cpus->text()}}
                : json::Object{{"error", cpus.error().sentence()}});
}

void numaAllocate(const json::Object& c, Report& r) {
  const CpuLayout layout = layoutOf(member(c, "topology").as_object());
  const NumaState state = stateOf(c, layout);
  const NumaOutcome got = allocate(state, requestOf(c), maskIn(member(c, "affinity")));
  json::Object out;
  if (got.ok()) {
    json::Array parts;
    for (const auto& [node, amounts] : got.allocation.perNode)
      parts.push_back(json::Object{{"numa", node}, {"resources", toJson(amounts)}});
    out = {{"numa_resources", parts}, {"cpus", got.allocation.cpus.text()}};
  } else {
    out["error_reasons"] = json::Array(got.reasons.begin(), got.reasons.end());
  }
  r.expect("result", member(c, "result"), out);
}

void numaHints(const json::Object& c, Report& r) {
  const CpuLayout layout = layoutOf(member(c, "topology").as_object());
  const NumaState state = stateOf(c, layout);
  NumaScorer scorer;
  scorer.enabled = !text(c, "numa_scorer").empty();
  scorer.mostAllocated = text(c, "numa_scorer") == "MostAllocated";
  json::Object out;
  for (const auto& [name, hints] :
       placement::numaHints(state, requestOf(c), policyOf(text(c, "policy")), scorer)) {
    json::Array list;
    for (const NumaHint& hint : *hints)
      list.push_back(json::Object{
          {"numa", idsOf(*hint.mask)}, {"preferred", hint.preferred}, {"score", hint.score}});
    out[name] = list;
  }
  r.expect("result", member(c, "result"), json::Object{{"hints", out}});
}

void numaPolicyMerge(const json::Object& c, Report& r) {
  std::vector<int> nodes;
  Exclusivity exclusivity;
  exclusivity.required = text(c, "exclusive") == "Required";
  const json::Array& status = member(c, "numa_status").as_array();
  for (size_t i = 0; i < member(c, "numa_ids").as_array().size(); i++) {
    nodes.push_back(static_cast<int>(member(c, "numa_ids").as_array()[i].to_number<int64_t>()));
    const std::string_view use = status[i].as_string();
    exclusivity.uses[nodes.back()] = use == "single"   ? NumaUse::kSingle
                                     : use == "shared" ? NumaUse::kShared
                                                       : NumaUse::kIdle;
  }
  const Admission got = mergeHints(policyOf(text(c, "policy")), nodes,
                                   providersOf(member(c, "providers")), exclusivity);
  json::Object out{{"admit", got.admitted},
                   {"numa", got.best.mask ? json::Value(idsOf(*got.best.mask)) : json::Value()},
                   {"preferred", got.best.preferred},
                   {"score", got.best.score},
                   {"reasons", json::Array(got.reasons.begin(), got.reasons.end())}};
  r.expect("result", member(c, "result"), out);
}

}  // namespace mangrove::vectors
