// Load-aware scheduling: estimates, filter and score (docs/scheduler.md).
#include "api/pod/classes.h"
#include "base/text/time_text.h"
#include "placement/plugins/loadaware/load.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using namespace placement;

template <class T>
std::optional<T> objectOf(const json::Object& c, std::string_view key, Report& r) {
  const json::Value& value = member(c, key);
  if (value.is_null()) return std::nullopt;
  auto out = api::decodeText<T>(json::write(value));
  if (!out) r.mismatch(key, "decodes", out.error().text());
  return out ? std::optional<T>(std::move(*out)) : std::nullopt;
}

LoadVector estimateOf(const LoadArgs& args, const api::Pod& pod) {
  return estimate(args, *pod.spec, api::bandWithDefault(pod), pod.meta.annotations);
}

json::Object named(const LoadArgs& args, const LoadVector& values) {
  return {{"cpu_milli", values[args.indexOf("cpu")]},
          {"memory_bytes", values[args.indexOf("memory")]}};
}

std::vector<AssignedPod> assignedPods(const json::Object& c, const LoadArgs& args, WallTime now) {
  std::vector<AssignedPod> out;
  if (const json::Value& pods = member(c, "assigned_pods"); pods.is_array())
    for (const auto& value : pods.get_array())
      if (auto pod = api::decodeText<api::Pod>(json::write(value)))
        out.push_back(assignedPod(args, *pod, now));
  return out;
}

}  // namespace

void loadawareEstimate(const json::Object& c, Report& r) {
  auto args = readLoadArgs(member(c, "args"));
  if (!args) return r.mismatch("args", "accepted", args.error().text());
  const auto pod = objectOf<api::Pod>(c, "pod", r);
  if (pod) r.expect("estimate", member(c, "estimate"), named(*args, estimateOf(*args, *pod)));
}

void loadawareFilterScore(const json::Object& c, Report& r) {
  auto args = readLoadArgs(member(c, "args"));
  if (!args) return r.mismatch("args", "accepted", args.error().text());
  const auto now = parseTime(text(c, "now"));
  const auto node = objectOf<api::Node>(c, "node", r);
  const auto pod = objectOf<api::Pod>(c, "pod", r);
  const auto metric = objectOf<api::NodeMetric>(c, "node_metric", r);
  if (!now || !node || !pod) return;
  const LoadReport report = metric ? reportOf(*args, *metric) : LoadReport();
  const LoadSums sums = sumUp(*args, report, assignedPods(c, *args, *now));
  const NodeThresholds thresholds = thresholdsFor(*args, node->meta.annotations);
  const LoadVector allocatable = loadAllocatable(*args, *node);
  const LoadVector own = estimateOf(*args, *pod);
  const LoadQuestion question{thresholds,
                              report,
                              sums,
                              allocatable,
                              own,
                              api::bandWithDefault(*pod) == api::PriorityBand::kProd,
                              api::isOwnedBy(pod->meta, "DaemonSet"),
                              report.exists && isExpired(*args, report, *now)};
  const LoadVerdict verdict = filterLoad(*args, question);
  json::Object filter{{"pass", verdict.kind == LoadVerdict::Kind::kPass}};
  if (verdict.kind != LoadVerdict::Kind::kPass) filter["reason"] = verdict.reason(*args);
  r.expect("filter", member(c, "filter"), filter);
  r.expect("score", member(c, "score"), scoreLoad(*args, question));
}

}  // namespace mangrove::vectors
