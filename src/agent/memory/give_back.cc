#include "agent/memory/give_back.h"

#include <algorithm>

#include "agent/executor/owners.h"
#include "agent/executor/reflex_acts.h"
#include "agent/executor/reflex_file.h"
#include "agent/pressure/meter.h"
#include "base/os/log.h"
#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/meminfo.h"
#include "kernel/pressure.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

const Logger log("give-back");

namespace name = kernel::resource_name;
constexpr std::string_view kLimit = kernel::resource_name::kMemoryLimit;
constexpr std::string_view kHigh = kernel::resource_name::kMemoryHigh;
constexpr Duration kResting = std::chrono::seconds(1);
// Below this a rung has brought nothing worth the name.
constexpr int64_t kUsefulPercent = 10;
constexpr double kGrowingPerSecond = 1 << 20;

std::optional<std::string> text(const kernel::SysRoot& root, const std::string& path) {
  auto read = kernel::readText(root, path);
  return read && *read ? **read : std::optional<std::string>();
}

std::string pathOf(const GiveBackOrders& orders, std::string_view resource,
                   std::string_view cgroup) {
  const kernel::ControlResource* control = kernel::findResource(resource);
  return kernel::filePath(*orders.trees, *control, cgroup).value_or("");
}

double secondsOf(Duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

GiveBack::GiveBack(const kernel::SysRoot& root, const Clock& clock, GiveBackOptions options)
    : root_(root),
      clock_(clock),
      options_(std::move(options)),
      forecast_(options_.forecast),
      nodeForecast_(options_.forecast),
      keeper_(root, clock) {}

GiveBack::~GiveBack() {
  stop();
}

void GiveBack::start() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void GiveBack::stop() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  bell_.notify_all();
  if (thread_.joinable()) thread_.join();
  thawAll();
}

void GiveBack::run() {
  for (;;) {
    const Duration wait = turn();
    std::unique_lock lock(mutex_);
    bell_.wait_for(lock, wait, [this] { return ending_; });
    if (ending_) return;
  }
}

void GiveBack::order(GiveBackOrders orders) {
  std::lock_guard lock(mutex_);
  orders_ = std::make_shared<const GiveBackOrders>(std::move(orders));
}

void GiveBack::rest() {
  std::lock_guard lock(mutex_);
  orders_.reset();
}

std::vector<MemoryCap> GiveBack::caps() const {
  std::lock_guard lock(mutex_);
  std::vector<MemoryCap> out;
  for (const auto& [cgroup, cap] : caps_) out.push_back(cap);
  return out;
}

std::vector<MemoryCap> GiveBack::takeCaps() {
  std::vector<MemoryCap> out = caps();
  std::lock_guard lock(mutex_);
  caps_.clear();
  return out;
}

std::vector<std::string> GiveBack::frozen() const {
  std::lock_guard lock(mutex_);
  return frozen_;
}

void GiveBack::adopt(const std::vector<std::string>& frozen) {
  std::lock_guard lock(mutex_);
  for (const std::string& cgroup : frozen)
    if (std::find(frozen_.begin(), frozen_.end(), cgroup) == frozen_.end())
      frozen_.push_back(cgroup);
}

MemoryNeed GiveBack::need() const {
  std::lock_guard lock(mutex_);
  return need_;
}

Bytes GiveBack::currentOf(const GiveBackOrders& orders, std::string_view cgroup) const {
  const auto said = text(root_, pathOf(orders, name::kMemoryUsage, cgroup));
  auto current = said ? kernel::parseMemoryCurrent(*said) : Result<Bytes>(Bytes{0});
  return current.value_or(Bytes{0});
}

double GiveBack::stalled(const GiveBackOrders& orders, MonoTime now) {
  double most = 0;
  for (const std::string& dir : orders.services) {
    const auto said = text(root_, kernel::joinPath({dir, name::kMemoryPressure}));
    auto pressure = said ? kernel::parsePressure(*said) : Result<kernel::Pressure>({});
    if (!said || !pressure) continue;
    auto& [total, at] = stalls_[dir];
    if (at != MonoTime{})
      most = std::max(most, stallShare(total, pressure->some.total, now - at).value_or(0));
    total = pressure->some.total;
    at = now;
  }
  return most;
}

// The tighter of the pods' limit and the machine.
std::optional<MemorySight> GiveBack::look(const GiveBackOrders& orders, MonoTime now) {
  const auto said = text(root_, orders.procMemInfo);
  auto info = said ? kernel::parseMemInfo(*said) : fail(Code::kNotFound, "{}", orders.procMemInfo);
  if (!info || !info->available) return std::nullopt;
  const double stall = stalled(orders, now);
  const MemorySight node{now, info->total, info->total - *info->available, stall};
  const MemoryNeed nodeNeed = nodeForecast_.see(node);
  const auto limitText = text(root_, pathOf(orders, kLimit, orders.pods));
  auto limit = limitText ? kernel::parseMemoryLimit(*limitText, orders.trees->version())
                         : Result<int64_t>(-1);
  nodeIsShort_ = true;
  total_ = info->total;
  if (!limit || *limit < 0 || Bytes{*limit} >= info->total) return node;
  if (nodeNeed.wanted.v > 0) return node;
  nodeIsShort_ = false;
  total_ = Bytes{*limit};
  Bytes used = currentOf(orders, orders.pods);
  if (!orders.beside.empty()) used += currentOf(orders, orders.beside);
  return MemorySight{now, Bytes{*limit}, used, stall};
}

BatchGroup GiveBack::groupOf(const GiveBackOrders& orders, const BatchPodOrder& pod, MonoTime now) {
  BatchGroup group;
  group.priority = pod.priority;
  group.evictable = pod.evictable;
  group.stake = pod.stake;
  const Known& before = known_[pod.uid];
  group.leaving =
      pod.leaving || (before.askedAt != MonoTime::min() && now - before.askedAt < options_.asked);
  group.current = currentOf(orders, pod.cgroup);
  if (const auto said = text(root_, pathOf(orders, name::kMemoryStat, pod.cgroup)))
    if (auto stat = kernel::parseMemoryStat(*said, orders.trees->version())) {
      group.anonymous = stat->withoutCache;
      group.file = std::max(stat->withCache - stat->withoutCache, Bytes{0});
    }
  if (const auto said = text(root_, pathOf(orders, name::kCpuUsage, pod.cgroup)))
    if (auto used = kernel::parseCpuUsage(*said, orders.trees->version()))
      group.work = secondsOf(*used);
  Known& known = known_[pod.uid];
  if (known.at != MonoTime{} && now > known.at)
    known.growth =
        static_cast<double>((group.current - known.current).v) / secondsOf(now - known.at);
  known.current = group.current;
  known.at = now;
  group.growing = known.growth > kGrowingPerSecond;
  for (const auto& [kind, until] : known.spent)
    if (now < until) group.spent |= static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
  std::lock_guard lock(mutex_);
  group.frozen = std::find(frozen_.begin(), frozen_.end(), pod.cgroup) != frozen_.end();
  return group;
}

Result<> GiveBack::freeze(const GiveBackOrders& orders, const std::string& cgroup, bool frozen) {
  {
    std::lock_guard lock(mutex_);
    std::erase(frozen_, cgroup);
    if (frozen) frozen_.push_back(cgroup);
  }
  auto ok = ReflexActs(root_, *orders.trees, owner::kGiveBack).freeze(cgroup, frozen);
  if (ok || !frozen) return ok;
  std::lock_guard lock(mutex_);
  std::erase(frozen_, cgroup);
  return ok;
}

// A frozen process does not see a SIGTERM.
void GiveBack::thawLeaving(const GiveBackOrders& orders) {
  const std::vector<std::string> cold = frozen();
  for (const BatchPodOrder& pod : orders.batch)
    if (pod.leaving && std::find(cold.begin(), cold.end(), pod.cgroup) != cold.end())
      (void)freeze(orders, pod.cgroup, false);
}

void GiveBack::thawAll() {
  for (const std::string& cgroup : frozen())
    if (last_)
      if (auto ok = freeze(*last_, cgroup, false); !ok && ok.error().code() != Code::kNotFound)
        log.warn("thaw {}: {}", cgroup, ok.error().text());
}

// The cap is known before the file has it, so that the executor does not widen it meanwhile.
Result<> GiveBack::narrow(const GiveBackOrders& orders, const BatchPodOrder& pod,
                          std::string_view resource, Bytes most) {
  auto file = ReflexFile::open(root_, pathOf(orders, resource, pod.cgroup),
                               {resource, owner::kGiveBack, orders.trees->version()});
  if (!file) return pass(file.error());
  const auto present = file->present();
  std::optional<MemoryCap> last;
  {
    std::lock_guard lock(mutex_);
    if (auto known = caps_.find(pod.cgroup); known != caps_.end()) last = known->second;
    caps_[pod.cgroup] = {pod.cgroup, resource, most,
                         last ? last->before : present.value_or(kUnlimited)};
  }
  const auto done = file->narrow(most.v, present);
  if (done) return {};
  // Nothing came of it: what was in force before stays.
  std::lock_guard lock(mutex_);
  if (last)
    caps_[pod.cgroup] = *last;
  else
    caps_.erase(pod.cgroup);
  return pass(done.error());
}

RungReport GiveBack::take(const GiveBackOrders& orders, const Rung& rung, const BatchGroup& group) {
  const BatchPodOrder& pod = orders.batch[rung.group];
  RungReport report{clock_.wall(), rung.kind, pod.uid, pod.cgroup, rung.bytes, {}, {}, "done"};
  const MonoTime begun = clock_.mono();
  Result<> ok;
  if (orders.dryRun) {
    report.outcome = "dry-run";
  } else if (rung.kind == RungKind::kHigh) {
    ok = narrow(orders, pod, kHigh, group.current - rung.bytes);
  } else if (rung.kind == RungKind::kLimit) {
    ok = narrow(orders, pod, kLimit, group.current - rung.bytes);
  } else if (rung.kind == RungKind::kReclaim) {
    ok = ReflexActs(root_, *orders.trees, owner::kGiveBack).reclaim(pod.cgroup, rung.bytes);
  } else if (rung.kind == RungKind::kFreeze) {
    ok = freeze(orders, pod.cgroup, true);
  } else {
    if (group.frozen) ok = freeze(orders, pod.cgroup, false);
    known_[pod.uid].askedAt = begun;
    if (options_.onEvict) options_.onEvict(pod.uid, group.current, rung.loss);
    report.outcome = "asked";
  }
  report.took = clock_.mono() - begun;
  report.freed = std::max(group.current - currentOf(orders, pod.cgroup), Bytes{0});
  if (!ok) report.outcome = ok.error().text();
  return report;
}

void GiveBack::climbOnce(const GiveBackOrders& orders, Bytes wanted, MonoTime now) {
  std::vector<BatchGroup> groups;
  for (const BatchPodOrder& pod : orders.batch) groups.push_back(groupOf(orders, pod, now));
  const std::vector<Rung> rungs =
      climb({.wanted = wanted, .groups = groups, .there = orders.there, .now = clock_.wall()});
  if (rungs.empty()) return;
  const Rung& first = rungs.front();
  const std::string& gang = groups[first.group].stake.gang;
  step(orders, first, groups[first.group], now);
  if (first.kind != RungKind::kEvict || gang.empty()) return;
  // A gang leaves whole: the next look might choose another.
  for (const Rung& rung : std::span(rungs).subspan(1))
    if (groups[rung.group].stake.gang == gang) step(orders, rung, groups[rung.group], now);
}

void GiveBack::step(const GiveBackOrders& orders, const Rung& rung, const BatchGroup& group,
                    MonoTime now) {
  const RungReport report = take(orders, rung, group);
  Known& known = known_[orders.batch[rung.group].uid];
  const bool mild = rung.kind < RungKind::kFreeze;
  // memory.high works on after the write, and once; the rest is tried again while it helps.
  const bool useful = report.freed * 100 >= rung.bytes * kUsefulPercent && report.freed.v > 0;
  if (!mild || rung.kind == RungKind::kHigh || !useful || orders.dryRun)
    known.spent[rung.kind] = now + options_.spent;
  log.info("{} {}: wanted {} KiB, freed {} KiB in {:.1f} ms, {}", rungName(rung.kind),
           report.cgroup, report.wanted.v / kKiB.v, report.freed.v / kKiB.v,
           secondsOf(report.took) * 1000, report.outcome);
  if (options_.onRung) options_.onRung(report);
}

// Room enough for a while: limits grow by a twentieth of the memory per second, then go; the
// frozen go on.
void GiveBack::relax(const GiveBackOrders& orders, const MemoryNeed& need, MonoTime now) {
  const bool easy = need.room >= need.keep * 2;
  if (!easy) easySince_ = MonoTime::min();
  if (easy && easySince_ == MonoTime::min()) easySince_ = now;
  if (!easy || now - easySince_ < options_.relaxed) return;
  if (relaxedAt_ != MonoTime::min() && now - relaxedAt_ < std::chrono::seconds(1)) return;
  relaxedAt_ = now;
  for (const std::string& cgroup : frozen()) (void)freeze(orders, cgroup, false);
  std::lock_guard lock(mutex_);
  for (auto& [cgroup, cap] : caps_) cap.most += total_ / 20;
  std::erase_if(caps_, [&](const auto& one) { return one.second.most >= total_; });
}

void GiveBack::keepMarks(const GiveBackOrders& orders, MonoTime now) {
  if (orders.marks.empty()) return;
  if (keptAt_ != MonoTime::min() && now - keptAt_ < std::chrono::seconds(1)) return;
  keptAt_ = now;
  const RungKind kind = orders.trees->isV2() ? RungKind::kReclaim : RungKind::kLimit;
  for (WatermarkReport& done :
       keeper_.turn(*orders.trees, orders.marks, orders.there.reclaim, orders.dryRun))
    if (options_.onRung)
      options_.onRung({clock_.wall(), kind, "", std::move(done.cgroup), done.wanted, done.freed,
                       done.took, "watermark: " + done.outcome});
}

Duration GiveBack::turn() {
  Orders orders;
  {
    std::lock_guard lock(mutex_);
    orders = orders_;
  }
  if (!orders) {
    thawAll();
    return kResting;
  }
  last_ = orders;
  std::erase_if(known_, [&](const auto& one) {
    return std::none_of(orders->batch.begin(), orders->batch.end(),
                        [&](const BatchPodOrder& pod) { return pod.uid == one.first; });
  });
  thawLeaving(*orders);
  const MonoTime now = clock_.mono();
  keepMarks(*orders, now);
  const auto sight = look(*orders, now);
  if (!sight) return kResting;
  const MemoryNeed need = nodeIsShort_ ? nodeForecast_.see(*sight) : forecast_.see(*sight);
  {
    std::lock_guard lock(mutex_);
    need_ = need;
  }
  if (need.wanted.v > 0)
    climbOnce(*orders, need.wanted, now);
  else
    relax(*orders, need, now);
  return options_.interval;
}

}  // namespace mangrove::agent
