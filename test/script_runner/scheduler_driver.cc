// The scheduler's engine on a table-top cluster with a virtual clock:
//   node NAME [cpu=N] [memory=Q] [pods=N] [zone=Z] [label=K:V] [taint=K:EFFECT] [cordoned=true]
//             [numa=N cores=N smt=N] [policy=SingleNUMANode] [ratio=R] [batch-cpu=N]
//   load NODE cpu=Q [memory=Q]
//   pod NAME [cpu=Q] [memory=Q] [qos=LSR] [bind=FullPCPUs] [priority=N] [app=A] [node=N]
//            [select=K:V] [tolerate=K] [near=KEY] [apart=KEY] [spread=KEY] [skew=N] [gate=G]
//            [batch-cpu=N] [numa-policy=P] [gang=G] [ns=NS] [never-preempt=true]
//   delete NAME | drain NODE | schedule | wait DURATION | show
// schedule and wait answer what was done: "db -> n1 cpus 0-3", or why not.
#include <algorithm>

#include <fmt/core.h>

#include "api/annotations/cpu.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "placement/testing/lab.h"
#include "script_runner/drivers.h"

namespace mangrove::scripts {
namespace {

using placement::Lab;

json::Object pairOf(const std::string& text) {
  const auto halves = cut(text, ':');
  return {{std::string(halves.before), std::string(halves.after)}};
}

void putAmount(json::Object& list, const Command& c, std::string_view option,
               std::string_view resource) {
  if (const std::string amount = c.option(option); !amount.empty()) list[resource] = amount;
}

json::Object term(const std::string& key, const std::string& app) {
  return {{"topologyKey", key},
          {"labelSelector", json::Object{{"matchLabels", json::Object{{"app", app}}}}}};
}

json::Object required(json::Object term) {
  return {{"requiredDuringSchedulingIgnoredDuringExecution", json::Array{std::move(term)}}};
}

class SchedulerDriver final : public Driver {
 public:
  std::string run(const std::vector<std::string>& commands) override {
    std::string out;
    for (const auto& line : commands) out += one(parseCommand(line));
    return out;
  }

 private:
  std::string one(const Command& c) {
    const std::string name = c.words.empty() ? "" : c.words[0];
    if (c.verb == "node") return node(c, name);
    if (c.verb == "load") return load(c, name);
    if (c.verb == "pod") return pod(c, name);
    if (c.verb == "delete") return lab_.removePod(name), told();
    if (c.verb == "drain") return lab_.removeNode(name), told();
    if (c.verb == "schedule") return lab_.run(), told();
    if (c.verb == "wait") return wait(name);
    if (c.verb == "show") return show();
    return fmt::format("error: unknown command '{}'\n", c.verb);
  }

  std::string wait(const std::string& text) {
    const auto duration = parseDuration(text);
    if (!duration) return "error: " + duration.error().text() + "\n";
    lab_.wait(*duration);
    return told();
  }

  std::string node(const Command& c, const std::string& name) {
    json::Object labels{{"kubernetes.io/hostname", name}}, spec, notes;
    for (const auto& [key, value] : c.options)
      if (key == "label")
        for (auto& entry : pairOf(value)) labels[entry.key()] = entry.value();
    if (auto zone = c.option("zone"); !zone.empty()) labels["topology.kubernetes.io/zone"] = zone;
    if (auto policy = c.option("policy"); !policy.empty())
      labels["node.koordinator.sh/numa-topology-policy"] = policy;
    if (auto ratio = c.option("ratio"); !ratio.empty())
      notes["node.koordinator.sh/resource-amplification-ratio"] = "{\"cpu\":" + ratio + "}";
    if (auto taint = c.option("taint"); !taint.empty()) {
      const auto halves = cut(taint, ':');
      spec["taints"] = json::Array{
          json::Object{{"key", std::string(halves.before)}, {"effect", std::string(halves.after)}}};
    }
    if (c.option("cordoned") == "true") spec["unschedulable"] = true;
    json::Object amounts{{"cpu", c.option("cpu", "8")},
                         {"memory", c.option("memory", "32Gi")},
                         {"pods", c.option("pods", "110")}};
    putAmount(amounts, c, "batch-cpu", "kubernetes.io/batch-cpu");
    lab_.node(json::write(json::Object{
        {"metadata", json::Object{{"name", name}, {"labels", labels}, {"annotations", notes}}},
        {"spec", spec},
        {"status", json::Object{{"allocatable", amounts}}}}));
    if (!c.option("numa").empty()) addTopology(c, name);
    return told();
  }

  void addTopology(const Command& c, const std::string& name) {
    const int nodes = std::stoi(c.option("numa")), cores = std::stoi(c.option("cores", "4"));
    const int threads = std::stoi(c.option("smt", "2"));
    json::Array detail, zones;
    for (int core = 0; core < nodes * cores; core++)
      for (int thread = 0; thread < threads; thread++)
        detail.push_back(json::Object{{"id", core * threads + thread},
                                      {"core", core},
                                      {"socket", core / cores},
                                      {"node", core / cores}});
    for (int id = 0; id < nodes; id++)
      zones.push_back(json::Object{
          {"name", fmt::format("node-{}", id)},
          {"type", "Node"},
          {"resources", json::Array{json::Object{{"name", "cpu"},
                                                 {"allocatable", std::to_string(cores * threads)}},
                                    json::Object{{"name", "memory"}, {"allocatable", "64Gi"}}}}});
    const json::Object notes{
        {"node.koordinator.sh/cpu-topology", json::write(json::Object{{"detail", detail}})}};
    auto topology = api::decodeText<api::NodeResourceTopology>(json::write(json::Object{
        {"metadata", json::Object{{"name", name}, {"annotations", notes}}}, {"zones", zones}}));
    lab_.cluster().putTopology(name,
                               std::make_shared<api::NodeResourceTopology>(std::move(*topology)));
  }

  std::string load(const Command& c, const std::string& name) {
    json::Object usage;
    putAmount(usage, c, "cpu", "cpu");
    putAmount(usage, c, "memory", "memory");
    auto metric = api::decodeText<api::NodeMetric>(json::write(json::Object{
        {"metadata", json::Object{{"name", name}}},
        {"status",
         json::Object{
             {"updateTime", formatTime(lab_.clock().wall())},
             {"nodeMetric", json::Object{{"nodeUsage", json::Object{{"resources", usage}}}}}}}}));
    placement::ClusterEvent event;
    event.kind = placement::EventKind::kNodeMetric;
    event.row =
        lab_.cluster().putMetric(name, std::make_shared<api::NodeMetric>(std::move(*metric)));
    lab_.engine().happened(event);
    return told();
  }

  static json::Object affinityOf(const Command& c, const std::string& app) {
    json::Object out;
    if (auto key = c.option("near"); !key.empty()) out["podAffinity"] = required(term(key, app));
    if (auto key = c.option("apart"); !key.empty())
      out["podAntiAffinity"] = required(term(key, app));
    return out;
  }

  static json::Object metaOf(const Command& c, const std::string& name, const std::string& app) {
    json::Object labels{{"app", app}}, notes;
    if (auto qos = c.option("qos"); !qos.empty()) labels["koordinator.sh/qosClass"] = qos;
    if (auto gang = c.option("gang"); !gang.empty())
      labels["pod-group.scheduling.sigs.k8s.io"] = gang;
    if (auto bind = c.option("bind"); !bind.empty())
      notes["scheduling.koordinator.sh/resource-spec"] =
          "{\"requiredCPUBindPolicy\":\"" + bind + "\"}";
    if (auto policy = c.option("numa-policy"); !policy.empty())
      notes["scheduling.koordinator.sh/numa-topology-spec"] =
          "{\"numaTopologyPolicy\":\"" + policy + "\"}";
    return {{"name", name},
            {"namespace", c.option("ns", "default")},
            {"labels", labels},
            {"annotations", notes}};
  }

  std::string pod(const Command& c, const std::string& name) {
    const std::string app = c.option("app", "x");
    json::Object requests, spec;
    putAmount(requests, c, "cpu", "cpu");
    putAmount(requests, c, "memory", "memory");
    putAmount(requests, c, "batch-cpu", "kubernetes.io/batch-cpu");
    spec["containers"] = json::Array{
        json::Object{{"name", "c"}, {"resources", json::Object{{"requests", requests}}}}};
    const bool prod = c.option("qos").starts_with("LS");
    spec["priority"] = std::stoi(c.option("priority", prod ? "9500" : "0"));
    if (auto node = c.option("node"); !node.empty()) spec["nodeName"] = node;
    if (auto select = c.option("select"); !select.empty()) spec["nodeSelector"] = pairOf(select);
    if (auto key = c.option("tolerate"); !key.empty())
      spec["tolerations"] = json::Array{json::Object{{"key", key}, {"operator", "Exists"}}};
    if (auto gate = c.option("gate"); !gate.empty())
      spec["schedulingGates"] = json::Array{json::Object{{"name", gate}}};
    if (c.option("never-preempt") == "true") spec["preemptionPolicy"] = "Never";
    spec["affinity"] = affinityOf(c, app);
    if (auto key = c.option("spread"); !key.empty()) {
      json::Object rule = term(key, app);
      rule["maxSkew"] = std::stoi(c.option("skew", "1"));
      rule["whenUnsatisfiable"] = "DoNotSchedule";
      spec["topologySpreadConstraints"] = json::Array{rule};
    }
    lab_.pod(json::write(json::Object{{"metadata", metaOf(c, name, app)}, {"spec", spec}}));
    return told();
  }

  // What the engine did since the last answer; bound CPUs and NUMA nodes are added.
  std::string told() {
    std::string out;
    for (const std::string& line : lab_.takeLog()) out += line + placedAs(line) + "\n";
    return out;
  }
  std::string placedAs(const std::string& line) const {
    const size_t arrow = line.find(" -> ");
    if (arrow == std::string::npos) return "";
    const auto found = lab_.find(line.substr(0, arrow));
    if (!found) return "";
    const auto status = api::parseResourceStatus(found->meta.annotations);
    if (!status || !*status) return "";
    std::string out;
    if (!(*status)->cpuset.empty()) out += " cpus " + (*status)->cpuset;
    for (const auto& part : (*status)->numaNodeResources) out += fmt::format(" numa {}", part.node);
    return out;
  }

  std::string show() {
    const auto sizes = lab_.engine().queue().sizes();
    return fmt::format("active {}, backing off {}, unschedulable {}, gated {}\n", sizes.active,
                       sizes.backoff, sizes.pool, sizes.gated);
  }

  Lab lab_;
};

}  // namespace

std::unique_ptr<Driver> makeSchedulerDriver() {
  return std::make_unique<SchedulerDriver>();
}

}  // namespace mangrove::scripts
