#include "agent/memory/watermark.h"

#include <algorithm>

#include "agent/executor/owners.h"
#include "agent/executor/reflex_acts.h"
#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

namespace name = kernel::resource_name;
constexpr std::string_view kLimit = kernel::resource_name::kMemoryLimit;
constexpr std::string_view kHigh = kernel::resource_name::kMemoryHigh;
// Less is not worth a system call that may wait for a disk.
constexpr Bytes kLeast = kMiB;

std::string pathOf(const kernel::Hierarchies& trees, std::string_view resource,
                   std::string_view cgroup) {
  return kernel::filePath(trees, *kernel::findResource(resource), cgroup).value_or("");
}

std::optional<std::string> text(const kernel::SysRoot& root, const std::string& path) {
  auto read = path.empty() ? Result<std::optional<std::string>>(std::nullopt)
                           : kernel::readText(root, path);
  return read && *read ? **read : std::optional<std::string>();
}

}  // namespace

Bytes watermarkStep(const WatermarkSight& sight, const ReclaimMark& mark, Bytes most) {
  if (sight.limit.v <= 0 || mark.ratioPercent <= 0 || mark.ratioPercent >= 100) return Bytes{0};
  const Bytes begin = sight.limit * mark.ratioPercent / 100;
  const Bytes end = begin - sight.limit * mark.scalePermill / 1000;
  if (sight.current <= (sight.active ? end : begin)) return Bytes{0};
  const Bytes step = std::min({sight.current - end, sight.file, most});
  return step < kLeast ? Bytes{0} : step;
}

WatermarkSight WatermarkKeeper::look(const kernel::Hierarchies& trees,
                                     const std::string& cgroup) const {
  WatermarkSight out;
  if (const auto said = text(root_, pathOf(trees, name::kMemoryUsage, cgroup)))
    out.current = kernel::parseMemoryCurrent(*said).value_or(Bytes{0});
  for (std::string_view resource : {kLimit, kHigh}) {
    const auto said = text(root_, pathOf(trees, resource, cgroup));
    const auto limit =
        said ? kernel::parseMemoryLimit(*said, trees.version()) : Result<int64_t>(int64_t{-1});
    if (limit && *limit > 0 && (out.limit.v <= 0 || *limit < out.limit.v)) out.limit = {*limit};
  }
  if (const auto said = text(root_, pathOf(trees, name::kMemoryStat, cgroup)))
    if (auto stat = kernel::parseMemoryStat(*said, trees.version()))
      out.file = std::max(stat->withCache - stat->withoutCache, Bytes{0});
  return out;
}

Result<> WatermarkKeeper::take(const kernel::Hierarchies& trees, const std::string& cgroup,
                               Bytes current, Bytes bytes) const {
  const ReflexActs acts(root_, trees, owner::kGiveBack);
  return trees.isV2() ? acts.reclaim(cgroup, bytes) : acts.squeeze(cgroup, current - bytes);
}

std::vector<WatermarkReport> WatermarkKeeper::turn(const kernel::Hierarchies& trees,
                                                   const std::vector<ReclaimMark>& marks,
                                                   bool canReclaim, bool dryRun) {
  std::vector<WatermarkReport> out;
  std::set<std::string> active;
  for (const ReclaimMark& mark : marks) {
    WatermarkSight sight = look(trees, mark.cgroup);
    sight.active = active_.count(mark.cgroup) != 0;
    if (!trees.isV2()) sight.file = sight.file / 2;
    const Bytes step = watermarkStep(sight, mark);
    if (step.v <= 0) continue;
    active.insert(mark.cgroup);
    if (trees.isV2() && !canReclaim) continue;
    WatermarkReport report{mark.cgroup, step, {}, {}, dryRun ? "dry-run" : "done"};
    const MonoTime begun = clock_.mono();
    if (!dryRun)
      if (auto ok = take(trees, mark.cgroup, sight.current, step); !ok)
        report.outcome = ok.error().text();
    report.took = clock_.mono() - begun;
    report.freed = std::max(sight.current - look(trees, mark.cgroup).current, Bytes{0});
    out.push_back(std::move(report));
  }
  active_ = std::move(active);
  return out;
}

}  // namespace mangrove::agent
