#include "placement/explain/explanation.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "api/annotations/gang.h"
#include "api/wire/names.h"
#include "base/text/strings.h"

namespace mangrove::placement {

namespace {

std::string_view withoutEnd(std::string_view text, std::string_view end) {
  return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

api::ExplainedPlacement placement(const api::Pod& pod, std::string_view node) {
  return {pod.meta.ns.str(), pod.meta.name.str(), pod.meta.uid.str(), std::string(node)};
}

// By plugin, reason and whether preemption might help: names of nodes.
using Failures = std::map<std::tuple<std::string, std::string, bool>, std::vector<std::string>>;

Failures failuresOf(Cycle& cycle, Cluster& cluster) {
  Failures out;
  if (cycle.diagnosis().isError) return out;
  const auto name = [&](Row row) { return cluster.table.info(row).name.str(); };
  const Diagnosis& diagnosis = cycle.diagnosis();
  // Refused as a whole: the same for all.
  if (!diagnosis.preFilter.empty()) {
    for (const auto& group : diagnosis.groups)
      for (Row row : cluster.table.liveRows())
        out[{group.plugin, group.reason, group.preemptMightHelp}].push_back(name(row));
  } else {
    for (const auto& [row, refusal] : cycle.refusals())
      out[{refusal.plugin, refusal.reason, refusal.preemptMightHelp}].push_back(name(row));
  }
  for (auto& [key, names] : out) std::sort(names.begin(), names.end());
  return out;
}

std::vector<api::NodeFailure> told(const Failures& failures, size_t most) {
  std::vector<api::NodeFailure> out;
  for (const auto& [key, names] : failures) {
    const auto& [plugin, reason, might] = key;
    const auto end = names.begin() + static_cast<ptrdiff_t>(std::min(most, names.size()));
    out.push_back({plugin, reason, might, std::vector<std::string>(names.begin(), end)});
  }
  return out;
}

// What one pod finds at the moment.
struct Finding {
  std::shared_ptr<const api::Pod> pod;
  std::string node;            // "": none
  std::set<std::string> fits;  // names of nodes
  Failures failures;
  std::string message;
  Preemption preemption;
  std::string preemptNode;  // where evicting helps
};

void tryEvicting(Finding& found, Cycle& cycle, Engine& engine, Profile& profile,
                 const PodPtr& info) {
  if (!profile.preempts() || cycle.diagnosis().isError) return;
  if (info->cls->spec->preemptionPolicy == api::PreemptionPolicy::kNever) {
    found.preemption.message = kNeverPreempts;
    return;
  }
  Rng rng(1);
  PreemptionSearch search = searchAfter(cycle, engine.cluster(), profile, info);
  search.now =
      info->pod->meta.creationTimestamp;  // it waits since then, and no clock is asked here
  found.preemption = preempt(search, rng);
  if (found.preemption.row != kNoRow)
    found.preemptNode = engine.cluster().table.info(found.preemption.row).name.str();
}

Finding findingOf(const std::shared_ptr<const api::Pod>& pod, Engine& engine, Profile& profile) {
  Finding out;
  out.pod = pod;
  out.message = heldBack(*pod, profile);
  if (!out.message.empty()) return out;
  Cluster& cluster = engine.cluster();
  const PodPtr info = cluster.makeInfo(pod);
  CycleOptions options;
  options.besideOnly = engine.config().skipFilterWithNominatedPods;
  Cycle cycle(profile, cluster, info, options);
  if (const auto placed = cycle.run()) {
    out.node = cluster.table.info(placed->row).name.str();
    for (Row row : cycle.feasibleRows()) out.fits.insert(cluster.table.info(row).name.str());
    out.fits.insert(out.node);
    out.failures = failuresOf(cycle, cluster);
    return out;
  }
  if (cluster.table.size() > 0 && !cycle.diagnosis().isError) {
    out.failures = failuresOf(cycle, cluster);
    tryEvicting(out, cycle, engine, profile, info);
    cycle.diagnosis().postFilter = out.preemption.message;
    if (out.preemptNode.empty()) cycle.askForAdvice();
  }
  out.message = cycle.diagnosis().message();
  return out;
}

// Values of labels have no slashes, so "zone" stands for "topology.kubernetes.io/zone" as well.
std::string domainOf(const api::Labels& node, const std::string& key) {
  if (key.empty()) return "";
  if (const auto exact = node.get(key)) return std::string(*exact);
  for (const auto& [name, value] : node)
    if (name.view().ends_with("/" + key)) return value.str();
  return "";
}

// One domain after the other, from what was found about all nodes.
class ByDomain {
 public:
  ByDomain(const NodeTable& table, const std::string& key) {
    for (Row row : table.liveRows()) {
      const std::string domain = domainOf(table.node(row).meta.labels, key);
      of_[table.info(row).name.str()] = domain;
      nodes_[domain]++;
    }
    if (nodes_.empty()) nodes_[""] = 0;
  }

  std::vector<api::DomainExplanation> explain(const std::vector<Finding>& findings,
                                              const std::vector<PodPtr>& placed) const {
    std::vector<api::DomainExplanation> out;
    for (const auto& [name, nodes] : nodes_) {
      if (out.size() == explanation::kMostDomains) break;
      out.push_back(explain(name, nodes, findings, placed));
    }
    return out;
  }

 private:
  bool isIn(const std::string& node, const std::string& domain) const {
    const auto at = of_.find(node);
    return at != of_.end() && at->second == domain;
  }

  // What refuses this pod here. A whole refusal without a single node is one all the same.
  void refuse(const Finding& found, const std::string& domain, size_t nodes,
              api::DomainExplanation& out) const {
    Failures here;
    Diagnosis diagnosis;
    diagnosis.nodes = nodes;
    for (const auto& [key, names] : found.failures)
      for (const std::string& name : names)
        if (isIn(name, domain)) {
          here[key].push_back(name);
          diagnosis.reasons[std::get<1>(key)]++;
        }
    out.scheduleExplanation.nodeFailedDetails = told(here, explanation::kMostNames);
    out.scheduleExplanation.failedMessage =
        nodes_.size() == 1 || (here.empty() && !found.message.empty()) ? found.message
                                                                       : diagnosis.message();
    out.failedMessage = out.scheduleExplanation.failedMessage;
  }

  void displace(const Finding& found, const std::string& domain,
                api::DomainExplanation& out) const {
    api::NodesExplanation& after = out.preemptExplanation;
    if (!isIn(found.preemptNode, domain)) {
      if (found.preemptNode.empty()) after.failedMessage = found.preemption.message;
      return;
    }
    after.schedulable = out.schedulableAfterPreemption = true;
    after.feasibleSchedulingResult = {placement(*found.pod, found.preemptNode)};
    api::NodeVictims victims{found.preemptNode, {}};
    for (const PodPtr& victim : found.preemption.victims) {
      const api::ObjectMeta& meta = victim->pod->meta;
      victims.possibleVictims.push_back({meta.ns.str(), meta.name.str(), meta.uid.str(), false});
    }
    out.nodePossibleVictims = {std::move(victims)};
  }

  api::DomainExplanation explain(const std::string& domain, size_t nodes,
                                 const std::vector<Finding>& findings,
                                 const std::vector<PodPtr>& placed) const {
    api::DomainExplanation out;
    out.topologyDomain = domain;
    api::NodesExplanation& here = out.scheduleExplanation;
    for (const PodPtr& pod : placed)
      if (isIn(pod->nodeName.str(), domain))
        here.feasibleSchedulingResult.push_back(placement(*pod->pod, pod->nodeName.view()));
    const Finding* missing = nullptr;
    for (const Finding& found : findings) {
      const bool fits = std::any_of(found.fits.begin(), found.fits.end(),
                                    [&](const auto& node) { return isIn(node, domain); });
      if (!fits && !missing) missing = &found;
      if (isIn(found.node, domain))
        here.feasibleSchedulingResult.push_back(placement(*found.pod, found.node));
    }
    here.schedulable = out.schedulable = !missing;
    if (!missing) return out;
    refuse(*missing, domain, nodes, out);
    if (missing->node.empty()) displace(*missing, domain, out);
    return out;
  }

  std::map<std::string, std::string> of_;  // node → domain
  std::map<std::string, size_t> nodes_;    // by domain
};

}  // namespace

std::string questionedKeyOf(const api::Pod& pod) {
  const api::Labels& labels = pod.meta.labels;
  if (const auto key = labels.get(api::label::kQuestionedObjectKey); key && !key->empty())
    return std::string(*key);
  if (const auto group = pod.meta.annotations.get(api::annotation::kGangGroups);
      group && !group->empty())
    return std::string(*group);
  std::string_view name = pod.meta.name.view();
  if (const auto group = labels.get(api::label::kPodGroup); group && !group->empty())
    name = withoutEnd(withoutEnd(*group, "-master"), "-worker");
  else if (const auto gang = api::gangNameOf(labels, pod.meta.annotations); !gang.empty())
    name = gang;
  return pod.meta.ns.str() + "/" + std::string(name);
}

std::string heldBack(const api::Pod& pod, const Profile& profile) {
  for (Plugin* plugin : profile.preEnqueue())
    if (const PodVerdict verdict = plugin->wouldAdmit(pod); !verdict.go())
      return verdict.reasons.empty() ? fmt::format("held back by {}", plugin->name())
                                     : join(verdict.reasons, ", ");
  return "";
}

std::vector<api::NodeFailure> nodeFailures(Cycle& cycle, Cluster& cluster, size_t most) {
  return told(failuresOf(cycle, cluster), most);
}

api::ScheduleExplanationStatus answerTo(const Question& question, Engine& engine) {
  api::ScheduleExplanationStatus out;
  std::vector<Finding> findings;
  for (const auto& pod : question.waiting) {
    if (findings.size() == explanation::kMostMembers) break;
    if (Profile* profile = engine.profileOf(*pod))
      findings.push_back(findingOf(pod, engine, *profile));
  }
  if (findings.empty() && question.placed.empty()) {
    out.failedMessage = "no pod of this scheduler has that key";
    return out;
  }
  out.schedulable = out.schedulableAfterPreemption = true;
  for (const Finding& found : findings) {
    if (!found.node.empty()) continue;
    if (out.failedMessage.empty()) out.failedMessage = found.message;
    out.schedulable = false;
    out.schedulableAfterPreemption = out.schedulableAfterPreemption && !found.preemptNode.empty();
  }
  if (out.schedulable) out.schedulableAfterPreemption = false;
  out.detailedExplanation =
      ByDomain(engine.cluster().table, question.topologyKey).explain(findings, question.placed);
  return out;
}

}  // namespace mangrove::placement
