#include "agent/interference/episode.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/time_text.h"

namespace mangrove::agent::interference {
namespace {

constexpr Duration kCapWindow = std::chrono::minutes(60);
constexpr double kCapHelps = 0.1;   // of the excess
constexpr double kSuffersMore = 3;  // times what it showed when the experiment began
constexpr double kBroken = 1.2;     // times what is promised
constexpr size_t kMostActions = 50;

WallTime plus(WallTime at, Duration more) {
  return at + std::chrono::duration_cast<WallTime::duration>(more);
}

bool isRung(const Ladder& ladder, Rung rung) {
  const auto& taken = ladder.taken();
  return std::any_of(taken.begin(), taken.end(),
                     [&](const Ladder::Taken& one) { return one.rung == rung; });
}

}  // namespace

Episode::Episode(const Service& victim, const Finding& finding, WallTime now)
    : uid_(victim.uid),
      ns_(victim.ns),
      name_(victim.name),
      application_(victim.application),
      qos_(victim.qos),
      band_(victim.band),
      finding_(finding),
      start_(now),
      ladder_(finding.resource, {}),
      nextStep_(now) {
  severity_ = severityOf(qos_, band_, finding.observed, finding.fence, finding.evidence);
}

Duration Episode::period() const {
  switch (finding_.evidence) {
    case Evidence::kPressure:
      return kPeriodSoftware;
    case Evidence::kLatency:
      return kPeriodLatency;
    default:
      return kPeriodCounters;
  }
}

// A promise that is broken by a fifth is severe; of pressure and counters twice the fence is.
bool Episode::isSevere() const {
  const bool broken =
      finding_.signal == kLatencySignal && finding_.observed > kBroken * finding_.fence;
  return broken || interference::isSevere(finding_.observed, finding_.fence);
}

void Episode::sees(const std::optional<Finding>& finding, bool measured) {
  if (!measured) return;
  anomalous_ = finding.has_value();
  if (!finding) return;
  if (finding->signal == finding_.signal) {
    finding_.observed = finding->observed;
    finding_.fence = finding->fence;
  }
  severity_ = severityOf(qos_, band_, finding->observed, finding->fence, finding->evidence);
}

const Neighbour* Episode::find(const Scene& scene, const std::string& uid) const {
  const auto found = std::find_if(scene.neighbours.begin(), scene.neighbours.end(),
                                  [&](const Neighbour& one) { return one.uid == uid; });
  return found == scene.neighbours.end() ? nullptr : &*found;
}

// Of what all offline pods use of the resource. Whose cache has grown is the contender for it.
double Episode::shareOf(const Scene& scene, const Past& past, const Neighbour& pod) const {
  const bool byCache = finding_.resource == Resource::kCache;
  const auto use = [&](const Neighbour& one) {
    const double now = useOf(one, finding_.resource);
    return byCache && one.cache ? past.cacheRise(one.uid, now) : now;
  };
  double all = 0;
  for (const Neighbour& one : scene.neighbours) all += use(one);
  return all > 0 ? use(pod) / all : 0;
}

std::vector<Ranked> Episode::suspectsOf(const Scene& scene, const Node& node) const {
  std::vector<Suspect> out;
  for (const Neighbour& one : scene.neighbours) {
    if (one.exempt || node.acquittals.holds(uid_, one.uid, scene.wall)) continue;
    const auto known = suspects_.find(one.uid);
    if (known != suspects_.end() && known->second.verdict.kind == Verdict::Kind::kGuilty) continue;
    Suspect suspect{.uid = one.uid,
                    .name = one.name,
                    .rank = one.rank,
                    .priority = one.priority,
                    .running = one.running,
                    .nearness = one.nearness};
    suspect.correlation = node.past.correlation(uid_, finding_.signal, finding_.resource,
                                                finding_.threshold, one.uid);
    suspect.share = shareOf(scene, node.past, one);
    out.push_back(std::move(suspect));
  }
  return rankSuspects(out, isSevere());
}

// On the scale of what the experiment measures. A tail is judged, the mean is measured: by how much
// that is up says how much there is to explain.
double Episode::excessOf(const Service& victim) const {
  const double beyond = std::max(0.0, finding_.observed - finding_.fence);
  if (finding_.signal != kLatencySignal) return beyond * finding_.perUnit;
  const double well = victim.latencyWell > 0 || finding_.observed <= 0
                          ? victim.latencyWell
                          : victim.latencyLately * finding_.fence / finding_.observed;
  return std::max(0.0, victim.latencyLately - well);
}

void Episode::beginSeries(const Scene& scene, const Service& victim, const Node& node) {
  const std::vector<Ranked> ranked = suspectsOf(scene, node);
  for (const Ranked& one : ranked) {
    Judged& known = suspects_[one.suspect.uid];
    known.name = one.suspect.name;
    known.score = one.score;
    known.correlation = one.suspect.correlation;
    known.share = one.suspect.share;
    if (const Neighbour* pod = find(scene, one.suspect.uid)) known.application = pod->application;
  }
  if (ranked.empty()) return;
  suspect_ = ranked.front().suspect.uid;
  const Neighbour* pod = find(scene, suspect_);
  suspectUsual_ = std::max(node.past.usualOf(suspect_), pod ? pod->cores : 0);
  seriesStart_ = finding_.observed;
  excess_ = excessOf(victim);
  series_.emplace(node.switches.rules, node.seed, excess_, suspectUsual_);
  act(scene.wall, fmt::format("experiment: {} gets half of its CPU time now and then, {} pairs",
                              ranked.front().suspect.name, node.switches.rules.pairs));
}

void Episode::stepSeries(const Scene& scene, const Service& victim, const Node& node, Orders& out) {
  const Neighbour* pod = find(scene, suspect_);
  if (pod == nullptr) {
    series_.reset();
    suspects_.erase(suspect_);
    act(scene.wall, "the suspect is gone: the experiment ends");
    return;
  }
  SeriesSample sample;
  sample.victim = victim.instant.of(finding_.signal, finding_.resource);
  if (finding_.signal == kLatencySignal) {
    sample.length = victim.instant.latencyOf;
    sample.age = victim.instant.latencyAge;
  }
  sample.victimLoad = victim.cores;
  sample.suspectUse = pod->cores;
  sample.foreign = pod->foreign;
  sample.suffers = finding_.observed > kSuffersMore * std::max(seriesStart_, finding_.fence);
  const Series::Step step = series_->step(scene.at, sample);
  if (step.done) return judged(scene.wall, node);
  if (step.throttle)
    out.caps.push_back(
        {suspect_, suspectUsual_ * SeriesRules().throttleTo,
         fmt::format("experiment for {}/{}: half of its CPU time for three seconds", ns_, name_)});
}

void Episode::judged(WallTime now, const Node& node) {
  Judged& known = suspects_[suspect_];
  known.verdict = series_->verdict();
  known.tried = true;
  series_.reset();
  act(now, fmt::format("{}: {}", known.name, known.verdict.text()));
  if (known.verdict.kind == Verdict::Kind::kGuilty) {
    antagonist_ = suspect_;
    antagonistUsual_ = suspectUsual_;
    return;
  }
  const bool innocent = known.verdict.kind == Verdict::Kind::kInnocent;
  node.acquittals.add(uid_, suspect_, now, innocent ? kInnocentFor : kUnknownFor);
}

void Episode::acquit(WallTime now, const Node& node, const std::string& why) {
  if (const auto known = suspects_.find(antagonist_); known != suspects_.end()) {
    known->second.verdict.kind = Verdict::Kind::kNotKnown;
    known->second.verdict.why = why;
    node.acquittals.add(uid_, antagonist_, now, kInnocentFor);
    act(now, fmt::format("{}: {}", known->second.name, why));
  }
  for (const Move& move : ladder_.dropAntagonist()) note(move, now);
  antagonist_.clear();
}

// A hard cap that changes nothing is lifted, whatever the experiment said.
void Episode::checkCap(WallTime now, const Node& node) {
  if (antagonist_.empty() || ladder_.isIdle()) return;
  const Ladder::Taken& last = ladder_.taken().back();
  if (last.rung != Rung::kHardCap || hardCaps_.empty()) return;
  if (now < plus(hardCaps_.back(), 2 * period())) return;
  const double excess = last.before - finding_.fence;
  if (anomalous_ && last.before - finding_.observed < kCapHelps * excess)
    acquit(now, node, "the hard cap did not help and is lifted");
}

LadderLimits Episode::limitsOf(const Scene& scene, const Service& victim,
                               const Switches& switches) const {
  LadderLimits out;
  out.off = switches.off;
  for (const auto& [rung, why] : scene.means.absent) out.off.insert(rung);
  if (!victim.hasSiblings) out.off.insert(Rung::kSiblings);
  out.ways = scene.means.ways;
  out.offlineWays = scene.means.offlineWays;
  out.bandwidth = scene.means.bandwidth;
  out.victimMayMove = victim.mayMove && qos_ == api::Qos::kLs;
  out.calmPeriods = finding_.resource == Resource::kCpu ? 15 : 3;
  const Neighbour* pod = find(scene, antagonist_);
  out.antagonistCores = antagonistUsual_;
  out.bestEffort = pod == nullptr || pod->bestEffort;
  const auto recent = std::count_if(hardCaps_.begin(), hardCaps_.end(),
                                    [&](WallTime at) { return scene.wall < plus(at, kCapWindow); });
  out.mayLeave =
      pod != nullptr && pod->evictable && static_cast<size_t>(recent) >= kCapsBeforeLeaving;
  return out;
}

void Episode::stepLadder(const Scene& scene, const Service& victim, const Node& node) {
  if (series_ || scene.wall < nextStep_) return;
  nextStep_ = plus(scene.wall, period());
  if (!antagonist_.empty() && find(scene, antagonist_) == nullptr) {
    act(scene.wall, "the antagonist is gone");
    for (const Move& move : ladder_.dropAntagonist()) note(move, scene.wall);
    antagonist_.clear();
  }
  checkCap(scene.wall, node);
  const bool capped = isRung(ladder_, Rung::kHardCap);
  // A hard cap lasts five minutes; it is renewed while the service still suffers.
  if (capped && !hardCaps_.empty() && scene.wall < plus(hardCaps_.back(), kHardCap)) return;
  ladder_.setLimits(limitsOf(scene, victim, node.switches));
  if (capped && anomalous_) {
    hardCaps_.push_back(scene.wall);
    act(scene.wall, "the hard cap is renewed");
    if (hardCaps_.size() < kCapsBeforeLeaving) return;
  }
  const LadderInput input{.anomalous = anomalous_,
                          .severe = isSevere(),
                          .metric = finding_.observed,
                          .fence = finding_.fence,
                          .proven = !antagonist_.empty()};
  for (const Move& move : ladder_.step(input)) {
    note(move, scene.wall);
    if (move.kind == Move::Kind::kDown && move.rung == Rung::kHardCap)
      hardCaps_.push_back(scene.wall);
    if (move.kind == Move::Kind::kAskProof && node.switches.causal && node.mayTry)
      beginSeries(scene, victim, node);
  }
}

void Episode::note(const Move& move, WallTime now) {
  switch (move.kind) {
    case Move::Kind::kDown:
      return act(now, fmt::format("{}: {:.3g}", rungName(move.rung), move.amount));
    case Move::Kind::kUp:
      return act(now, fmt::format("{} back: {}", rungName(move.rung),
                                  move.released ? "off" : fmt::format("{:.3g}", move.amount)));
    default:
      return;
  }
}

void Episode::act(WallTime now, std::string what) {
  actions_.push_back({now, std::move(what)});
  if (actions_.size() > kMostActions) actions_.erase(actions_.begin());
  news_ = true;
}

// What the rungs in force mean for files and pods.
Orders Episode::standing(const Scene& scene) const {
  Orders out;
  const std::string why = fmt::format("{}/{} suffers ({} {:.3g}, fence {:.3g})", ns_, name_,
                                      finding_.signal, finding_.observed, finding_.fence);
  for (const Ladder::Taken& one : ladder_.taken()) {
    const std::string reason = fmt::format("{}: {}", rungName(one.rung), why);
    if (one.rung == Rung::kIdleClass) out.idleClass = reason;
    if (one.rung == Rung::kMemoryHigh) {
      out.memoryShare = one.amount;
      out.memoryWhy = reason;
    }
    if (one.rung == Rung::kCacheWays) out.ways = one.amount, out.waysWhy = reason;
    if (one.rung == Rung::kBandwidth) out.bandwidth = one.amount, out.bandwidthWhy = reason;
    if (one.rung == Rung::kSiblings) out.siblings = reason, out.beside.insert(uid_);
    if (one.rung == Rung::kIoWeight) out.ioWeight = reason;
    if (one.rung == Rung::kNetClass) out.netClass = reason;
    const Neighbour* pod = find(scene, antagonist_);
    if (pod == nullptr) continue;
    const auto known = suspects_.find(antagonist_);
    const std::string proved =
        known == suspects_.end() ? reason : reason + "; " + known->second.verdict.text();
    if (one.rung == Rung::kQuota || one.rung == Rung::kHardCap)
      out.caps.push_back({antagonist_, one.amount, proved});
    if (one.rung == Rung::kLeave) out.leave.push_back({antagonist_, proved});
  }
  return out;
}

Orders Episode::step(const Scene& scene, const Service& victim, const Node& node) {
  Orders experiment;
  if (series_) stepSeries(scene, victim, node, experiment);
  if (node.switches.ladder) {
    stepLadder(scene, victim, node);
  } else if (node.switches.causal && anomalous_ && node.mayTry && !series_ &&
             scene.wall >= nextStep_) {
    // Who only reports goes on: there may be a second culprit.
    nextStep_ = plus(scene.wall, period());
    beginSeries(scene, victim, node);
  }
  Orders out = standing(scene);
  out.caps.insert(out.caps.end(), experiment.caps.begin(), experiment.caps.end());
  if (!anomalous_ && !series_ && ladder_.isIdle())
    end(antagonist_.empty() && !suspects_.empty() ? "Exonerated" : "Resolved", scene.wall);
  else if (scene.wall > plus(start_, kLongest) && ladder_.isIdle() && !series_)
    end(antagonist_.empty() ? "Expired" : "Escalated", scene.wall);
  return out;
}

void Episode::end(std::string_view outcome, WallTime now) {
  outcome_ = outcome;
  end_ = now;
  news_ = true;
}

bool Episode::wantsMove() const {
  return isRung(ladder_, Rung::kMoveVictim);
}

std::string Episode::text() const {
  const std::string doing =
      series_               ? fmt::format("experiment on {} ({} pairs)",
                            suspects_.count(suspect_) ? suspects_.at(suspect_).name : suspect_,
                                          series_->kept())
      : antagonist_.empty() ? "looking"
                            : suspects_.at(antagonist_).verdict.text();
  return fmt::format("{}/{} {} {:.3g} over {:.3g}: {}", ns_, name_, finding_.signal,
                     finding_.observed, finding_.fence, doing);
}

api::InterferenceReport Episode::report(std::string_view node) const {
  api::InterferenceReport out;
  out.meta.ns = Interned(ns_);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(start_.time_since_epoch()).count();
  out.meta.name = api::Text(fmt::format("{}-{:x}", name_.substr(0, 200), seconds));
  out.spec = {.node = std::string(node),
              .victim = ns_ + "/" + name_,
              .victimUid = uid_,
              .application = application_,
              .signal = finding_.signal,
              .resource = std::string(resourceName(finding_.resource)),
              .start = start_};
  out.status.end = outcome_.empty() ? kZeroTime : end_;
  out.status.severity = severity_;
  out.status.observed = finding_.observed;
  out.status.fence = finding_.fence;
  out.status.evidence = {std::string(evidenceName(finding_.evidence))};
  for (const auto& [uid, one] : suspects_)
    out.status.suspects.push_back({one.name, one.score, one.correlation, one.share,
                                   one.tried ? std::string(verdictName(one.verdict.kind)) : "",
                                   one.tried ? one.verdict.text() : "", one.application});
  out.status.actions = actions_;
  out.status.outcome = outcome_;
  out.status.moveVictim = wantsMove();
  return out;
}

}  // namespace mangrove::agent::interference
