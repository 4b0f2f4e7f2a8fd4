#include "placement/cycle/plan_state.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "placement/cycle/plugin_times.h"

namespace mangrove::placement {

void RowColumns::rewound(uint64_t back, std::span<const Row> rows) {
  memo.rewound(back, rows);
  if (mark == ~uint64_t{0} || mark <= back) return;
  mark = back;
  takenBack.insert(takenBack.end(), rows.begin(), rows.end());
}

PlanState::PlanState(const Layout& layout, Cluster& cluster, ClassPtr cls,
                     std::shared_ptr<RowColumns> shared)
    : layout_(layout), cluster_(cluster), shared_(std::move(shared)) {
  plan_.cls = std::move(cls);
  plan_.data.resize(layout.slots);
  const auto compile = [&](Plugin* plugin) {
    auto& slot = plan_.data[plugin->slot()];
    if (!slot) slot = plugin->compile(*plan_.cls);
  };
  for (Plugin* plugin : layout.all) compile(plugin);
  for (size_t i = 0; i < layout.filters.size(); i++)
    if (auto* local = layout.filters[i].local; local && local->filters(plan_))
      activeFilters_.push_back(i);
  for (size_t i = 0; i < layout.scores.size(); i++) {
    auto* local = layout.scores[i].local;
    if (!local || !local->scores(plan_)) continue;
    (local->scale() == Scale::kNone ? activeScores_ : scaledScores_).push_back(i);
  }
  for (Plugin* plugin : layout.clusterWide) {
    Part part{plugin, nullptr, kNoPlugin, 0, {}};
    for (size_t i = 0; i < layout.filters.size(); i++)
      if (layout.filters[i].plugin == plugin) part.filterAt = static_cast<uint8_t>(i);
    for (const auto& score : layout.scores)
      if (score.plugin == plugin) part.weight = score.weight;
    parts_.push_back(std::move(part));
  }
  chooseColumns();
}

PlanState::~PlanState() {
  for (auto& part : parts_)
    if (part.part) cluster_.unlisten(*part.part);
}

bool PlanState::hasParts() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return !!part.part; });
}

uint64_t PlanState::outsideNow() const {
  uint64_t sum = 0;
  const auto mix = [&](uint64_t value) { sum = (sum ^ value) * 0x9E3779B97F4A7C15; };
  for (size_t i : activeFilters_) mix(layout_.filters[i].local->outside(plan_, cluster_.table));
  for (size_t i : activeScores_) mix(layout_.scores[i].local->outside(plan_, cluster_.table));
  for (size_t i : scaledScores_) mix(layout_.scores[i].local->outside(plan_, cluster_.table));
  return sum;
}

// Those of the shape, unless a plugin shows this class other rows than there are.
void PlanState::chooseColumns() {
  concerned_.clear();
  for (Transforming* plugin : layout_.transforming)
    if (plugin->concerns(plan_)) concerned_.push_back(plugin);
  if (concerned_.empty())
    columns_ = shared_;
  else if (!columns_ || columns_ == shared_)
    columns_ = std::make_shared<RowColumns>(cluster_.table);
  auto& scaled = columns_->scaled;
  if (scaled.size() == scaledScores_.size()) return;
  for (size_t i : scaledScores_) scaled.push_back({i, {}, 0});
}

void PlanState::refresh(PluginTimes* times) {
  if (!layout_.transforming.empty()) chooseColumns();  // before the columns are filled
  collectDirty();
  times_ = times;
  refreshRows(dirty_);
  times_ = nullptr;
  attachParts();
}

// The rows that must be looked at again, each once.
void PlanState::collectDirty() {
  RowColumns& c = *columns_;
  const NodeTable& table = cluster_.table;
  const uint64_t outside = outsideNow();
  const auto changed = table.changedSince(c.mark);
  dirty_.clear();
  const size_t before = c.local.size();
  if (table.rows() > before) {
    c.local.resize(table.rows(), kNotFeasible);
    c.verdicts.resize(table.rows(), {Code::kUnresolvable, kNoPlugin, 0});
    c.crowded.resize(table.rows());
    for (auto& s : c.scaled) s.raw.resize(table.rows());
  }
  const bool all = !changed || outside != c.outside || before == 0 ||
                   static_cast<size_t>(changed->second - changed->first) > table.rows();
  if (all) {
    dirty_.resize(table.rows());
    std::iota(dirty_.begin(), dirty_.end(), 0);
  } else {
    dirty_.assign(changed->first, changed->second);
    dirty_.insert(dirty_.end(), c.takenBack.begin(), c.takenBack.end());
    std::sort(dirty_.begin(), dirty_.end());
    dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
  }
  c.takenBack.clear();
  c.mark = table.now();
  c.outside = outside;
}

void PlanState::attachParts() {
  if (!layout_.transforming.empty()) chooseColumns();
  for (auto& part : parts_) {
    if (!part.part) {
      part.part = part.plugin->clusterWide()->attach(plan_);
      if (part.part) cluster_.listen(*part.part);
    }
    part.ready = part.part ? part.part->prepare() : ClusterPart::Ready{};
  }
}

bool PlanState::filtersAcross() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.ready.filters; });
}

void PlanState::setDead(Row row) {
  columns_->local[row] = kNotFeasible;
  columns_->verdicts[row] = {Code::kUnresolvable, kNoPlugin, 0};
  columns_->crowded[row] = {Code::kError, kNoPlugin, 0};
  for (auto& s : columns_->scaled) {
    if (s.raw[row] != 0) s.nonZero--;
    s.raw[row] = 0;
  }
}

void PlanState::refreshRows(std::vector<Row>& rows) {
  for (Row row : rows) setDead(row);
  std::erase_if(rows, [&](Row row) { return !cluster_.table.live(row); });
  if (!concerned_.empty()) return refreshRestored(rows);
  filterRows(rows);
  scoreRows(rows);
}

// Each row alone, with the room that the pod may use there given back meanwhile.
void PlanState::refreshRestored(const std::vector<Row>& rows) {
  for (Row row : rows) {
    std::vector<Row> one = {row};
    whileRestored(row, [&] {
      filterRows(one);
      scoreRows(one);
    });
  }
}

void PlanState::filterRows(std::vector<Row>& rows) {
  for (Row row : rows) columns_->verdicts[row] = {};
  for (size_t at : activeFilters_) {
    if (rows.empty()) return;
    scratchVerdicts_.assign(rows.size(), {});
    const Layout::Filter& filter = layout_.filters[at];
    timed(times_, *filter.plugin, Point::kFilter, [&] {
      filter.local->fits(plan_, cluster_.table, rows, scratchVerdicts_.data());
      return true;
    });
    size_t kept = 0;
    for (size_t i = 0; i < rows.size(); i++) {
      if (scratchVerdicts_[i].fits()) {
        rows[kept++] = rows[i];
        continue;
      }
      columns_->verdicts[rows[i]] = scratchVerdicts_[i];
      columns_->verdicts[rows[i]].plugin = static_cast<uint8_t>(at);
    }
    rows.resize(kept);
  }
}

void PlanState::askScore(size_t at, const std::vector<Row>& rows) {
  const Layout::Score& score = layout_.scores[at];
  timed(times_, *score.plugin, Point::kScore, [&] {
    score.local->score(plan_, cluster_.table, rows, scratchScores_.data());
    return true;
  });
}

void PlanState::scoreRows(const std::vector<Row>& rows) {
  if (rows.empty()) return;
  for (Row row : rows) columns_->local[row] = 0;
  for (size_t at : activeScores_) {
    scratchScores_.assign(rows.size(), 0);
    askScore(at, rows);
    const int32_t weight = layout_.scores[at].weight;
    for (size_t i = 0; i < rows.size(); i++) columns_->local[rows[i]] += weight * scratchScores_[i];
  }
  for (auto& s : columns_->scaled) {
    scratchScores_.assign(rows.size(), 0);
    askScore(s.score, rows);
    for (size_t i = 0; i < rows.size(); i++) {
      s.raw[rows[i]] = scratchScores_[i];
      if (scratchScores_[i] != 0) s.nonZero++;
    }
  }
}

int32_t PlanState::scoreOfRefused(Row row) {
  const int32_t before = columns_->local[row];
  for (auto& s : columns_->scaled) s.nonZero -= std::exchange(s.raw[row], 0) != 0;
  scoreRows({row});
  return std::exchange(columns_->local[row], before);
}

std::vector<Row> PlanState::restoredRows() const {
  std::vector<Row> out;
  for (Transforming* plugin : concerned_)
    for (Row row : plugin->restored(plan_)) out.push_back(row);
  return out;
}

Verdict PlanState::evaluate(Row row) {
  Verdict verdict;
  whileRestored(row, [&] { verdict = evaluateNow(row); });
  return verdict;
}

Verdict PlanState::evaluateNow(Row row) {
  const std::span<const Row> one(&row, 1);
  auto part = parts_.begin();
  for (size_t i = 0; i < layout_.filters.size(); i++) {
    Verdict verdict;
    const auto& filter = layout_.filters[i];
    if (filter.local) {
      if (filter.local->filters(plan_)) filter.local->fits(plan_, cluster_.table, one, &verdict);
    } else {
      part = std::find_if(parts_.begin(), parts_.end(),
                          [&](const Part& p) { return p.plugin == filter.plugin; });
      if (part != parts_.end() && part->part && part->part->prepare().filters)
        verdict = part->part->verdict(row);
    }
    if (verdict.fits()) continue;
    verdict.plugin = static_cast<uint8_t>(i);
    return verdict;
  }
  return {};
}

}  // namespace mangrove::placement
