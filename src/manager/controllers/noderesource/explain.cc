#include "manager/controllers/noderesource/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

std::string coresText(const Quantity& cpu) {
  return fmt::format("{:.3f}", static_cast<double>(cpu.milliValue()) / 1000);
}
std::string gibText(const Quantity& memory) {
  return fmt::format("{:.2f}", memory.approximate() / static_cast<double>(kGiB.v));
}

ExplainedLine line(std::string what, const CpuMemory& amount, std::string source) {
  return {std::move(what), coresText(amount.cpu), gibText(amount.memory), std::move(source)};
}

std::string age(WallTime then, WallTime now) {
  if (then == kZeroTime) return "never reported";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - then);
  return fmt::format("{} old", formatDuration(seconds));
}

// What everything is calculated from.
struct Facts {
  std::vector<PodFacts> pods;
  std::vector<const PodFacts*> pointers;
  std::vector<PodFacts> rooms;
  std::vector<const PodFacts*> roomPointers;
  std::optional<MetricFacts> metric;
  ConfigLoad config;
  NodePlan plan;
};

Facts factsOf(const ExplainInputs& in) {
  Facts out;
  for (const auto& pod : in.pods) out.pods.push_back(podFacts(pod));
  for (const auto& pod : out.pods) out.pointers.push_back(&pod);
  for (const auto& one : in.reservations) out.rooms.push_back(roomFacts(one));
  for (const auto& room : out.rooms) out.roomPointers.push_back(&room);
  if (in.metric) out.metric = metricFacts(in.metric->status);
  const SloConfig nothing;  // named: gcc 12 at -O2 takes a temporary here for uninitialised
  out.config = loadConfig(nothing, in.configMap ? &in.configMap->data : nullptr);
  const NodeMemory none;
  PlanInputs inputs{.node = in.node,
                    .pods = out.pointers,
                    .rooms = out.roomPointers,
                    .metric = out.metric ? &*out.metric : nullptr,
                    .topology = in.topology ? &*in.topology : nullptr,
                    .device = in.device ? &*in.device : nullptr,
                    .config = out.config.state,
                    .options = in.options,
                    .memory = none,
                    .now = in.now,
                    .window = in.window};
  out.plan = planNode(inputs);
  return out;
}

std::string reservedSource(const api::Node& node) {
  const auto reservation = reservationOf(node);
  if (!reservation.ignored.empty()) return "kubelet; annotation ignored: " + reservation.ignored;
  return fmt::format("larger of kubelet ({} cores) and annotation ({} cores)",
                     coresText(reservation.kubelet.cpu), coresText(reservation.annotated.cpu));
}

// Which of the three sums the policy takes.
const CpuMemory& sumOf(const BatchTerms& terms, ReclaimPolicy policy) {
  if (policy == ReclaimPolicy::kRequest) return terms.highRequest;
  if (policy == ReclaimPolicy::kMaxUsageRequest) return terms.highMax;
  return terms.highUsed;
}

ExplainedPart batchPart(const ExplainInputs& in, const Facts& facts) {
  const auto& batch = facts.plan.batch;
  const auto& terms = batch.terms;
  const auto& s = facts.plan.strategy.strategy;
  const std::string report = age(facts.metric->updateTime, in.now);
  ExplainedPart out{"batch = capacity − margin − max(system, reserved) − services", {}};
  out.lines.push_back(line("capacity", terms.capacity, "node status"));
  out.lines.push_back(line("− margin", terms.margin,
                           fmt::format("100 % − {} % cpu, 100 % − {} % memory ({})",
                                       s.cpuReclaimThresholdPercent.value_or(Percent{}).v,
                                       s.memoryReclaimThresholdPercent.value_or(Percent{}).v,
                                       facts.plan.strategy.from)));
  out.lines.push_back(
      line("  system", terms.system, "NodeMetric, with host applications, " + report));
  out.lines.push_back(line("  reserved", terms.reserved, reservedSource(in.node)));
  const bool byRequest = batch.policies.memory == ReclaimPolicy::kRequest;
  CpuMemory taken = maxOf(terms.system, terms.reserved);
  if (byRequest) taken.memory = terms.reserved.memory;
  out.lines.push_back(
      line("− kept", taken, byRequest ? "memory by request: reserved alone" : "the larger"));
  out.lines.push_back(
      line("− services",
           {sumOf(terms, batch.policies.cpu).cpu, sumOf(terms, batch.policies.memory).memory},
           fmt::format("cpu by {}, memory by {}, {}", reclaimPolicyName(batch.policies.cpu),
                       reclaimPolicyName(batch.policies.memory), report)));
  if (batch.policies.cpuThreshold || batch.policies.memoryThreshold)
    out.lines.push_back(
        line("  at most",
             percentOf(terms.capacity, batch.policies.cpuThreshold.value_or(Percent{100}),
                       batch.policies.memoryThreshold.value_or(Percent{100})),
             "batch…ThresholdPercent"));
  out.lines.push_back(line(
      "= for sale", {Quantity::ofMilli(batch.milliCpu), Quantity::of(Bytes{batch.memoryBytes})},
      "never below 0"));
  return out;
}

// Where they count, they are among the services by their request and have no usage.
ExplainedPart roomPart(const ExplainInputs& in, const Facts& facts) {
  const bool count = facts.plan.strategy.strategy.countReservations.value_or(false);
  ExplainedPart out{count ? "kept by reservations: asked for, used by nobody"
                          : "kept by reservations: not counted (countReservations is off)",
                    {}};
  for (size_t i = 0; i < facts.rooms.size(); i++)
    if (facts.rooms[i].counts)
      out.lines.push_back(line(in.reservations[i].meta.name.str(), facts.rooms[i].request,
                               std::string(api::bandName(facts.rooms[i].band))));
  return out;
}

ExplainedPart podPart(const ExplainInputs& in, const Facts& facts) {
  ExplainedPart out{"services on the node (request → usage)", {}};
  std::vector<bool> met(facts.metric->pods.size());
  for (size_t i = 0; i < facts.pods.size(); i++) {
    const PodFacts& pod = facts.pods[i];
    if (!pod.counts) continue;
    const PodUsage* used = facts.metric->find(pod.key);
    if (used) met[static_cast<size_t>(used - facts.metric->pods.data())] = true;
    if (!pod.isHigh()) continue;
    const auto& meta = in.pods[i].meta;
    const std::string source =
        used ? fmt::format("usage; requests {} cores, {} GiB; {} {}", coresText(pod.request.cpu),
                           gibText(pod.request.memory), api::qosName(pod.qos),
                           api::bandName(pod.band))
             : fmt::format("no metric yet: its request counts; {} {}", api::qosName(pod.qos),
                           api::bandName(pod.band));
    out.lines.push_back(line(fmt::format("{}/{}", meta.ns.view(), meta.name.view()),
                             used ? used->usage : pod.request, source));
  }
  for (const auto& metric : in.metric->status.podsMetric) {
    const PodUsage* used = facts.metric->find(podKey(metric.ns.view(), metric.name.view()));
    if (!used || met[static_cast<size_t>(used - facts.metric->pods.data())]) continue;
    if (used->band == api::PriorityBand::kBatch || used->band == api::PriorityBand::kFree) continue;
    out.lines.push_back(line(fmt::format("{}/{}", metric.ns.view(), metric.name.view()),
                             used->usage, "measured, but no such pod is on the node"));
  }
  return out;
}

ExplainedPart midPart(const Facts& facts, const ExplainInputs& in) {
  const auto& mid = facts.plan.mid;
  ExplainedPart out{mid.terms.isStatic ? "mid = capacity × static percent, at most the threshold"
                                       : "mid = min(reclaimable, unused) + share of unallocated",
                    {}};
  if (!mid.terms.isStatic) {
    out.lines.push_back(line("reclaimable", mid.terms.reclaimable,
                             "prediction, " + age(facts.metric->updateTime, in.now)));
    out.lines.push_back(line("unused", mid.terms.unused, "capacity − node usage"));
    out.lines.push_back(line("+ share", mid.terms.fromUnallocated,
                             "midUnallocatedPercent of what nobody asked for"));
  }
  out.lines.push_back(line("at most", mid.terms.cap, "mid…ThresholdPercent of capacity"));
  const auto& sold = facts.plan.midSold;
  out.lines.push_back(
      line("= for sale", {Quantity::ofMilli(sold.milliCpu), Quantity::of(Bytes{sold.memoryBytes})},
           in.window ? fmt::format("× {:g} by the clock", in.window->factor) : ""));
  return out;
}

ExplainedPart zonePart(const NodePlan& plan) {
  ExplainedPart out{"batch by NUMA zone", {}};
  for (const auto& zone : plan.zones)
    out.lines.push_back(line(
        zone.zone, {Quantity::ofMilli(zone.milliCpu), zone.memory},
        plan.ledger == plan.formula ? "same formula on the zone" : "its share of what is sold"));
  return out;
}

ExplainedPart ledgerPart(const ExplainInputs& in, const Facts& facts) {
  ExplainedPart out{"what is sold of it", {}};
  const auto asLine = [](std::string what, const Sold& sold, std::string source) {
    return line(std::move(what),
                {Quantity::ofMilli(sold.milliCpu), Quantity::of(Bytes{sold.memoryBytes})},
                std::move(source));
  };
  if (in.window) out.lines.push_back(line("by the clock", in.window->allowed, in.windowNote));
  const auto& steady = facts.plan.strategy.strategy.steadyReclaim;
  const bool held = steady && steady->enable.value_or(false);
  out.lines.push_back(
      asLine("ledger", facts.plan.ledger, held ? "rises are held and ramped (steadyReclaim)" : ""));
  Sold placed;
  for (const auto& part : facts.plan.placed) {
    placed.milliCpu += part.milliCpu;
    placed.memoryBytes += part.memoryBytes;
  }
  out.lines.push_back(asLine("placed", placed, "asked for by batch pods on the node"));
  return out;
}

ExplainedPart shownPart(const ExplainInputs& in, const Facts& facts) {
  ExplainedPart out{"on the node", {}};
  const auto& have = in.node.status.allocatable;
  for (const auto& [name, wanted] : facts.plan.wish.resources) {
    const Quantity* now = have.find(name);
    if (!now && !wanted) continue;
    const std::string want = wanted ? wanted->text() : "nothing";
    out.lines.push_back(
        {std::string(name.view()), now ? now->text() : "-", "",
         now && wanted && *now == *wanted
             ? "as calculated"
             : "calculated now: " + want + " (small changes wait, see resourceDiffThreshold)"});
  }
  return out;
}

ExplainedPart sourcePart(const ExplainInputs& in) {
  ExplainedPart out{"inputs", {}};
  for (const auto& source : in.sources)
    out.lines.push_back({source.what, "", "", source.text(in.now)});
  return out;
}

void addNotes(Explanation& out, const ExplainInputs& in, const Facts& facts) {
  out.notes.push_back(fmt::format(
      "configuration: {}, strategy from {}",
      in.configMap ? fmt::format("{}/{} version {}", in.configMap->meta.ns.view(),
                                 in.configMap->meta.name.view(), in.configMap->meta.resourceVersion)
                   : "no ConfigMap, defaults",
      facts.plan.strategy.from));
  for (const auto& finding : facts.config.findings) out.notes.push_back(finding.note());
  for (const auto& trouble : facts.plan.troubles)
    out.notes.push_back(fmt::format("{}: {}", trouble.plugin, trouble.message));
  if (!facts.plan.enabled) out.notes.push_back("nothing is sold: " + facts.plan.disabledBecause);
  if (facts.plan.batch.reset) out.notes.push_back("nothing is sold: " + facts.plan.batch.because);
  if (facts.plan.normalization && *facts.plan.normalization > 1)
    out.notes.push_back(fmt::format("batch-cpu is multiplied by cpu-normalization {:.2f}",
                                    *facts.plan.normalization));
}

}  // namespace

Explanation explainNode(const ExplainInputs& in) {
  Explanation out;
  out.node = in.node.meta.name.str();
  const Facts facts = factsOf(in);
  addNotes(out, in, facts);
  if (facts.plan.enabled && !facts.plan.batch.reset) {
    out.parts.push_back(batchPart(in, facts));
    out.parts.push_back(podPart(in, facts));
    if (auto rooms = roomPart(in, facts); !rooms.lines.empty())
      out.parts.push_back(std::move(rooms));
    if (!facts.plan.batch.zones.empty()) out.parts.push_back(zonePart(facts.plan));
    out.parts.push_back(ledgerPart(in, facts));
    out.parts.push_back(midPart(facts, in));
  }
  out.parts.push_back(shownPart(in, facts));
  if (!in.sources.empty()) out.parts.push_back(sourcePart(in));
  return out;
}

static std::string toText(const ExplainedPart& part) {
  size_t width = 12;
  bool amounts = false;  // both columns are filled, so they get headings
  bool values = false;
  for (const auto& l : part.lines) {
    width = std::max(width, l.what.size());
    amounts = amounts || !l.memory.empty();
    values = values || !l.cpu.empty();
  }
  std::string out = "\n" + part.title + "\n";
  if (amounts) out += fmt::format("  {:<{}} {:>12} {:>12}\n", "", width, "cores", "GiB");
  for (const auto& l : part.lines) {
    out += fmt::format("  {:<{}}", l.what, width);
    if (values) out += fmt::format(" {:>12}", l.cpu);
    if (amounts) out += fmt::format(" {:>12}", l.memory);
    out += l.source.empty() ? "\n" : "  " + l.source + "\n";
  }
  return out;
}

std::string toText(const Explanation& explanation) {
  std::string out = fmt::format("node {}\n", explanation.node);
  for (const auto& note : explanation.notes) out += fmt::format("  {}\n", note);
  for (const auto& part : explanation.parts) out += toText(part);
  return out;
}

std::string toJson(const Explanation& explanation) {
  json::Array parts;
  for (const auto& part : explanation.parts) {
    json::Array lines;
    for (const auto& l : part.lines)
      lines.push_back(json::Object{
          {"what", l.what}, {"cpu", l.cpu}, {"memory", l.memory}, {"source", l.source}});
    parts.push_back(json::Object{{"title", part.title}, {"lines", lines}});
  }
  json::Array notes;
  for (const auto& note : explanation.notes) notes.emplace_back(note);
  return json::writePretty(
             json::Object{{"node", explanation.node}, {"notes", notes}, {"parts", parts}}) +
         "\n";
}

}  // namespace mangrove::manager
