#include "agent/interference/episodes.h"

#include <algorithm>
#include <set>

#include "json/value.h"

namespace mangrove::agent::interference {
namespace {

// Milliseconds a second are tenths of a percent; latency is measured in ms and judged in percent of
// what is promised.
double perUnitOf(std::string_view signal, const Service& service) {
  if (signal == kQueueSignal) return 0.1;
  return signal == kLatencySignal ? service.promisedMs / 100 : 1;
}

Finding findingOf(const StallVerdict& verdict, const StallMarks& marks, const Service& service) {
  const bool isLatency = verdict.signal == kLatencySignal;
  const double warn = isLatency                                ? marks.latency.warn
                      : verdict.resource == Resource::kMemory  ? marks.memorySome.warn
                      : verdict.resource == Resource::kIo      ? marks.io.warn
                      : verdict.resource == Resource::kNetwork ? marks.network.warn
                                                               : marks.cpu.warn;
  const auto evidence = isLatency ? Evidence::kLatency : Evidence::kPressure;
  return {verdict.resource, evidence, std::string(verdict.signal),       verdict.observed,
          verdict.fence,    warn,     perUnitOf(verdict.signal, service)};
}

Finding findingOf(const Counted& counted) {
  const Resource resource =
      counted.contention.empty() ? Resource::kUnknown : counted.contention.front();
  const double fence = counted.fence.value_or(counted.cpi);
  const auto evidence = counted.regression ? Evidence::kRegression : Evidence::kCounters;
  return {resource, evidence, std::string(kCpiSignal), counted.cpi, fence, fence};
}

void addTo(Orders& sum, Orders&& more) {
  for (Orders::Cap& cap : more.caps) sum.caps.push_back(std::move(cap));
  for (Orders::Leave& leave : more.leave) sum.leave.push_back(std::move(leave));
  if (sum.idleClass.empty()) sum.idleClass = std::move(more.idleClass);
  if (more.memoryShare < sum.memoryShare) {
    sum.memoryShare = more.memoryShare;
    sum.memoryWhy = std::move(more.memoryWhy);
  }
  const auto least = [](std::optional<double>& lowest, std::string& why,
                        const std::optional<double>& one, std::string& reason) {
    if (!one || (lowest && *lowest <= *one)) return;
    lowest = one;
    why = std::move(reason);
  };
  least(sum.ways, sum.waysWhy, more.ways, more.waysWhy);
  least(sum.bandwidth, sum.bandwidthWhy, more.bandwidth, more.bandwidthWhy);
  if (sum.siblings.empty()) sum.siblings = std::move(more.siblings);
  sum.beside.merge(more.beside);
  if (sum.ioWeight.empty()) sum.ioWeight = std::move(more.ioWeight);
  if (sum.netClass.empty()) sum.netClass = std::move(more.netClass);
}

}  // namespace

Episodes::Seen Episodes::detect(const Service& service, const Switches& switches, MonoTime at) {
  Seen out;
  Sense& sense = senses_[service.uid];
  if (service.counted && (switches.gaussian || switches.cpi2)) {
    const bool beyond = switches.gaussian && !service.counted->contention.empty();
    const bool lasts = sense.counters.add(beyond) || (switches.cpi2 && service.counted->outliers);
    out.measured = true;
    if (lasts) out.lasting = out.now = findingOf(*service.counted);
  }
  if (!service.stalls || !switches.pressure) return out;
  const StallVerdict verdict = judgeStalls(*service.stalls, switches.marks);
  const bool held = sense.held.over(verdict.grade, at, switches.marks.hold) == Grade::kAct;
  out.measured = true;
  if (verdict.grade == Grade::kAct && !out.now)
    out.now = findingOf(verdict, switches.marks, service);
  if (held && !out.lasting) out.lasting = findingOf(verdict, switches.marks, service);
  return out;
}

// The three that suffer most have one; a fourth takes the place of one that suffers less and has
// nothing in force, or waits.
void Episodes::open(const Service& service, const Finding& finding, WallTime now) {
  if (open_.size() >= kVictimsARound) return;
  open_.emplace(service.uid, Episode(service, finding, now));
}

bool Episodes::isTrying() const {
  return std::any_of(open_.begin(), open_.end(),
                     [](const auto& one) { return one.second.isTrying(); });
}

void Episodes::close(const std::string& uid) {
  const auto found = open_.find(uid);
  const api::InterferenceReport report = found->second.report("");
  ++ended_[{report.spec.resource, report.status.outcome}];
  closed_.push_back(std::move(found->second));
  open_.erase(found);
}

Orders Episodes::step(const Scene& scene, const Switches& switches) {
  Orders out;
  past_.add(scene);
  acquittals_.age(scene.wall);
  std::map<std::string, const Service*> services;
  std::vector<std::pair<const Service*, Finding>> fresh;
  for (const Service& one : scene.services) {
    services[one.uid] = &one;
    const Seen seen = detect(one, switches, scene.at);
    if (const auto found = open_.find(one.uid); found != open_.end())
      found->second.sees(seen.now, seen.measured);
    else if (seen.lasting)
      fresh.emplace_back(&one, *seen.lasting);
  }
  std::stable_sort(fresh.begin(), fresh.end(), [](const auto& a, const auto& b) {
    const auto worse = [](const auto& one) {
      return severityOf(one.first->qos, one.first->band, one.second.observed, one.second.fence,
                        one.second.evidence);
    };
    return worse(a) > worse(b);
  });
  for (const auto& [service, finding] : fresh) open(*service, finding, scene.wall);
  std::erase_if(senses_, [&](const auto& one) { return services.count(one.first) == 0; });
  std::vector<std::string> over;
  for (auto& [uid, episode] : open_) {
    const auto victim = services.find(uid);
    if (victim == services.end()) {
      episode.end(episode.wantsMove() ? "Escalated" : "Expired", scene.wall);
    } else {
      const Episode::Node node{past_, switches, acquittals_, !isTrying(), ++seed_};
      addTo(out, episode.step(scene, *victim->second, node));
    }
    if (episode.isOver()) over.push_back(uid);
  }
  for (const std::string& uid : over) close(uid);
  return out;
}

std::vector<api::InterferenceReport> Episodes::takeReports(std::string_view node) {
  std::vector<api::InterferenceReport> out;
  for (Episode& one : closed_) out.push_back(one.report(node));
  closed_.clear();
  for (auto& [uid, one] : open_)
    if (one.takeNews()) out.push_back(one.report(node));
  return out;
}

std::string Episodes::text() const {
  std::string out;
  for (const auto& [uid, one] : open_) out += (out.empty() ? "" : "; ") + one.text();
  return out;
}

json::Value Episodes::state() const {
  if (open_.empty() && acquittals_.size() == 0) return nullptr;
  json::Array open;
  for (const auto& [uid, one] : open_) open.push_back(one.state());
  return json::Object{{"open", std::move(open)}, {"acquittals", acquittals_.state()}};
}

void Episodes::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  if (top == nullptr) return;
  if (const json::Value* all = top->if_contains("acquittals")) acquittals_.restore(*all);
  const json::Value* open = top->if_contains("open");
  const json::Array* all = open ? open->if_array() : nullptr;
  if (all == nullptr) return;
  for (const json::Value& one : *all)
    if (auto episode = Episode::restore(one, ++seed_))
      open_.insert_or_assign(episode->victim(), std::move(*episode));
}

}  // namespace mangrove::agent::interference
