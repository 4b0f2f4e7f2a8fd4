#include "scheduler/explain/explain.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "placement/engine/engine.h"
#include "placement/explain/explanation.h"
#include "placement/explain/group_explanation.h"
#include "placement/explain/near_miss.h"
#include "placement/intake/transform.h"
#include "scheduler/explain/filled_engine.h"

namespace mangrove::scheduler {

namespace {

// What admission would do: the number behind the priority class's name.
void rank(client::ApiClient& client, api::Pod& pod) {
  const api::PodSpec& spec = *pod.spec;
  if (spec.priority || spec.priorityClassName.empty()) return;
  auto text = client.get({api::kind::kPriorityClass, "", spec.priorityClassName.str()});
  if (!text) return;
  auto cls = api::decodeText<api::PriorityClass>(*text);
  if (!cls) return;
  pod.spec = api::changed(pod.spec, [&](api::PodSpec& changed) { changed.priority = cls->value; });
}

Result<std::shared_ptr<api::Pod>> findPod(client::ApiClient& client,
                                          const ExplainRequest& request) {
  std::string text = request.manifest;
  if (text.empty()) {
    auto found = client.get({api::kind::kPod, request.ns, request.name});
    if (!found) return pass(found.error());
    text = std::move(*found);
  }
  auto pod = api::decodeText<api::Pod>(text);
  if (!pod) return pod.error().in("pod");
  if (pod->meta.ns.empty()) pod->meta.ns = Interned(request.ns);
  if (pod->meta.uid.empty()) pod->meta.uid = api::Uid("00000000-0000-4000-8000-000000000001");
  if (!request.manifest.empty()) rank(client, *pod);
  transformPod(*pod);
  return std::make_shared<api::Pod>(std::move(*pod));
}

// What plugins say about single nodes that they refused, of the first few.
void tellDetails(Cycle& cycle, const Profile& profile, const Cluster& cluster, size_t most,
                 Explanation& out) {
  for (const auto& [row, refusal] : cycle.refusals()) {
    if (out.details.size() == most) return;
    const Plugin* plugin = profile.find(refusal.plugin);
    if (std::string text = plugin ? plugin->detail(cycle.state().plan(), row) : ""; !text.empty())
      out.details.push_back({cluster.table.info(row).name.str(), refusal.plugin, std::move(text)});
  }
}

void tellScores(Cycle& cycle, Cluster& cluster, size_t most, Explanation& out) {
  const std::vector<Row> rows = cycle.feasibleRows();
  out.feasible = rows.size();
  if (rows.empty()) return;
  const auto scores = cycle.breakdown(rows);
  for (const auto& one : scores) out.plugins.emplace_back(one.plugin);
  for (size_t i = 0; i < rows.size(); i++) {
    Explanation::Scored node{cluster.table.info(rows[i]).name.str(), 0, {}};
    for (const auto& one : scores) {
      node.scores.push_back(one.weight * one.scores[i]);
      node.total += node.scores.back();
    }
    out.top.push_back(std::move(node));
  }
  std::stable_sort(out.top.begin(), out.top.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  if (out.top.size() > most) out.top.resize(most);
}

}  // namespace

// Of a pod that waits with others: what its gang needs and what fits.
static std::string groupSentence(FilledEngine& filled, const api::Pod& pod, Profile& profile) {
  const auto view = viewOf(pod, profile);
  if (!view || view->isSatisfied) return "";
  return sentenceOf(explainGroup(filled.engine(), profile, *view,
                                 [&](const api::Uid& uid) { return filled.pending(uid); }));
}

Result<Explanation> explainPod(client::ApiClient& client, const SchedulerConfig& config,
                               const ExplainRequest& request, Clock& clock) {
  auto pod = findPod(client, request);
  if (!pod) return pass(pod.error());
  applyTransforms(**pod, config.transforms);
  auto filled = FilledEngine::make(client, config, clock, (*pod)->meta.uid);
  if (!filled) return pass(filled.error());
  Engine& engine = (*filled)->engine();
  Explanation out;
  out.pod = (*pod)->meta.ns.str() + "/" + (*pod)->meta.name.str();
  out.assignedTo = (*pod)->nodeName.str();
  out.nodes = engine.cluster().table.size();
  Profile* profile = engine.profileOf(**pod);
  if (!profile)
    return fail(mangrove::Code::kNotFound, "pod {}: no profile serves schedulerName '{}'", out.pod,
                (*pod)->spec->schedulerName.view());
  out.profile = profile->config().schedulerName;
  const PodPtr info = engine.cluster().makeInfo(*pod);
  info->nodeName = Interned();
  Cycle cycle(*profile, engine.cluster(), info);
  const bool placed = cycle.run().has_value();
  Cycle again(*profile, engine.cluster(), info);
  if (out.nodes > 0 && again.prepare()) {
    again.state().refresh();
    tellScores(again, engine.cluster(), request.topNodes, out);
    again.explainRefusals();
    tellDetails(again, *profile, engine.cluster(), request.topNodes, out);
    if (out.feasible == 0)
      out.nearestMiss = nearestMiss(profile->layout(), engine.cluster().table, again.state());
  }
  out.refusals = again.diagnosis().groups;
  if (out.assignedTo.empty()) out.message = heldBack(**pod, *profile);
  if (out.assignedTo.empty()) out.group = groupSentence(**filled, **pod, *profile);
  if (placed || !out.message.empty()) return out;
  if (out.nodes > 0 && !cycle.diagnosis().isError) cycle.askForAdvice();
  out.message = cycle.diagnosis().message();
  return out;
}

std::string toText(const Explanation& e) {
  std::string out =
      fmt::format("pod {} ({}): fits on {} of {} nodes\n", e.pod, e.profile, e.feasible, e.nodes);
  if (!e.assignedTo.empty()) out += fmt::format("it runs on {}\n", e.assignedTo);
  if (!e.message.empty()) out += e.message + "\n";
  if (!e.group.empty()) out += e.group + "\n";
  if (!e.refusals.empty()) out += "\nrefused by\n";
  for (const auto& group : e.refusals)
    out += fmt::format("  {:<20} {:>5} {}  {}{}\n", group.plugin, group.nodes,
                       group.nodes == 1 ? "node " : "nodes", group.reason,
                       group.preemptMightHelp ? " (preemption might help)" : "");
  if (!e.details.empty()) out += "\nnode by node\n";
  for (const auto& detail : e.details)
    out += fmt::format("  {:<20} {}: {}\n", detail.node, detail.plugin, detail.text);
  if (!e.nearestMiss.empty()) out += fmt::format("\nnearest miss: {}\n", e.nearestMiss);
  if (e.top.empty()) return out;
  out += "\nbest nodes, weighted scores\n";
  for (const auto& node : e.top) {
    std::vector<std::string> parts;
    for (size_t i = 0; i < e.plugins.size(); i++)
      parts.push_back(fmt::format("{} {}", e.plugins[i], node.scores[i]));
    out += fmt::format("  {:<20} {:>5}  {}\n", node.node, node.total, join(parts, ", "));
  }
  return out;
}

std::string toJsonText(const Explanation& e) {
  json::Array refusals, top, details;
  for (const auto& detail : e.details)
    details.push_back(
        json::Object{{"node", detail.node}, {"plugin", detail.plugin}, {"text", detail.text}});
  for (const auto& group : e.refusals)
    refusals.push_back(json::Object{{"plugin", group.plugin},
                                    {"reason", group.reason},
                                    {"nodes", group.nodes},
                                    {"preemptMightHelp", group.preemptMightHelp}});
  for (const auto& node : e.top) {
    json::Object scores;
    for (size_t i = 0; i < e.plugins.size(); i++) scores[e.plugins[i]] = node.scores[i];
    top.push_back(json::Object{{"node", node.node}, {"total", node.total}, {"scores", scores}});
  }
  return json::writePretty(json::Object{{"pod", e.pod},
                                        {"profile", e.profile},
                                        {"assignedTo", e.assignedTo},
                                        {"nodes", e.nodes},
                                        {"feasible", e.feasible},
                                        {"message", e.message},
                                        {"refusals", refusals},
                                        {"details", details},
                                        {"nearestMiss", e.nearestMiss},
                                        {"group", e.group},
                                        {"top", top}}) +
         "\n";
}

}  // namespace mangrove::scheduler
