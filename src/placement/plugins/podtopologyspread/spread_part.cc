#include "placement/plugins/podtopologyspread/spread_part.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mangrove::placement {

SpreadPart::SpreadPart(Cluster& cluster, ClassPtr cls, SpreadDefaults defaults)
    : cluster_(cluster),
      cls_(std::move(cls)),
      defaults_(std::move(defaults)),
      required_(*cls_->spec) {}

ClusterPart::Ready SpreadPart::prepare() {
  if (plan_.usesDefaults && selectors_ != cluster_.selectorGeneration) stale_ = true;
  if (stale_) rebuild();
  if (leastStale_) findLeast();
  return {!hard_.empty(), !soft_.empty()};
}

void SpreadPart::rebuild() {
  plan_ = compileSpread(*cls_, defaults_, cluster_);
  selectors_ = cluster_.selectorGeneration;
  addCounters(plan_.hard, hard_);
  addCounters(plan_.soft, soft_);
  countEverything(hard_);
  countEverything(soft_);
  stale_ = false;
  leastStale_ = true;
}

void SpreadPart::addCounters(const std::vector<Spread>& rules, std::vector<Counter>& out) {
  out.clear();
  for (const Spread& rule : rules) out.emplace_back(rule, cluster_.table.domains(rule.key));
}

// A node counts for a constraint when it has all keys and is not kept out by the pod's own wishes.
bool SpreadPart::eligible(const Counter& counter, const std::vector<Counter>& all, Row row) const {
  const NodeTable& table = cluster_.table;
  if (!table.live(row)) return false;
  if (&all == &hard_ || plan_.needsAllKeys) {
    for (const Counter& other : all)
      if (!other.pods.has(row)) return false;
  } else if (!counter.pods.has(row)) {
    return false;
  }
  if (counter.rule.honorAffinity && !required_.match(table.node(row).meta)) return false;
  if (!counter.rule.honorTaints) return true;
  const auto& taints = table.taints(table.taintSet(row));
  return std::all_of(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    const bool keepsAway = taint.effect == api::TaintEffect::kNoSchedule ||
                           taint.effect == api::TaintEffect::kNoExecute;
    return !keepsAway || api::tolerates(cls_->spec->tolerations, taint);
  });
}

void SpreadPart::countEverything(std::vector<Counter>& counters) {
  const NodeTable& table = cluster_.table;
  for (Counter& counter : counters) {
    counter.eligible.assign(table.rows(), 0);
    counter.onRow.assign(table.rows(), 0);
    for (Row row = 0; row < table.rows(); row++) {
      counter.eligible[row] = eligible(counter, counters, row);
      if (counter.eligible[row]) counter.nodes.add(row, 1);
    }
  }
  if (counters.empty()) return;
  for (Row row = 0; row < table.rows(); row++)
    if (table.live(row))
      for (const PodPtr& pod : table.info(row).pods) countIn(counters, *pod, row, +1);
}

void SpreadPart::count(const PodInfo& pod, Row row, int by) {
  if (stale_ || pod.terminating || pod.cls->ns != cls_->ns) return;
  countIn(hard_, pod, row, by);
  countIn(soft_, pod, row, by);
}

void SpreadPart::countIn(std::vector<Counter>& counters, const PodInfo& pod, Row row, int by) {
  if (pod.terminating || pod.cls->ns != cls_->ns) return;
  for (Counter& counter : counters) {
    if (!counter.rule.selector.matches(pod.cls->labels)) continue;
    if (row >= counter.onRow.size()) {
      counter.onRow.resize(cluster_.table.rows());
      counter.eligible.resize(cluster_.table.rows());
    }
    counter.onRow[row] += by;
    if (!counter.eligible[row]) continue;
    counter.pods.add(row, by);
    leastStale_ = true;
  }
}

void SpreadPart::nodeChanged(Row row) {
  if (stale_) return;
  const auto differs = [&](const std::vector<Counter>& counters) {
    return std::any_of(counters.begin(), counters.end(), [&](const Counter& counter) {
      const bool before = row < counter.eligible.size() && counter.eligible[row];
      // A node that moved between two domains is eligible before and after: look at both.
      return before || eligible(counter, counters, row);
    });
  };
  stale_ = differs(hard_) || differs(soft_);
}

void SpreadPart::findLeast() {
  for (Counter& counter : hard_) {
    int64_t least = std::numeric_limits<int64_t>::max();
    int64_t domains = 0;
    for (uint32_t domain = 1; domain < counter.pods.domains().values.size(); domain++) {
      if (counter.nodes.in(domain) == 0) continue;
      domains++;
      least = std::min(least, counter.pods.in(domain));
    }
    counter.least = domains < counter.rule.minDomains || domains == 0 ? 0 : least;
  }
  leastStale_ = false;
}

Verdict SpreadPart::verdict(Row row) const {
  for (const Counter& counter : hard_) {
    if (!counter.pods.has(row)) return {Code::kUnresolvable, 0, kNoLabel};
    const int64_t skew = counter.pods.at(row) + counter.rule.matchesSelf - counter.least;
    if (skew > counter.rule.maxSkew) return {Code::kUnschedulable, 0, kSkewed};
  }
  return {};
}

// One pass for each constraint, without branches, over all rows.
void SpreadPart::exclude(Totals totals) const {
  for (const Counter& counter : hard_) {
    const uint32_t* of = counter.pods.domains().of.data();
    const int64_t* pods = counter.pods.all();
    const int64_t most = counter.rule.maxSkew + counter.least - counter.rule.matchesSelf;
    for (size_t row = 0; row < totals.size(); row++) {
      const bool fits = of[row] != 0 && pods[of[row]] <= most;
      totals[row] = fits ? totals[row] : kNotFeasible;
    }
  }
}

bool SpreadPart::lacksKey(Row row) const {
  return plan_.needsAllKeys && std::any_of(soft_.begin(), soft_.end(), [&](const Counter& counter) {
           return !counter.pods.has(row);
         });
}

namespace {

constexpr double kIgnored = -1;  // instead of a sum: the node lacks a key

// Halves away from zero, of what is not negative.
int64_t rounded(double value) {
  const auto whole = static_cast<int64_t>(value);
  return whole + (value - static_cast<double>(whole) >= 0.5);
}

}  // namespace

// How many values the label has among the feasible nodes; for host names, how many nodes there are.
size_t SpreadPart::sizeOf(const Counter& counter, Totals totals) const {
  const auto counts = [&](Row row) { return totals[row] != kNotFeasible && sums_[row] >= 0; };
  size_t size = 0;
  if (counter.rule.isHostname) {
    for (Row row = 0; row < totals.size(); row++) size += counts(row);
    return size;
  }
  std::vector<uint8_t> met(counter.pods.domains().values.size());
  const uint32_t* of = counter.pods.domains().of.data();
  for (Row row = 0; row < totals.size(); row++) met[of[row]] |= counts(row);
  return static_cast<size_t>(std::count(met.begin() + 1, met.end(), 1));
}

void SpreadPart::addRaw(Counter& counter, Totals totals, size_t size) {
  const uint32_t* of = counter.pods.domains().of.data();
  if (counter.rule.isHostname) {
    counter.onRow.resize(std::max(counter.onRow.size(), totals.size()));
    const double each = spreadScore(1, 1, size), base = counter.rule.maxSkew - 1;
    for (Row row = 0; row < totals.size(); row++)
      if (sums_[row] >= 0 && of[row] != 0)
        sums_[row] += static_cast<double>(counter.onRow[row]) * each + base;
    return;
  }
  std::vector<double> scores(counter.pods.domains().values.size());
  for (uint32_t domain = 1; domain < scores.size(); domain++)
    scores[domain] = spreadScore(counter.pods.in(domain), counter.rule.maxSkew, size);
  for (Row row = 0; row < totals.size(); row++) sums_[row] += sums_[row] >= 0 ? scores[of[row]] : 0;
}

// With one constraint over few domains nothing has to be computed for each node.
void SpreadPart::addByDomain(const Counter& counter, Totals totals, int32_t weight) const {
  const uint32_t* of = counter.pods.domains().of.data();
  std::vector<uint8_t> met(counter.pods.domains().values.size());
  for (size_t row = 0; row < totals.size(); row++) met[of[row]] |= totals[row] != kNotFeasible;
  const auto size = static_cast<size_t>(std::count(met.begin() + 1, met.end(), 1));
  std::vector<int64_t> raw(met.size());  // [0]: nodes without the label
  for (uint32_t domain = 1; domain < raw.size(); domain++)
    raw[domain] = rounded(spreadScore(counter.pods.in(domain), counter.rule.maxSkew, size));
  if (plan_.needsAllKeys) met[0] = 0;
  int64_t least = std::numeric_limits<int64_t>::max(), most = 0;
  for (uint32_t domain = 0; domain < raw.size(); domain++) {
    least = met[domain] ? std::min(least, raw[domain]) : least;
    most = met[domain] ? std::max(most, raw[domain]) : most;
  }
  std::vector<int32_t> worth(raw.size());
  for (uint32_t domain = 0; domain < raw.size(); domain++)
    if (met[domain])
      worth[domain] = weight * static_cast<int32_t>(spreadShare(raw[domain], least, most));
  for (size_t row = 0; row < totals.size(); row++)
    totals[row] += totals[row] != kNotFeasible ? worth[of[row]] : 0;
}

bool SpreadPart::addScores(Totals totals, int32_t weight) {
  if (soft_.size() == 1 && !soft_[0].rule.isHostname) {
    addByDomain(soft_[0], totals, weight);
    return true;
  }
  sums_.assign(totals.size(), 0);
  if (plan_.needsAllKeys)
    for (Row row = 0; row < totals.size(); row++)
      if (lacksKey(row)) sums_[row] = kIgnored;
  std::vector<size_t> sizes;
  for (const Counter& counter : soft_) sizes.push_back(sizeOf(counter, totals));
  for (size_t i = 0; i < soft_.size(); i++) addRaw(soft_[i], totals, sizes[i]);
  double least = std::numeric_limits<double>::max(), most = 0;
  for (Row row = 0; row < totals.size(); row++) {
    const bool counts = totals[row] != kNotFeasible && sums_[row] >= 0;
    least = std::min(least, counts ? sums_[row] : least);
    most = std::max(most, counts ? sums_[row] : most);
  }
  if (least <= most) share(totals, rounded(least), rounded(most), weight);
  return true;
}

// A few values repeat over thousands of nodes: each is divided once.
void SpreadPart::share(Totals totals, int64_t least, int64_t most, int32_t weight) const {
  const auto worth = [&](int64_t raw) {
    return weight * static_cast<int32_t>(spreadShare(raw, least, most));
  };
  const auto distinct = static_cast<uint64_t>(most - least) + 1;
  std::vector<int32_t> known(distinct <= totals.size() ? distinct : 0);
  for (size_t i = 0; i < known.size(); i++) known[i] = worth(least + static_cast<int64_t>(i));
  for (Row row = 0; row < totals.size(); row++) {
    if (totals[row] == kNotFeasible || sums_[row] < 0) continue;
    const int64_t raw = rounded(sums_[row]);
    totals[row] += known.empty() ? worth(raw) : known[static_cast<size_t>(raw - least)];
  }
}

}  // namespace mangrove::placement
