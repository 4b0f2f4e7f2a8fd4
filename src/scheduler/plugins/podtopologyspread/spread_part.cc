#include "scheduler/plugins/podtopologyspread/spread_part.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mangrove::scheduler {

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

bool SpreadPart::lacksKey(Row row) const {
  return plan_.needsAllKeys && std::any_of(soft_.begin(), soft_.end(), [&](const Counter& counter) {
           return !counter.pods.has(row);
         });
}

bool SpreadPart::score(std::span<const Row> rows, int64_t* out) {
  constexpr int64_t kIgnored = -1;
  size_t counted = 0;
  for (size_t i = 0; i < rows.size(); i++) {
    out[i] = lacksKey(rows[i]) ? kIgnored : 0;
    counted += out[i] == 0;
  }
  std::vector<double> sums(rows.size());
  std::vector<uint8_t> met;
  for (const Counter& counter : soft_) {
    size_t size = counted;
    if (!counter.rule.isHostname) {
      met.assign(counter.pods.domains().values.size(), 0);
      size = 0;
      for (size_t i = 0; i < rows.size(); i++)
        if (const uint32_t domain = counter.pods.domainOf(rows[i]);
            out[i] == 0 && domain && !met[domain])
          met[domain] = 1, size++;
    }
    for (size_t i = 0; i < rows.size(); i++) {
      if (out[i] == kIgnored || !counter.pods.has(rows[i])) continue;
      const int64_t count =
          counter.rule.isHostname ? counter.onRow[rows[i]] : counter.pods.at(rows[i]);
      sums[i] += spreadScore(count, counter.rule.maxSkew, size);
    }
  }
  int64_t least = std::numeric_limits<int64_t>::max(), most = 0;
  for (size_t i = 0; i < rows.size(); i++) {
    if (out[i] == kIgnored) continue;
    out[i] = std::llround(sums[i]);
    least = std::min(least, out[i]);
    most = std::max(most, out[i]);
  }
  for (size_t i = 0; i < rows.size(); i++)
    out[i] = out[i] == kIgnored ? 0 : spreadShare(out[i], least, most);
  return true;
}

}  // namespace mangrove::scheduler
