#include "placement/cycle/cycle.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "placement/cycle/plugin_times.h"
#include "placement/cycle/tops.h"
#include "placement/framework/scale.h"

namespace mangrove::placement {

namespace {

constexpr size_t kFewRows = 4;

}  // namespace

size_t nodesToFind(size_t nodes, int32_t percentage) {
  constexpr size_t kFewest = 100;
  if (nodes < kFewest) return nodes;
  if (percentage == 0) percentage = std::max<int32_t>(5, 50 - static_cast<int32_t>(nodes / 125));
  if (percentage >= 100) return nodes;
  return std::max(kFewest, nodes * static_cast<size_t>(percentage) / 100);
}

Cycle::Cycle(Profile& profile, Cluster& cluster, const PodPtr& pod, CycleOptions options)
    : profile_(profile), cluster_(cluster), pod_(pod), options_(options) {
  diagnosis_.nodes = cluster.table.size();
  tieSeed_ = pod->pod->meta.uid.hash();
  if (const Interned own = cluster.nominatedNode(pod->pod->meta.uid); !own.empty())
    ownRow_ = cluster.table.find(own.view());
}

void Cycle::refused(const PodVerdict& verdict, std::string_view plugin) {
  diagnosis_.plugins.insert(std::string(plugin));
  if (verdict.kind == PodVerdict::Kind::kError) {
    diagnosis_.isError = true;
    diagnosis_.error =
        fmt::format("running PreFilter plugin \"{}\": {}", plugin, join(verdict.reasons, ", "));
    return;
  }
  diagnosis_.preFilter = join(verdict.reasons, ", ");
  diagnosis_.groups.push_back({std::string(plugin), diagnosis_.preFilter, false, diagnosis_.nodes});
}

// Since the last call.
std::optional<Duration> Cycle::lap() {
  if (!options_.clock) return std::nullopt;
  const MonoTime now = options_.clock->mono();
  return now - std::exchange(lapStart_, now);
}

bool Cycle::prepare() {
  const bool go = ask();
  if (go && !isPinned()) state_->refresh(options_.pluginTimes);
  return go;
}

bool Cycle::ask() {
  lap();
  const bool go = askPlugins();
  times_.preFilter = lap();
  return go;
}

bool Cycle::isPinned() const {
  return narrowed_ && narrowed_->size() <= kFewRows;
}

PodVerdict Cycle::askPlugin(Plugin& plugin) {
  PluginTimes* times = options_.pluginTimes;
  if (!times) return plugin.prepare(state_->plan(), *pod_->pod);
  const MonoTime start = times->now();
  PodVerdict verdict = plugin.prepare(state_->plan(), *pod_->pod);
  times->add(plugin, Point::kPreFilter, verdict.go(), times->now() - start);
  return verdict;
}

// PreFilter: what must hold for the pod as a whole.
bool Cycle::askPlugins() {
  state_ = &profile_.compiled(pod_->cls);
  for (Plugin* plugin : profile_.preFilter()) {
    const PodVerdict verdict = askPlugin(*plugin);
    if (!verdict.go()) {
      refused(verdict, plugin->name());
      return false;
    }
    if (!verdict.narrows) continue;
    narrowTo(verdict.rows);
    narrowedBy_ += (narrowedBy_.empty() ? "" : " ") + std::string(plugin->name());
    diagnosis_.plugins.insert(std::string(plugin->name()));
  }
  for (Transforming* plugin : profile_.layout().transforming)
    if (const PodVerdict verdict = plugin->afterPrepare(state_->plan(), pod_); !verdict.go()) {
      refused(verdict, verdict.plugin);
      return false;
    }
  return true;
}

// Several plugins' sets are intersected; one of them may be most of the cluster.
void Cycle::narrowTo(std::vector<Row> rows) {
  if (narrowed_) {
    std::vector<uint8_t> mask(cluster_.table.rows());
    for (Row row : *narrowed_) mask[row] = 1;
    std::erase_if(rows, [&](Row row) { return row >= mask.size() || !mask[row]; });
  }
  narrowed_ = std::move(rows);
}

bool Cycle::isAllowed(Row row) const {
  if (options_.only && !(*options_.only)[row]) return false;
  return !narrowed_ || std::find(narrowed_->begin(), narrowed_->end(), row) != narrowed_->end();
}

// Pods pinned to a node or two (daemon sets) are the only ones of their class: looking at these
// rows alone spares a column over all nodes. Several fitting ones have to be compared, which is
// rare.
std::optional<Placement> Cycle::pickPinned() {
  state_->attachParts();
  Placement only;
  size_t fitting = 0;
  for (Row row : *narrowed_)
    if (Placement one; tryOnly(row, one) && fitting++ == 0) only = one;
  if (fitting == 1) return only;
  state_->refresh();
  return fitting == 0 ? std::nullopt : pickFeasible();
}

std::optional<Placement> Cycle::run() {
  if (cluster_.table.size() == 0) return std::nullopt;
  if (!ask()) return std::nullopt;
  if (auto placed = pick()) return placed;
  diagnose();
  return std::nullopt;
}

// Whom plugins name, where room was made for it, then the search.
std::optional<Placement> Cycle::pick() {
  Placement only;
  for (Suggesting* plugin : profile_.suggesting())
    if (const Row row = plugin->onlyNode(state_->plan(), *pod_->pod); row != kNoRow) {
      state_->refresh(options_.pluginTimes);
      if (tryOnly(row, only)) return only;
      return std::nullopt;
    }
  // Preferred nodes come even before the one it is nominated to; neither leaves what PreFilter
  // allows.
  for (Suggesting* plugin : profile_.suggesting())
    for (Row row : plugin->preferred(state_->plan(), *pod_->pod)) {
      state_->attachParts();
      if (tryOnly(row, only)) return only;
    }
  if (tryOwn(only)) return only;
  for (Suggesting* plugin : profile_.suggesting())
    for (const auto& tier : plugin->tiers(state_->plan(), *pod_->pod))
      if (auto placed = pickInTier(tier)) return placed;
  if (isPinned()) return pickPinned();
  state_->refresh(options_.pluginTimes);
  return pickFeasible();
}

// Where room was made for it. Most times it fits there, and no other row has to be looked at.
bool Cycle::tryOwn(Placement& out) {
  if (ownRow_ == kNoRow) return false;
  state_->attachParts();
  return tryOnly(ownRow_, out);
}

bool Cycle::tryOnly(Row row, Placement& out) {
  if (row == kNoRow || !cluster_.table.live(row) || !isAllowed(row)) return false;
  if (!fitsWithNominated(row).fits()) return false;
  out = {row, 0, 1, 1};
  return true;
}

// Whether the node-local sums alone decide.
bool Cycle::isPlain() const {
  if (narrowed_ || options_.only || cluster_.hasNominations()) return false;
  if (options_.percentageOfNodesToScore != 0 && options_.percentageOfNodesToScore < 100)
    return false;
  for (const auto& part : state_->parts())
    if (part.ready.filters || (part.ready.scores && part.weight != 0)) return false;
  for (const auto& scaled : state_->scaled())
    if (scaled.nonZero != 0) return false;
  return true;
}

uint64_t Cycle::tieOf(Row row) const {
  uint64_t hash = tieSeed_ ^ cluster_.table.nameHash()[row];
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
  return hash ^ (hash >> 33);
}

std::optional<Placement> Cycle::pickFeasible() {
  Placement placed;
  if (isPlain()) {
    times_.filter = lap();
    placed = best(state_->local());
  } else {
    markFeasible();
    limit();
    times_.filter = lap();
    for (Transforming* plugin : profile_.layout().transforming)
      plugin->beforeScore(state_->plan(), pod_, state_->totals());
    addScores();
    placed = best(state_->totals());
  }
  times_.score = lap();
  if (placed.row == kNoRow) return std::nullopt;
  return placed;
}

// The highest total; among equals the pod and the node's name decide.
Placement Cycle::best(std::span<const int32_t> totals) const {
  const Top top = topOf(totals);
  if (top.score == kNotFeasible) return {};
  Placement out{kNoRow, top.score, cluster_.table.size(), top.feasible};
  uint64_t bestTie = 0;
  eachRowAt(totals, top.score, [&](size_t row) {
    const uint64_t tie = tieOf(static_cast<Row>(row));
    if (out.row != kNoRow && tie <= bestTie) return;
    out.row = static_cast<Row>(row);
    bestTie = tie;
  });
  return out;
}

// The column of totals, with the node-local sums where the pod fits.
void Cycle::markFeasible() {
  const auto& local = state_->local();
  auto& totals = state_->totals();
  if (narrowed_) {
    totals.assign(local.size(), kNotFeasible);
    for (Row row : *narrowed_) totals[row] = local[row];
  } else {
    totals.assign(local.begin(), local.end());
  }
  if (options_.only)
    for (Row row = 0; row < totals.size(); row++)
      if (!(*options_.only)[row]) totals[row] = kNotFeasible;
  for (const auto& part : state_->parts())
    if (part.ready.filters && part.filterAt != kNoPlugin)
      timed(options_.pluginTimes, *part.plugin, Point::kFilter, [&] {
        part.part->exclude(totals);
        return true;
      });
  if (state_->filtersAcross()) lookAgain();
  if (!options_.skipNominated) dropForNominated();
  if (!options_.skipNominated && options_.besideOnly) admitBesideNominated();
}

std::vector<Row> Cycle::feasibleRows() {
  state_->refresh();
  markFeasible();
  std::vector<Row> rows;
  for (Row row = 0; row < state_->totals().size(); row++)
    if (state_->totals()[row] != kNotFeasible) rows.push_back(row);
  return rows;
}

// Kubernetes' subset: from a moving start, until enough feasible nodes are found.
void Cycle::limit() {
  const int32_t percentage = options_.percentageOfNodesToScore;
  if (percentage == 0 || percentage >= 100 || !options_.rotation) return;
  auto& totals = state_->totals();
  const auto& order = cluster_.table.liveRows();
  const size_t wanted = nodesToFind(order.size(), percentage);
  std::vector<int32_t> chosen(totals.size(), kNotFeasible);
  size_t seen = 0, found = 0;
  for (; seen < order.size() && found < wanted; seen++) {
    const Row row = order[(*options_.rotation + seen) % order.size()];
    chosen[row] = totals[row];
    found += totals[row] != kNotFeasible;
  }
  totals.swap(chosen);
  *options_.rotation = (*options_.rotation + seen) % order.size();
}

namespace {

int32_t topOf(Totals totals, const std::vector<int32_t>& raw) {
  int32_t top = 0;
  for (size_t row = 0; row < totals.size(); row++)
    top = std::max(top, totals[row] != kNotFeasible ? raw[row] : 0);
  return top;
}

}  // namespace

// What depends on which nodes are feasible, on top of the node-local sums.
void Cycle::addScores() {
  auto& totals = state_->totals();
  for (const auto& scaled : state_->scaled()) {
    const auto& score = profile_.layout().scores[scaled.score];
    const bool reverse = score.local->scale() == Scale::kReverseShareOfMax;
    if (scaled.nonZero == 0) continue;  // the same for all
    const int32_t top = topOf(totals, scaled.raw);
    for (size_t row = 0; row < totals.size(); row++)
      if (totals[row] != kNotFeasible)
        totals[row] +=
            score.weight * static_cast<int32_t>(scaledScore(scaled.raw[row], top, reverse));
  }
  for (const auto& part : state_->parts())
    if (part.ready.scores && part.weight != 0)
      timed(options_.pluginTimes, *part.plugin, Point::kScore, [&] {
        part.part->addScores(totals, part.weight);
        return true;
      });
}

std::vector<Cycle::PluginScore> Cycle::breakdown(const std::vector<Row>& rows) {
  std::vector<PluginScore> out;
  for (const auto& score : profile_.layout().scores) {
    PluginScore one{score.plugin->name(), score.weight, std::vector<int64_t>(rows.size())};
    if (score.local) {
      if (!score.local->scores(state_->plan())) continue;
      std::vector<int32_t> raw(rows.size());
      score.local->score(state_->plan(), cluster_.table, rows, raw.data());
      const Scale scale = score.local->scale();
      const int32_t top = raw.empty() ? 0 : std::max(0, *std::max_element(raw.begin(), raw.end()));
      for (size_t i = 0; i < rows.size(); i++)
        one.scores[i] = scale == Scale::kNone
                            ? raw[i]
                            : scaledScore(raw[i], top, scale == Scale::kReverseShareOfMax);
    } else {
      const auto part = std::find_if(state_->parts().begin(), state_->parts().end(),
                                     [&](const auto& p) { return p.plugin == score.plugin; });
      if (part == state_->parts().end() || !part->ready.scores) continue;
      std::vector<int32_t> column(cluster_.table.rows(), kNotFeasible);
      for (Row row : rows) column[row] = 0;
      if (!part->part->addScores(column, 1)) continue;
      for (size_t i = 0; i < rows.size(); i++) one.scores[i] = column[rows[i]];
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace mangrove::placement
