#include <algorithm>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/number/elapsed.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "cli/cluster_facts.h"
#include "cli/config_verdict.h"
#include "manager/config/node_strategy.h"

namespace mangrove::cli {
namespace {

enum class State { kGood, kWarning, kError };

struct Line {
  State state;
  std::string about, text, todo = {};
};
using Lines = std::vector<Line>;

constexpr Duration kLeaseSilence = std::chrono::seconds(60);
constexpr Duration kPodPatience = std::chrono::seconds(60);

std::string_view word(State state) {
  return state == State::kGood ? "ok" : state == State::kWarning ? "warning" : "error";
}

std::string some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 5;
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<long>(std::min(kShown, names.size())));
  return join(shown, ", ") +
         (names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

std::string since(WallTime then, WallTime now) {
  return formatDuration(std::chrono::duration_cast<std::chrono::seconds>(now - then));
}

void judgeKinds(const ClusterFacts& facts, Lines& out) {
  out.push_back({State::kGood, "server", fmt::format("{}, {}", facts.server, facts.version)});
  if (facts.missingCrds.empty())
    out.push_back({State::kGood, "custom resources", "all are served"});
  else
    out.push_back({State::kError, "custom resources", "not served: " + some(facts.missingCrds),
                   "install them: kubectl apply -k config/crd"});
  if (facts.missingPriorities.empty())
    out.push_back(
        {State::kGood, "priority classes", "koord-prod, -mid, -batch and -free are there"});
  else
    out.push_back({State::kWarning, "priority classes", "missing: " + some(facts.missingPriorities),
                   "create them, with the values of docs/concepts.md; pods that name them are "
                   "refused"});
}

manager::SloConfig judgeConfig(const ClusterFacts& facts, Lines& out) {
  const manager::SloConfig nothing;  // named: gcc 12 at -O2 takes a temporary for uninitialised
  auto load = manager::loadConfig(nothing, facts.config ? &facts.config->data : nullptr);
  if (!facts.config) {
    out.push_back({State::kWarning, "configuration", "there is no ConfigMap " + facts.configName,
                   "create it; until then every key has its default and nothing is for sale"});
    return std::move(load.state);
  }
  manager::Lint all;
  for (const auto& [key, text] : facts.config->data)
    if (auto lint = manager::lintConfig(text, key, {.key = key})) addTo(all, std::move(*lint));
  const Told told = configVerdict(all);
  const auto how = [](const manager::LintLine& line) {
    return line.severity == manager::Severity::kError ? State::kError : State::kWarning;
  };
  if (all.lines.empty())
    out.push_back({State::kGood, "configuration", facts.configName + ": " + told.answer});
  for (const auto& line : all.lines)
    out.push_back({how(line), "configuration", fmt::format("{}: {}", line.key, line.message),
                   fmt::format("kubectl edit configmap -n {} {}", facts.config->meta.ns.view(),
                               facts.config->meta.name.view())});
  return std::move(load.state);
}

struct NodeLists {
  std::vector<std::string> off, unmeasured, stale, unsold, noSlo, notReady, switchedOff;
};

NodeLists sortNodes(const ClusterFacts& facts, const manager::SloConfig& config) {
  NodeLists out;
  for (const auto& node : facts.nodes) {
    const std::string name = node.meta.name.str();
    if (!node.isReady()) out.notReady.push_back(name);
    if (node.meta.labels.get("node.mangrove.io/enforcement") == "off")
      out.switchedOff.push_back(name);
    if (std::find(facts.slos.begin(), facts.slos.end(), name) == facts.slos.end())
      out.noSlo.push_back(name);
    const auto strategy = manager::colocationFor(config.colocation.config, node.meta);
    if (!strategy.strategy.enable.value_or(false)) {
      out.off.push_back(name);
      continue;
    }
    const auto metric = facts.metrics.find(name);
    const Duration limit = std::chrono::minutes(strategy.strategy.degradeTimeMinutes.value_or(15));
    if (metric == facts.metrics.end() || metric->second.status.updateTime == kZeroTime)
      out.unmeasured.push_back(name);
    else if (elapsed(metric->second.status.updateTime, facts.now) > limit)
      out.stale.push_back(
          fmt::format("{} ({} old)", name, since(metric->second.status.updateTime, facts.now)));
    else if (!node.status.allocatable.find(api::resource::kBatchCpu))
      out.unsold.push_back(name);
  }
  return out;
}

void judgeNodes(const ClusterFacts& facts, const manager::SloConfig& config, Lines& out) {
  if (facts.nodes.empty()) {
    out.push_back({State::kError, "nodes", "there is none", "start an agent, or 'mangrove up'"});
    return;
  }
  const NodeLists found = sortNodes(facts, config);
  const auto complain = [&](State state, const char* what, const std::vector<std::string>& names,
                            std::string todo) {
    if (!names.empty())
      out.push_back(
          {state, "nodes",
           fmt::format("{} {}: {}", counted(names.size(), "node", "nodes"), what, some(names)),
           std::move(todo)});
  };
  const size_t lines = out.size();
  complain(State::kError, "not ready", found.notReady, "kubectl describe node NODE");
  complain(State::kWarning, "with colocation off", found.off,
           "set \"enable\": true in colocation-config, or in the nodeConfigs entry of the node");
  complain(State::kError, "never measured", found.unmeasured,
           "is an agent running there? its log and 'mangrove check node' on the machine say more");
  complain(State::kError, "with an old measurement", found.stale,
           "nothing is sold on them: look at the agent there");
  complain(State::kError, "measured, but with nothing for sale on the Node", found.unsold,
           "the manager does not write: is it running, and does it lead?");
  complain(State::kWarning, "without NodeSLO", found.noSlo,
           "agents there act on defaults: is the manager running?");
  complain(State::kWarning, "with enforcement switched off", found.switchedOff,
           "kubectl label node NODE node.mangrove.io/enforcement-");
  if (out.size() == lines)
    out.push_back({State::kGood, "nodes",
                   fmt::format("{}: ready, measured and for sale",
                               counted(facts.nodes.size(), "node", "nodes"))});
}

// Nobody has even looked at a pod that has no condition about its place.
void judgeScheduler(const ClusterFacts& facts, Lines& out) {
  std::vector<std::string> ignored, waiting;
  for (const auto& pod : facts.pods) {
    if (pod.status.phase != api::PodPhase::kPending || !pod.nodeName.view().empty()) continue;
    if (elapsed(pod.meta.creationTimestamp, facts.now) < kPodPatience) continue;
    const auto* placed = api::findCondition(pod.status.conditions, "PodScheduled");
    (placed ? waiting : ignored).push_back(api::keyOf(pod.meta).text());
  }
  if (!ignored.empty())
    out.push_back({State::kError, "scheduler", "nobody looked at " + some(ignored),
                   "is a scheduler of the pod's schedulerName running? 'kubectl get pod POD -o "
                   "jsonpath={.spec.schedulerName}'"});
  if (!waiting.empty())
    out.push_back({State::kWarning, "scheduler",
                   fmt::format("{} for more than a minute: {}",
                               counted(waiting.size(), "pod waits", "pods wait"), some(waiting)),
                   "'mangrove explain pod NAMESPACE/NAME' says why"});
  if (ignored.empty() && waiting.empty())
    out.push_back({State::kGood, "scheduler", "no pod waits for long"});
}

void judgeLeases(const ClusterFacts& facts, Lines& out) {
  for (const auto& lease : facts.leases) {
    const bool silent = elapsed(lease.renewTime, facts.now) > kLeaseSilence;
    const std::string name = lease.meta.name.str();
    if (lease.holderIdentity.empty())
      out.push_back({State::kWarning, "leader", name + ": nobody leads", "start the role"});
    else if (silent)
      out.push_back({State::kError, "leader",
                     fmt::format("{}: {} was last heard of {} ago", name, lease.holderIdentity,
                                 since(lease.renewTime, facts.now)),
                     "start the role again, or look at its log"});
    else
      out.push_back({State::kGood, "leader", fmt::format("{}: {}", name, lease.holderIdentity)});
  }
}

void judgeWebhooks(const ClusterFacts& facts, Lines& out) {
  for (const auto& hook : facts.webhooks) {
    const State bad = hook.refuses ? State::kError : State::kWarning;
    if (!hook.hasBundle)
      out.push_back({bad, "webhook", hook.name + " has no CA: the API server cannot trust it",
                     "the manager writes it when it starts; is it running?"});
    else if (hook.endpoints && *hook.endpoints == 0)
      out.push_back(
          {bad, "webhook", fmt::format("{}: nobody answers behind {}", hook.name, hook.service),
           hook.refuses ? "pods are refused until the manager is back"
                        : "pods are admitted without profiles until the manager is back"});
    else
      out.push_back({State::kGood, "webhook", hook.name});
  }
}

void judgeRights(const ClusterFacts& facts, Lines& out) {
  for (const auto& right : facts.rights)
    if (right.allowed)
      out.push_back({State::kGood, "rights",
                     fmt::format("{} may {} {}", right.account, right.verb, right.resource)});
    else
      out.push_back({State::kError, "rights",
                     fmt::format("{} may not {} {}", right.account, right.verb, right.resource),
                     "apply config/rbac"});
  for (const auto& unknown : facts.unknowns)
    out.push_back({State::kWarning, "rights", "could not be looked at: " + unknown,
                   "use a kubeconfig that may read it"});
}

}  // namespace

Told judgeCluster(const ClusterFacts& facts) {
  Lines lines;
  judgeKinds(facts, lines);
  const auto config = judgeConfig(facts, lines);
  judgeNodes(facts, config, lines);
  judgeScheduler(facts, lines);
  judgeLeases(facts, lines);
  judgeWebhooks(facts, lines);
  judgeRights(facts, lines);
  size_t errors = 0, warnings = 0;
  Told told;
  json::Array checks;
  std::vector<std::vector<std::string>> rows;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.state > b.state; });
  for (const Line& line : lines) {
    errors += line.state == State::kError;
    warnings += line.state == State::kWarning;
    rows.push_back({std::string(word(line.state)), line.about, line.text});
    checks.push_back(
        json::Object{{"state", word(line.state)}, {"about", line.about}, {"text", line.text}});
    if (!line.todo.empty() &&
        std::find(told.todo.begin(), told.todo.end(), line.todo) == told.todo.end())
      told.todo.push_back(line.todo);
  }
  told.good = errors == 0;
  const std::string found = fmt::format("{}, {}", counted(errors, "error", "errors"),
                                        counted(warnings, "warning", "warnings"));
  told.answer = errors > 0     ? "colocation does not work everywhere: " + found
                : warnings > 0 ? "colocation works, with something to look at: " + found
                               : "colocation works: " + found;
  told.terms = tableText(rows, "  ");
  told.data = {{"errors", errors}, {"warnings", warnings}, {"checks", std::move(checks)}};
  return told;
}

}  // namespace mangrove::cli
