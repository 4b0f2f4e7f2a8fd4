#include "placement/plugins/interpodaffinity/affinity_part.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "placement/framework/scale.h"

namespace mangrove::placement {

AffinityPart::AffinityPart(Cluster& cluster, ClassPtr cls, InterPodAffinityArgs args)
    : cluster_(cluster), cls_(std::move(cls)), args_(args) {
  scoresOwn_ = !cls_->preferredAffinity.empty() || !cls_->preferredAntiAffinity.empty();
  scoresTheirs_ = scoresOwn_ || !args_.ignorePreferredTermsOfExistingPods;
}

ClusterPart::Ready AffinityPart::prepare() {
  if (namespaces_ != cluster_.namespaces.generation()) stale_ = true;
  if (stale_) rebuild();
  const bool filters = !cls_->requiredAffinity.empty() || anywhere(tables_[kOwnAnti]) ||
                       anywhere(tables_[kTheirAnti]);
  return {filters, scoreEntries_ > 0};
}

void AffinityPart::rebuild() {
  for (Table& table : tables_) table.clear();
  shares_.clear();
  seen_.clear();
  followed_.clear();
  scoreEntries_ = 0;
  namespaces_ = cluster_.namespaces.generation();
  stale_ = false;
  for (const PodTerm& term : cls_->requiredAffinity) keyIn(kOwnAffinity, term.topologyKey);
  for (const PodTerm& term : cls_->requiredAntiAffinity) keyIn(kOwnAnti, term.topologyKey);
  matchesSelf_ = matchesAll(*cls_);
  const bool onlyTheirs =
      cls_->requiredAffinity.empty() && cls_->requiredAntiAffinity.empty() && !scoresOwn_;
  const NodeTable& table = cluster_.table;
  for (Row row = 0; row < table.rows(); row++) {
    if (!table.live(row) || (onlyTheirs && table.info(row).podsWithTerms == 0)) continue;
    for (const PodPtr& pod : table.info(row).pods) count(*pod->cls, row, +1);
  }
}

uint16_t AffinityPart::keyIn(Which which, Interned topologyKey) {
  Table& table = tables_[which];
  for (size_t i = 0; i < table.size(); i++)
    if (table[i].domains().key == topologyKey) return static_cast<uint16_t>(i);
  const Domains& domains = cluster_.table.domains(topologyKey);
  table.emplace_back(domains);
  if (std::find(followed_.begin(), followed_.end(), topologyKey) == followed_.end()) {
    followed_.push_back(topologyKey);
    seen_.follow(domains);
  }
  return static_cast<uint16_t>(table.size() - 1);
}

bool AffinityPart::matchesAll(const PodClass& other) const {
  return std::all_of(cls_->requiredAffinity.begin(), cls_->requiredAffinity.end(),
                     [&](const PodTerm& t) { return t.matches(other, cluster_.namespaces); });
}

void AffinityPart::addShare(Shares& out, Which table, Interned key, int64_t amount) {
  out.push_back({table, keyIn(table, key), amount});
}

// What one running pod of that class adds to the domains of its node.
const AffinityPart::Shares& AffinityPart::sharesOf(const PodClass& other) {
  const auto [at, isNew] = shares_.try_emplace(other.id);
  if (!isNew) return at->second;
  Shares& out = at->second;
  if (!cls_->requiredAffinity.empty() && matchesAll(other))
    for (const PodTerm& term : cls_->requiredAffinity)
      addShare(out, kOwnAffinity, term.topologyKey, 1);
  for (const PodTerm& term : cls_->requiredAntiAffinity)
    if (term.matches(other, cluster_.namespaces)) addShare(out, kOwnAnti, term.topologyKey, 1);
  for (const PodTerm& term : other.requiredAntiAffinity)
    if (term.matches(*cls_, cluster_.namespaces)) addShare(out, kTheirAnti, term.topologyKey, 1);
  addScores(other, out);
  return out;
}

void AffinityPart::addScores(const PodClass& other, Shares& out) {
  const NamespaceLabels& ns = cluster_.namespaces;
  for (const PodTerm& term : cls_->preferredAffinity)
    if (term.matches(other, ns)) addShare(out, kScore, term.topologyKey, term.weight);
  for (const PodTerm& term : cls_->preferredAntiAffinity)
    if (term.matches(other, ns)) addShare(out, kScore, term.topologyKey, -term.weight);
  if (!scoresTheirs_) return;
  if (args_.hardPodAffinityWeight > 0)
    for (const PodTerm& term : other.requiredAffinity)
      if (term.matches(*cls_, ns))
        addShare(out, kScore, term.topologyKey, args_.hardPodAffinityWeight);
  for (const PodTerm& term : other.preferredAffinity)
    if (term.matches(*cls_, ns)) addShare(out, kScore, term.topologyKey, term.weight);
  for (const PodTerm& term : other.preferredAntiAffinity)
    if (term.matches(*cls_, ns)) addShare(out, kScore, term.topologyKey, -term.weight);
}

void AffinityPart::count(const PodClass& other, Row row, int sign) {
  if (stale_) return;
  for (const Share& share : sharesOf(other)) {
    DomainCounts& counts = tables_[share.table][share.key];
    counts.add(row, sign * share.amount);
    if (share.table == kScore && counts.has(row)) scoreEntries_ += sign;
  }
}

void AffinityPart::nodeChanged(Row row) {
  if (stale_ || !seen_.moved(row)) return;
  if (cluster_.table.info(row).pods.empty())
    seen_.note(row);
  else
    stale_ = true;
}

bool AffinityPart::anywhere(const Table& table) {
  return std::any_of(table.begin(), table.end(), [](const auto& c) { return c.anywhere(); });
}

bool AffinityPart::hits(const Table& table, Row row) {
  for (const DomainCounts& counts : table)
    if (counts.at(row) > 0) return true;
  return false;
}

bool AffinityPart::meetsAffinity(Row row) const {
  bool everywhere = true;
  for (const DomainCounts& counts : tables_[kOwnAffinity]) {
    if (!counts.has(row)) return false;
    everywhere = everywhere && counts.at(row) > 0;
  }
  // The first pod of a group that wants to be near itself has to start somewhere.
  return everywhere || (!anywhere(tables_[kOwnAffinity]) && matchesSelf_);
}

Verdict AffinityPart::verdict(Row row) const {
  if (!meetsAffinity(row)) return {Code::kUnresolvable, 0, kAffinity};
  if (hits(tables_[kOwnAnti], row)) return {Code::kUnschedulable, 0, kAntiAffinity};
  if (hits(tables_[kTheirAnti], row)) return {Code::kUnschedulable, 0, kExistingAntiAffinity};
  return {};
}

// One pass for each topology key, without branches, over all rows.
void AffinityPart::exclude(Totals totals) const {
  const bool anyPlace = !anywhere(tables_[kOwnAffinity]) && matchesSelf_;
  for (const DomainCounts& counts : tables_[kOwnAffinity]) {
    const uint32_t* of = counts.domains().of.data();
    const int64_t* pods = counts.all();
    const int64_t fewest = anyPlace ? 0 : 1;
    for (size_t row = 0; row < totals.size(); row++) {
      const bool fits = of[row] != 0 && pods[of[row]] >= fewest;
      totals[row] = fits ? totals[row] : kNotFeasible;
    }
  }
  for (const Table* table : {&tables_[kOwnAnti], &tables_[kTheirAnti]})
    for (const DomainCounts& counts : *table) {
      if (!counts.anywhere()) continue;
      const uint32_t* of = counts.domains().of.data();
      const int64_t* pods = counts.all();
      for (size_t row = 0; row < totals.size(); row++)
        totals[row] = pods[of[row]] > 0 ? kNotFeasible : totals[row];
    }
}

namespace {

struct Range {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();
};

template <class RawOf>
Range rangeOf(Totals totals, RawOf rawOf) {
  Range out;
  for (size_t row = 0; row < totals.size(); row++) {
    const bool counts = totals[row] != kNotFeasible;
    const int64_t raw = rawOf(row);
    out.least = std::min(out.least, counts ? raw : out.least);
    out.most = std::max(out.most, counts ? raw : out.most);
  }
  return out;
}

// least … most becomes 0 … 100. A few values repeat over thousands of nodes: each is divided once.
template <class RawOf>
void spreadOut(Totals totals, RawOf rawOf, int32_t weight) {
  const Range range = rangeOf(totals, rawOf);
  if (range.least >= range.most) return;
  const double span = static_cast<double>(range.most - range.least);
  const auto share = [&](int64_t above) {
    return weight * static_cast<int32_t>(static_cast<double>(kMaxScore) *
                                         (static_cast<double>(above) / span));
  };
  const auto distinct = static_cast<uint64_t>(range.most - range.least) + 1;
  std::vector<int32_t> shares(distinct <= totals.size() ? distinct : 0);
  for (size_t i = 0; i < shares.size(); i++) shares[i] = share(static_cast<int64_t>(i));
  for (size_t row = 0; row < totals.size(); row++) {
    if (totals[row] == kNotFeasible) continue;
    const int64_t above = rawOf(row) - range.least;
    totals[row] += shares.empty() ? share(above) : shares[static_cast<size_t>(above)];
  }
}

}  // namespace

bool AffinityPart::addScores(Totals totals, int32_t weight) {
  if (scoreEntries_ == 0) return false;
  const Table& table = tables_[kScore];
  if (table.size() == 1) {  // read where the numbers are
    const uint32_t* of = table[0].domains().of.data();
    const int64_t* sums = table[0].all();
    spreadOut(
        totals, [=](size_t row) { return sums[of[row]]; }, weight);
    return true;
  }
  raw_.assign(totals.size(), 0);
  for (const DomainCounts& counts : table) {
    const uint32_t* of = counts.domains().of.data();
    const int64_t* sums = counts.all();
    for (size_t row = 0; row < totals.size(); row++) raw_[row] += sums[of[row]];
  }
  spreadOut(
      totals, [this](size_t row) { return raw_[row]; }, weight);
  return true;
}

}  // namespace mangrove::placement
