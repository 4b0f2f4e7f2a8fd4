#include "agent/almanac/almanac.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/number/elapsed.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("almanac");

constexpr std::string_view kOthers = "others";

int64_t minuteOf(WallTime at) {
  return std::chrono::duration_cast<std::chrono::minutes>(at.time_since_epoch()).count();
}

AlmanacSample sampleOf(const Usage& usage) {
  return {usage.cpu.value_or(0) * 1000,
          static_cast<double>(usage.memory.value_or(Bytes{0}).v) / static_cast<double>(kMiB.v)};
}

void add(AlmanacSample& to, const AlmanacSample& one) {
  to.cpu += one.cpu;
  to.memory += one.memory;
}

// Where a cell of a block begins.
int64_t startOf(const Block& block, size_t index) {
  return block.start + static_cast<int64_t>(index) * shapeOf(block.level).minutes;
}

int64_t blockStart(Level level, int64_t minute) {
  const LevelShape shape = shapeOf(level);
  const int64_t span = shape.minutes * static_cast<int64_t>(shape.cells);
  return minute - minute % span;
}

}  // namespace

std::string bandSubject(api::PriorityBand band) {
  const std::string_view name = api::bandName(band);
  return fmt::format("band/{}", name.empty() ? "none" : name);
}

std::string workloadOf(const api::Pod& pod) {
  const api::OwnerReference* owner = pod.meta.controller();
  std::string name(owner ? owner->name.view() : pod.meta.name.view());
  // A ReplicaSet's name ends with the hash of its template; its Deployment is what people know.
  const size_t dash = name.rfind('-');
  if (owner && owner->kind.view() == "ReplicaSet" && dash != std::string::npos) name.resize(dash);
  return pod.meta.ns.str() + "/" + name;
}

SubjectSums withSmallestMerged(const SubjectSums& workloads, size_t most,
                               const std::map<std::string, double>& weights) {
  if (workloads.size() <= most) return workloads;
  std::vector<std::pair<double, const std::string*>> order;
  for (const auto& [name, sum] : workloads) {
    const auto known = weights.find(name);
    order.emplace_back(known == weights.end() ? sum.cpu + sum.memory / 4 : known->second, &name);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : *a.second < *b.second;
  });
  SubjectSums out;
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string& name = *order[i].second;
    add(out[i < most ? name : std::string(kOthers)], workloads.at(name));
  }
  return out;
}

Almanac::Almanac(std::string dir) : store_(std::move(dir)), hour_(store_.recent()) {}

void Almanac::gather(const Look& look) {
  samples_["node"].push_back(sampleOf(look.node.usage));
  if (look.node.system.cpu) samples_["system"].push_back(sampleOf(look.node.system));
  SubjectSums sums, workloads;  // of classes and bands, of workloads
  for (const PodLook& pod : look.pods) {
    if (!pod.pod) continue;
    const AlmanacSample used = sampleOf(pod.usage);
    add(sums["class/" + std::string(api::qosName(pod.qos))], used);
    add(sums[bandSubject(pod.band)], used);
    const std::string name = "workload/" + workloadOf(*pod.pod);
    add(workloads[name], used);
    weights_[name] += used.cpu + used.memory / 4;
  }
  for (const auto& [name, sum] : sums) samples_[name].push_back(sum);
  for (const auto& [name, sum] : withSmallestMerged(workloads, kWorkloads, weights_))
    samples_[name].push_back(sum);
}

void Almanac::see(const Look& look) {
  if (!look.node.usage.cpu) return;
  const int64_t minute = minuteOf(look.wall);
  std::lock_guard lock(mutex_);
  if (minute_ >= 0 && minute != minute_) endMinute();
  // A clock that was set back begins anew; what it had is in the file.
  minute_ = minute;
  const int64_t hour = blockStart(Level::kMinutes, minute);
  while (!hour_.empty() && blockStart(Level::kMinutes, hour_.begin()->first) != hour)
    endHour(blockStart(Level::kMinutes, hour_.begin()->first));
  if (look.wall >= seen_ && elapsed(seen_, look.wall) < kBetween) return;
  seen_ = look.wall;
  gather(look);
}

void Almanac::endMinute() {
  MinuteCells cells;
  for (const auto& [subject, samples] : samples_)
    if (auto cell = summarise(samples)) cells[subject] = rounded(*cell);
  samples_.clear();
  warn(store_.keepMinute(minute_, cells));
  hour_[minute_] = std::move(cells);
}

// Minutes become a block; with the last hour of a day its hours do, and so on.
void Almanac::endHour(int64_t hour) {
  std::map<std::string, Block> blocks;
  for (auto it = hour_.begin(); it != hour_.end();) {
    if (blockStart(Level::kMinutes, it->first) != hour) {
      ++it;
      continue;
    }
    for (const auto& [subject, cell] : it->second) {
      Block& block = blocks[subject];
      if (block.cells.empty()) block = {Level::kMinutes, hour, subject, Cells(60)};
      block.cells[static_cast<size_t>(it->first - hour)] = cell;
    }
    it = hour_.erase(it);
  }
  std::vector<Block> all;
  for (auto& [subject, block] : blocks) all.push_back(std::move(block));
  warn(store_.keepBlocks(all));
  for (auto& [name, weight] : weights_) weight /= 2;
  std::erase_if(weights_, [](const auto& one) { return one.second < 1; });
  const int64_t day = blockStart(Level::kHours, hour);
  if (hour + 60 != day + 24 * 60) return;
  coarsen(Level::kHours, day);
  const int64_t month = blockStart(Level::kDays, hour);
  if (day + 24 * 60 == month + 32 * 24 * 60) coarsen(Level::kDays, month);
  warn(store_.compact(hour + 60));
}

void Almanac::coarsen(Level into, int64_t start) {
  const LevelShape shape = shapeOf(into);
  const Level from = static_cast<Level>(static_cast<int>(into) - 1);
  const int64_t end = start + shape.minutes * static_cast<int64_t>(shape.cells);
  std::map<std::string, Block> made;
  for (const Block& block : store_.read([&](const BlockHead& one) {
         return one.level == from && one.start >= start && one.start < end;
       })) {
    Block& out = made[block.subject];
    if (out.cells.empty()) out = {into, start, block.subject, Cells(shape.cells)};
    // A block of the finer level is one cell of the coarser, or holds several whole ones.
    const auto per = static_cast<size_t>(shape.minutes / shapeOf(from).minutes);
    for (size_t i = 0; i < block.cells.size(); i += per)
      out.cells[static_cast<size_t>((startOf(block, i) - start) / shape.minutes)] =
          merge(std::span(block.cells).subspan(i, std::min(per, block.cells.size() - i)));
  }
  std::vector<Block> all;
  for (auto& [subject, block] : made) all.push_back(std::move(block));
  if (!all.empty()) warn(store_.keepBlocks(all));
}

void Almanac::warn(const Result<>& result) {
  const std::string text = result ? "" : result.error().text();
  if (!text.empty() && text != trouble_) log.warn("history is not kept: {}", text);
  trouble_ = text;
}

std::vector<AlmanacAnswer> Almanac::query(const AlmanacQuery& query) const {
  std::lock_guard lock(mutex_);
  std::map<int64_t, AlmanacAnswer> cells;  // by start; the finest wins
  const auto put = [&](int64_t start, int64_t minutes, const std::optional<Cell>& cell) {
    if (!cell || start < query.from || start >= query.to) return;
    const auto [at, isNew] = cells.try_emplace(start, AlmanacAnswer{start, minutes, *cell});
    if (!isNew && minutes < at->second.minutes) at->second = {start, minutes, *cell};
  };
  for (const Block& block : store_.read([&](const BlockHead& one) {
         const LevelShape shape = shapeOf(one.level);
         return one.subject == query.subject && one.start < query.to &&
                one.start + shape.minutes * static_cast<int64_t>(shape.cells) > query.from;
       }))
    for (size_t i = 0; i < block.cells.size(); ++i)
      put(startOf(block, i), shapeOf(block.level).minutes, block.cells[i]);
  for (const auto& [minute, all] : hour_)
    if (auto found = all.find(query.subject); found != all.end()) put(minute, 1, found->second);
  // What a coarse cell covers is left out where finer ones are.
  std::vector<AlmanacAnswer> fine;
  int64_t covered = 0;
  for (const auto& [start, one] : cells) {
    if (start < covered && one.minutes < fine.back().minutes) fine.pop_back();
    fine.push_back(one);
    covered = start + one.minutes;
  }
  if (query.step <= 1) return fine;
  std::vector<AlmanacAnswer> out;
  for (size_t i = 0; i < fine.size();) {
    const int64_t start = fine[i].start - fine[i].start % query.step;
    Cells some;
    for (; i < fine.size() && fine[i].start < start + query.step; ++i) some.push_back(fine[i].cell);
    out.push_back({start, query.step, *merge(some)});
  }
  return out;
}

std::vector<std::string> Almanac::subjects() const {
  std::lock_guard lock(mutex_);
  std::set<std::string> out;
  (void)store_.read([&](const BlockHead& one) { return out.emplace(one.subject), false; });
  for (const auto& [minute, all] : hour_)
    for (const auto& [subject, cell] : all) out.insert(subject);
  return {out.begin(), out.end()};
}

size_t Almanac::bytes() const {
  std::lock_guard lock(mutex_);
  return store_.bytes();
}

}  // namespace mangrove::agent
