#include "up/node_metrics.h"

#include <cmath>

#include <fmt/core.h>

#include "apiserver/subresources/proxy.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::up {
namespace {

using Known = workloads::UsageBoard::Known;
constexpr const char* kCpu = "cpu_usage_seconds_total";
constexpr const char* kMemory = "memory_working_set_bytes";

int64_t milliseconds(const Known& known) {
  const auto time = known.measured.at.time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

double cpuOf(const Known& known) {
  double sum = 0;
  for (const auto& [name, seconds] : known.cpuSeconds) sum += seconds;
  return sum;
}

int64_t bytesOf(const api::ResourceList& usage) {
  return usage.amount("memory").value();
}

// "container_cpu_usage_seconds_total{…} 1.5 1700000000000", names of pods being plain by rule.
class Page {
 public:
  void head(std::string_view who, std::string_view what, std::string_view type) {
    out_ += fmt::format(
        "# HELP {0}_{1} {2}\n# TYPE {0}_{1} {3}\n", who, what,
        what == kCpu ? "Processor time used, in seconds of a core" : "Working set, in bytes", type);
  }
  template <class Number>
  void line(std::string_view who, std::string_view what, const std::string& labels, Number value,
            const Known& known) {
    out_ += fmt::format("{}_{}{} {} {}\n", who, what, labels, value, milliseconds(known));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string labelsOf(const Known& known, const std::string& more) {
  return fmt::format("{{{}namespace=\"{}\",pod=\"{}\"}}", more, known.ns, known.name);
}

void putContainers(Page& page, const Measurements& pods, const char* extra) {
  page.head("container", kCpu, "counter");
  for (const Known& pod : pods)
    for (const auto& [name, seconds] : pod.cpuSeconds)
      page.line("container", kCpu, labelsOf(pod, fmt::format("container=\"{}\",{}", name, extra)),
                seconds, pod);
  page.head("container", kMemory, "gauge");
  for (const Known& pod : pods)
    for (const auto& [name, usage] : pod.measured.containers)
      page.line("container", kMemory, labelsOf(pod, fmt::format("container=\"{}\",", name)),
                bytesOf(usage), pod);
}

void putWholes(Page& page, const char* who, const Measurements& all) {
  const auto labels = [](const Known& one) { return one.ns.empty() ? "" : labelsOf(one, ""); };
  page.head(who, kCpu, "counter");
  for (const Known& one : all) page.line(who, kCpu, labels(one), cpuOf(one), one);
  page.head(who, kMemory, "gauge");
  for (const Known& one : all)
    page.line(who, kMemory, labels(one), bytesOf(one.measured.usage), one);
}

json::Object usageJson(const Known& known, const api::ResourceList& usage, double seconds,
                       json::Object out) {
  const std::string time = formatTime(known.measured.at);
  out["cpu"] = json::Object{{"time", time},
                            {"usageNanoCores", usage.amount("cpu").milliValue() * 1'000'000},
                            {"usageCoreNanoSeconds", std::llround(seconds * 1e9)}};
  out["memory"] = json::Object{{"time", time}, {"workingSetBytes", bytesOf(usage)}};
  return out;
}

json::Object podJson(const Known& pod) {
  json::Array containers;
  for (const auto& [name, usage] : pod.measured.containers) {
    const auto seconds = pod.cpuSeconds.find(name);
    containers.push_back(usageJson(
        pod, usage, seconds == pod.cpuSeconds.end() ? 0 : seconds->second, {{"name", name}}));
  }
  return usageJson(pod, pod.measured.usage, cpuOf(pod),
                   {{"podRef", json::Object{{"name", pod.name}, {"namespace", pod.ns}}},
                    {"containers", std::move(containers)}});
}

apiserver::Answer text(std::string body) {
  apiserver::Answer answer = apiserver::answer::json(200, std::move(body));
  answer.contentType = "text/plain; version=0.0.4; charset=utf-8";
  return answer;
}

apiserver::Answer answerTo(std::string_view path, const workloads::UsageBoard& board) {
  if (path == "/metrics/resource") return text(resourceMetrics(board.nodes(), board.pods()));
  if (path == "/metrics/cadvisor") return text(cadvisorMetrics(board.pods()));
  if (path == "/stats/summary")
    return apiserver::answer::json(200, json::write(statsSummary(board.nodes(), board.pods())));
  return apiserver::answer::noSuchPath(fmt::format(
      "{}: this node answers /metrics/resource, /metrics/cadvisor and /stats/summary", path));
}

}  // namespace

std::string resourceMetrics(const Measurements& nodes, const Measurements& pods) {
  Page page;
  putContainers(page, pods, "");
  putWholes(page, "pod", pods);
  putWholes(page, "node", nodes);
  return page.take() +
         "# HELP resource_scrape_error 1 when something could not be measured\n"
         "# TYPE resource_scrape_error gauge\nresource_scrape_error 0\n";
}

std::string cadvisorMetrics(const Measurements& pods) {
  Page page;
  putContainers(page, pods, "cpu=\"total\",");
  return page.take();
}

json::Object statsSummary(const Measurements& nodes, const Measurements& pods) {
  json::Array list;
  for (const Known& pod : pods) list.push_back(podJson(pod));
  json::Object node;
  for (const Known& one : nodes)
    node = usageJson(one, one.measured.usage, cpuOf(one), {{"nodeName", one.name}});
  return {{"node", std::move(node)}, {"pods", std::move(list)}};
}

void serveNodeMetrics(apiserver::Server& server, const std::string& node,
                      const std::shared_ptr<const workloads::UsageBoard>& board) {
  server.onSubresource(
      "", "nodes", "proxy",
      [node, board](const apiserver::Call& call, const apiserver::ResourcePtr& resource,
                    const apiserver::ResponderPtr& to) {
        const auto name = apiserver::readProxyName(call.info.name);
        if (!name || name->name != node)
          return to->answer(apiserver::answer::notFound(*resource->kind, call.info.name));
        const std::string target = apiserver::proxyTarget(call.info);
        to->answer(answerTo(cut(target, '?').before, *board));
      });
}

}  // namespace mangrove::up
