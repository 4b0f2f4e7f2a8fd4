#include "json/bench/view_bench.h"

#include <iterator>

#include <fmt/format.h>

#include "base/check.h"
#include "json/view.h"

namespace mangrove::json {
namespace {

void appendPod(size_t i, std::string& out) {
  fmt::format_to(
      std::back_inserter(out),
      R"({{"metadata":{{"name":"web-{0}","namespace":"team-{1}","uid":"00000000-0000-4000-8000-{0:012}","resourceVersion":"{2}",)"
      R"("creationTimestamp":"2026-11-15T10:00:00Z","labels":{{"app":"web","pod-template-hash":"6f5d4c","koordinator.sh/qosClass":"LS"}},)"
      R"("annotations":{{"kubernetes.io/config.source":"api","note":"line one\nline two"}},"ownerReferences":[{{"apiVersion":"apps/v1",)"
      R"("kind":"ReplicaSet","name":"web","uid":"11111111-0000-4000-8000-000000000000","controller":true}}]}},)"
      R"("spec":{{"nodeName":"node-{3}","schedulerName":"koord-scheduler","priority":9500,"priorityClassName":"koord-prod",)"
      R"("serviceAccountName":"default","terminationGracePeriodSeconds":30,"containers":[{{"name":"main","image":"registry/web:1.2.3",)"
      R"("resources":{{"requests":{{"cpu":"500m","memory":"1Gi"}},"limits":{{"cpu":"2","memory":"2Gi"}}}},"env":[{{"name":"A","value":"1"}},)"
      R"({{"name":"B","valueFrom":{{"fieldRef":{{"fieldPath":"status.podIP"}}}}}}],"ports":[{{"containerPort":8080,"protocol":"TCP"}}],)"
      R"("volumeMounts":[{{"name":"data","mountPath":"/data"}}]}}],"volumes":[{{"name":"data","emptyDir":{{}}}}],"tolerations":[)"
      R"({{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}]}},)"
      R"("status":{{"phase":"Running","podIP":"10.{1}.0.{3}","qosClass":"Burstable","startTime":"2026-11-15T10:00:01Z","conditions":[)"
      R"({{"type":"Ready","status":"True","lastTransitionTime":"2026-11-15T10:00:05Z"}},)"
      R"({{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-15T10:00:00Z"}}]}}}})",
      i, i % 50, 100000 + i, i % 250);
}

size_t seen(View value) {
  return value.exists() ? 1 : 0;
}

size_t visitPod(View pod) {
  const View meta = pod["metadata"], spec = pod["spec"];
  size_t found = seen(meta["name"]) + seen(meta["namespace"]) + seen(meta["uid"]) +
                 seen(spec["nodeName"]) + seen(spec["priority"]) + seen(pod["status"]["phase"]);
  for (auto [key, value] : meta["labels"].members()) found += key.empty() ? 0 : seen(value);
  for (View container : spec["containers"].elements())
    for (auto [name, amount] : container["resources"]["requests"].members()) found += seen(amount);
  return found;
}

double mbPerSecond(size_t bytes, Duration spent) {
  return static_cast<double>(bytes) * 1e3 / static_cast<double>(spent.count());
}

}  // namespace

double ReadingBenchmark::parseMbPerSecond() const {
  return mbPerSecond(bytes, parse);
}

double ReadingBenchmark::totalMbPerSecond() const {
  return mbPerSecond(bytes, parse + visit);
}

std::string podListText(size_t pods) {
  std::string text =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)";
  for (size_t i = 0; i < pods; ++i) {
    if (i > 0) text += ',';
    appendPod(i, text);
  }
  return text += "]}";
}

ReadingBenchmark benchmarkReading(size_t pods, const Clock& clock) {
  const std::string text = podListText(pods);
  ReadingBenchmark result{.pods = pods, .bytes = text.size()};
  Doc doc;
  for (int round = 0; round < 2; ++round) {  // the first one only grows the buffers
    const MonoTime start = clock.mono();
    auto root = doc.parse(text);
    CHECK(root.has_value(), "{}", root ? "" : root.error().text());
    const MonoTime parsed = clock.mono();
    result.found = 0;
    for (View pod : (*root)["items"].elements()) result.found += visitPod(pod);
    result.parse = parsed - start;
    result.visit = clock.mono() - parsed;
  }
  return result;
}

}  // namespace mangrove::json
