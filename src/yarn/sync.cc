#include "yarn/sync.h"

#include <fmt/format.h>

#include "base/os/log.h"
#include "client/informer/follow.h"
#include "json/value.h"

namespace mangrove::yarn {
namespace {

namespace kind = client::kind;
const Logger log("yarn");

client::Request annotationPatch(client::Ref ref, std::string_view name, std::string_view text) {
  const json::Object body{{"metadata", {{"annotations", {{name, text}}}}}};
  return client::patchRequest(std::move(ref), client::PatchType::kMerge, json::write(body));
}

std::string textOf(const Capacity& capacity) {
  return fmt::format("{} vcores, {} MB", capacity.vcores, capacity.memoryMb);
}

// Pods that neither ask for batch resources nor carry a NodeManager are nobody here.
bool matters(const YarnPod& pod) {
  return pod.isManager || pod.asks != Share{};
}

template <class T>
void follow(std::map<std::string, std::shared_ptr<const T>, std::less<>>& into,
            const client::Change<T>& change, bool keep) {
  if (keep)
    into.insert_or_assign(std::string(change.key), change.after);
  else if (const auto found = into.find(change.key); found != into.end())
    into.erase(found);
}

}  // namespace

YarnSync::YarnSync(SyncSetup setup, SyncOptions options, Duration period)
    : setup_(setup),
      options_(std::move(options)),
      period_(period),
      nodeCache_(client::follow(setup, kind::kNode)),
      podCache_(client::follow(setup, kind::kPod)),
      updates_(setup.metrics.counters("mangrove_yarn_updates_total",
                                      "Capacities told to the ResourceManager.",
                                      {"direction", "result"})),
      vcores_(setup.metrics.gauges("mangrove_yarn_capacity_vcores",
                                   "Virtual cores of a NodeManager, as told.", {"node"})),
      memory_(setup.metrics.gauges("mangrove_yarn_capacity_memory_mb",
                                   "Memory of a NodeManager in MB, as told.", {"node"})),
      wrong_(setup.metrics.gauges("mangrove_yarn_findings",
                                  "Things that a person should mend, by reason.", {"reason"})) {}

YarnSync::~YarnSync() {
  life_.end();
}

void YarnSync::start() {
  nodeCache_.onChange([this](const client::Change<YarnNode>& change) {
    follow(nodes_, change, change.after != nullptr);
  });
  podCache_.onChange([this](const client::Change<YarnPod>& change) {
    follow(pods_, change, change.after && matters(*change.after));
  });
  nodeCache_.start();
  podCache_.start();
}

void YarnSync::lead() {
  leads_ = true;
  look();
}

void YarnSync::yield() {
  leads_ = false;
  timer_.reset();
}

std::string YarnSync::waitingFor() const {
  if (!nodeCache_.hasSynced()) return "nodes are not listed yet";
  if (!podCache_.hasSynced()) return "pods are not listed yet";
  return leads_ ? trouble_ : "";
}

void YarnSync::again() {
  if (leads_) timer_ = life_.later(setup_.clock, setup_.owner, period_, [this] { look(); });
}

void YarnSync::look() {
  if (!nodeCache_.hasSynced() || !podCache_.hasSynced()) return again();
  setup_.managers.nodes(life_.guard([this](const Result<std::vector<RmNode>>& yarn) {
    if (!leads_) return;
    if (yarn) return reckon(*yarn);
    if (trouble_ != yarn.error().text()) log.warn("{}", yarn.error().text());
    trouble_ = yarn.error().text();
    again();
  }));
}

void YarnSync::reckon(const std::vector<RmNode>& yarn) {
  trouble_.clear();
  checkCalculator();
  RoundPlan plan = planRound(
      {nodes_, pods_, yarn, reports_, options_, setup_.clock.mono(), setup_.clock.wall()});
  reports_ = std::move(plan.reports);
  standings_ = std::move(plan.standings);
  findings_ = std::move(plan.findings);
  if (calculator_) findings_.push_back(*calculator_);
  tell(findings_);
  measure(standings_);
  act(std::move(plan));
}

// Once for each ResourceManager that becomes active.
void YarnSync::checkCalculator() {
  const std::string active = setup_.managers.active();
  if (active.empty() || active == checked_) return;
  checked_ = active;
  setup_.managers.countsVcores(life_.guard([this, active](const Result<std::optional<bool>>& yes) {
    calculator_.reset();
    if (!yes) return void(checked_.clear());
    if (yes->value_or(true)) return;
    calculator_ =
        Finding{"", std::string(finding::kMemoryOnly),
                fmt::format("{} schedules by memory alone, so virtual cores bound nothing: set "
                            "yarn.scheduler.capacity.resource-calculator to "
                            "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
                            active)};
  }));
}

void YarnSync::act(RoundPlan plan) {
  underWay_ = 1;  // ourselves, until all are sent
  for (const CapacityUpdate& update : plan.updates) send(update);
  for (const NodeWrite& one : plan.nodes)
    write(annotationPatch({kind::kNode, "", one.node}, api::annotation::kThirdPartyAllocations,
                          one.thirdParties),
          "node " + one.node);
  for (const PodWrite& one : plan.pods) {
    const auto [ns, name] = client::splitKey(one.pod);
    write(annotationPatch({kind::kPod, std::string(ns), std::string(name)},
                          api::annotation::kYarnCapacity, one.capacity),
          "pod " + one.pod);
  }
  settle();
}

void YarnSync::settle() {
  if (--underWay_ == 0) again();
}

void YarnSync::send(const CapacityUpdate& update) {
  underWay_++;
  const Capacity &to = update.step.to, &before = update.before;
  const bool grows = to.vcores > before.vcores || to.memoryMb > before.memoryMb;
  setup_.managers.update(
      update.nodeId, to, update.step.overcommit,
      life_.guard([this, update, grows](const Result<>& outcome) {
        updates_.with({grows ? "up" : "down", outcome ? "done" : "failed"}).inc();
        if (outcome) {
          reports_[update.nodeId] = update.step.after;
          log.info("NodeManager {}: {} instead of {}", update.nodeId, textOf(update.step.to),
                   textOf(update.before));
        } else {
          log.warn("NodeManager {}: {}", update.nodeId, outcome.error().text());
        }
        settle();
      }));
}

// What fails is still different at the next look.
void YarnSync::write(client::Request request, const std::string& what) {
  underWay_++;
  setup_.client.submit(setup_.owner, std::move(request),
                       life_.guard([this, what](const Result<client::Reply>& reply) {
                         if (!reply && reply.error().code() != Code::kNotFound)
                           log.warn("{}: {}", what, reply.error().text());
                         settle();
                       }));
}

// Once for each content while it lasts.
void YarnSync::tell(const std::vector<Finding>& findings) {
  std::set<std::string> now;
  std::map<std::string, double> counts;
  for (const Finding& one : findings) {
    counts[one.reason]++;
    if (!now.insert(one.pod + " " + one.reason + " " + one.text).second) continue;
    if (told_.contains(one.pod + " " + one.reason + " " + one.text)) continue;
    log.warn("{}{}{}: {}", one.pod, one.pod.empty() ? "" : ": ", one.reason, one.text);
    const auto pod = pods_.find(one.pod);
    if (pod != pods_.end())
      setup_.events.warning(api::refTo(kind::kPod, pod->second->meta), one.reason, one.text);
  }
  told_ = std::move(now);
  wrong_.removeIf([&](const LabelValues& values) { return !counts.contains(values.front()); });
  for (const auto& [reason, count] : counts) wrong_.with({reason}).set(count);
}

void YarnSync::measure(const std::vector<Standing>& standings) {
  std::set<std::string> there;
  for (const Standing& one : standings) {
    there.insert(one.nodeId);
    vcores_.with({one.nodeId}).set(static_cast<double>(one.told.vcores));
    memory_.with({one.nodeId}).set(static_cast<double>(one.told.memoryMb));
  }
  for (GaugeFamily* family : {&vcores_, &memory_})
    family->removeIf([&](const LabelValues& values) { return !there.contains(values.front()); });
}

json::Value YarnSync::status() const {
  json::Array nodes, findings;
  for (const Standing& one : standings_)
    nodes.push_back(json::Object{{"nodeId", one.nodeId},
                                 {"node", one.node},
                                 {"pod", one.pod},
                                 {"wanted", toJson(one.wanted)},
                                 {"told", toJson(one.told)},
                                 {"used", toJson(one.used)}});
  for (const Finding& one : findings_)
    findings.push_back(json::Object{{"pod", one.pod}, {"reason", one.reason}, {"text", one.text}});
  return json::Object{{"active", setup_.managers.active()},
                      {"trouble", trouble_},
                      {"nodes", nodes},
                      {"findings", findings}};
}

}  // namespace mangrove::yarn
