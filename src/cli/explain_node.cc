// mangrove explain node N: how the amounts a node sells came to be, term by term, and what its
// agent holds on the machine.
#include <fmt/format.h>

#include "agent/almanac/serve.h"
#include "agent/qos/controls_text.h"
#include "api/annotations/node.h"
#include "api/koordinator/node_metric.h"
#include "api/wire/names.h"
#include "base/clock.h"
#include "base/text/time_text.h"
#include "cli/advice.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/explain_controls.h"
#include "cli/reservation_view.h"
#include "cli/usage.h"
#include "cli/voice.h"
#include "frame/flags.h"
#include "manager/controllers/noderesource/explain.h"
#include "manager/controllers/timepolicy/controller.h"
#include "net/loop.h"

namespace mangrove::cli {
namespace {

namespace kind = client::kind;

struct Options {
  ClusterAccess access;
  std::string configNamespace{api::object::kSystemNamespace};
  std::string configName{api::object::kSloConfig};
  bool mostSpecificEnable = false;
  Output output;
  AgentAccess agent;
  bool lastWeek = false;
  std::vector<std::string> names;
};

// An object that may be missing; its age is noted among the sources.
template <class T>
Result<std::optional<T>> fetch(client::ApiClient& client, const client::Ref& ref,
                               manager::ExplainInputs& in) {
  auto text = client.get(ref);
  if (!text && text.error().code() != Code::kNotFound) return pass(text.error());
  in.sources.push_back(manager::sourceOf(fmt::format("{} {}", ref.kind.kind, ref.key()),
                                         text ? std::string_view(*text) : std::string_view()));
  if (!text) return std::nullopt;
  auto out = api::decodeText<T>(*text);
  if (!out) return out.error().in("{} {}", ref.kind.kind, ref.name);
  return std::move(*out);
}

Result<std::vector<api::Pod>> podsOn(client::ApiClient& client, const std::string& node,
                                     manager::ExplainInputs& in) {
  std::vector<api::Pod> out;
  manager::ExplainSource last;
  client::Query query{.fieldSelector = "spec.nodeName=" + node, .limit = 500};
  do {
    auto page = client.list(kind::kPod, "", query);
    if (!page) return pass(page.error());
    for (auto item : page->items) {
      auto pod = api::decodeText<api::Pod>(item);
      if (!pod || pod->nodeName.view() != node) continue;
      out.push_back(std::move(*pod));
      auto source = manager::sourceOf("", item);
      if (source.changed >= last.changed) last = std::move(source);
    }
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  last.what = fmt::format("{} pods, the last", out.size());
  in.sources.push_back(std::move(last));
  return out;
}

// A server without the kind has none.
std::vector<api::Reservation> reservationsOn(client::ApiClient& client, const std::string& node) {
  std::vector<api::Reservation> out;
  const auto page = client.list(kind::kReservation);
  if (!page) return out;
  for (auto item : page->items)
    if (auto one = api::decodeText<api::Reservation>(item); one && one->status.nodeName == node)
      out.push_back(std::move(*one));
  return out;
}

// The first policy that selects the node, as the controller takes it. A server without the kind has
// none.
void askTheClock(client::ApiClient& client, manager::ExplainInputs& in) {
  const auto page = client.list(manager::kTimePolicyKind);
  if (!page) return;
  std::optional<manager::MetricFacts> metric;
  if (in.metric) metric = manager::metricFacts(in.metric->status);
  std::vector<manager::PodFacts> facts;
  for (const auto& pod : in.pods) facts.push_back(manager::podFacts(pod));
  std::vector<const manager::PodFacts*> pods;
  for (const auto& pod : facts) pods.push_back(&pod);
  for (auto item : page->items) {
    const auto object = api::decodeText<manager::TimePolicy>(item);
    const auto policy = object ? manager::compilePolicy(*object) : pass(object.error());
    if (!policy || !policy->nodes.matches(in.node.meta.labels)) continue;
    in.sources.push_back(manager::sourceOf("ColocationTimePolicy " + policy->name, item));
    const auto verdict = manager::judgeTime(*policy, in.now);
    const auto allowed = manager::allowedBy(
        *policy, verdict, manager::cpuMemoryOf(in.node.status.capacity),
        manager::onlineUsage(metric ? &*metric : nullptr), manager::allocatedBy(pods));
    in.window = manager::WindowReport{allowed.value_or(manager::CpuMemory{}), verdict.factor};
    in.windowNote = fmt::format(
        "policy {}, {}, × {:g}{}, until {}", policy->name,
        verdict.window.empty() ? "outside of all windows" : "window '" + verdict.window + "'",
        verdict.factor, verdict.draining ? ", draining" : "", formatTime(verdict.changesAt));
    return;
  }
}

Result<manager::ExplainInputs> gather(client::ApiClient& client, const Options& options,
                                      const std::string& name) {
  manager::ExplainInputs in;
  in.options.mostSpecificEnable = options.mostSpecificEnable;
  auto node = fetch<api::Node>(client, {kind::kNode, "", name}, in);
  if (!node) return pass(node.error());
  if (!*node) return fail(Code::kNotFound, "there is no node '{}'", name);
  in.node = std::move(**node);
  auto metric = fetch<api::NodeMetric>(client, {kind::kNodeMetric, "", name}, in);
  if (!metric) return pass(metric.error());
  in.metric = std::move(*metric);
  if (auto topology =
          fetch<api::NodeResourceTopology>(client, {kind::kNodeResourceTopology, "", name}, in))
    in.topology = std::move(*topology);
  if (auto device = fetch<api::Device>(client, {kind::kDevice, "", name}, in))
    in.device = std::move(*device);
  auto config = fetch<api::ConfigMap>(
      client, {kind::kConfigMap, options.configNamespace, options.configName}, in);
  if (!config) return pass(config.error());
  in.configMap = std::move(*config);
  auto pods = podsOn(client, name, in);
  if (!pods) return pass(pods.error());
  in.pods = std::move(*pods);
  in.reservations = reservationsOn(client, name);
  in.now = realClock().wall();
  askTheClock(client, in);
  return in;
}

Result<bool> readFlags(const std::vector<std::string>& args, Options& options) {
  frame::Flags flags("mangrove explain node", "how the amounts a node sells came to be");
  options.access.declare(flags);
  flags.add("config-namespace", options.configNamespace, "namespace of the configuration");
  flags.add("slo-config-name", options.configName, "name of the ConfigMap with the strategies");
  flags.add("most-specific-enable", options.mostSpecificEnable,
            "as the manager's flag: a node may be on while the cluster is off");
  options.output.declare(flags);
  options.agent.declare(flags);
  flags.add("last-week", options.lastWeek,
            "what the node used in the last seven days, day by day, from the agent's almanac");
  flags.positionals("NODE", options.names, "name of the node");
  auto go = flags.parse(args);
  if (!go || !*go) return go;
  if (options.names.size() != 1) return invalid("want the name of one node");
  return true;
}

std::string textOf(const Result<json::Value>& controls) {
  return controls ? agent::controlsText(*controls, "")
                  : fmt::format("Controls: not known: {}\n", controls.error().text());
}

Told tellAll(const manager::Explanation& told, const Result<json::Value>& controls) {
  Told out = nodeVerdict(told);
  out.terms = manager::toText(told) + "\n" + textOf(controls);
  auto all = json::parse(manager::toJson(told));
  if (all && all->is_object()) out.data = all->get_object();
  out.data["controls"] =
      controls ? *controls : json::Value(json::Object{{"error", controls.error().text()}});
  return out;
}

constexpr const char* kLastWeek = "/almanac?subject=node&hours=168&step=1440";

void addLastWeek(const Result<json::Value>& week, Told& told) {
  told.terms += "\nLast week:\n" + (week ? agent::almanacText(*week)
                                         : fmt::format("not known: {}\n", week.error().text()));
  told.data["lastWeek"] = week ? *week : json::Value(json::Object{{"error", week.error().text()}});
}

// A server without the kind has none.
void addReservations(client::ApiClient& client, const std::string& node, WallTime now, Told& told) {
  ReservationView view;
  if (view.loadNode(client, node)) told.terms += view.tellNode(node, now, told.data);
}

Result<int> run(const Options& options) {
  net::Loop loop(1);
  auto client = options.access.open(loop);
  if (!client) return pass(client.error());
  auto in = gather(**client, options, options.names[0]);
  if (!in) return pass(in.error());
  const auto controls = askAgent(loop, options.agent, options.access, in->node);
  Told told = tellAll(manager::explainNode(*in), controls);
  addReservations(**client, options.names[0], in->now, told);
  if (options.lastWeek)
    addLastWeek(askAgent(loop, options.agent, options.access, in->node, kLastWeek), told);
  return say(told, options.output);
}

}  // namespace

int explainNode(const std::vector<std::string>& args) {
  Options options;
  const auto go = readFlags(args, options);
  if (!go) return complain("mangrove explain node", go.error(), kWrongUsage);
  if (!*go) return 0;
  const auto done = run(options);
  return done ? *done : complain("mangrove explain node", done.error());
}

}  // namespace mangrove::cli
