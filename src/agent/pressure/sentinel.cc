#include "agent/pressure/sentinel.h"

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/executor/owners.h"
#include "base/os/log.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

const Logger log("sentinel");

// After a trigger, or while a limit is in force, the totals are read; so long after the last sign
// of either the thread sleeps until the kernel wakes it.
constexpr Duration kAttentive = std::chrono::seconds(2);
constexpr Duration kLongSleep = std::chrono::seconds(1);
constexpr int kNice = -15;

constexpr std::string_view kQuota = kernel::resource_name::kCpuQuota;

bool sameFiles(const SentinelOrders& a, const SentinelOrders& b) {
  return a.quotaFile == b.quotaFile && a.usageFile == b.usageFile;
}

// Waiting that has to last before anything is cut needs no look more often than twice meanwhile:
// each look takes a CPU from a service for a moment.
Duration lookEvery(const SentinelOptions& options, const SentinelOrders& orders) {
  return std::max(options.interval, orders.governor.sustain / 2);
}

}  // namespace

Sentinel::Sentinel(const kernel::SysRoot& root, const Clock& clock, SentinelOptions options)
    : root_(root),
      clock_(clock),
      options_(std::move(options)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Sentinel::~Sentinel() {
  stop();
}

void Sentinel::start() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void Sentinel::stop() {
  ending_ = true;
  wake();
  if (thread_.joinable()) thread_.join();
}

void Sentinel::wake() {
  const uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

void Sentinel::order(SentinelOrders orders) {
  const bool first = orders_.load() == nullptr;
  orders_.store(std::make_shared<const SentinelOrders>(std::move(orders)));
  if (first) wake();
}

void Sentinel::rest() {
  std::lock_guard acting(acting_);
  if (orders_.load() == nullptr) return;
  orders_.store(nullptr);
  cap_ = kUnlimited;
  wake();
}

SentinelStatus Sentinel::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void Sentinel::publish(const char* mode) {
  std::lock_guard lock(mutex_);
  status_.mode = mode;
  status_.groups = meter_.groups();
  status_.cap = cap_;
  status_.baseline = governor_ ? governor_->baseline() : 0;
  status_.cuts = governor_ ? governor_->cuts() : 0;
  ++status_.turns;
}

// New orders: files that are still the same stay open, and the governor keeps what it learnt.
void Sentinel::adopt(const Orders& orders) {
  if (adopted_ == orders) return;
  meter_.follow(root_, orders->watch);
  if (!adopted_ || !sameFiles(*adopted_, *orders)) {
    quota_.reset();
    usage_.reset();
    usedTotal_.reset();
  }
  if (!quota_)
    if (auto file =
            ReflexFile::open(root_, orders->quotaFile, {kQuota, owner::kPressure, orders->version}))
      quota_.emplace(*std::move(file));
  if (!usage_)
    if (auto file = root_.open(orders->usageFile, kernel::Access::kRead)) usage_ = *std::move(file);
  if (!governor_) governor_.emplace(orders->governor);
  governor_->setOptions(orders->governor);
  adopted_ = orders;
}

double Sentinel::usedSince(const SentinelOrders& orders, MonoTime now) {
  char buffer[1024];
  auto size = usage_ ? usage_->read(buffer) : Result<size_t>(size_t{0});
  if (!usage_ || !size) return usage_.reset(), 0;
  auto total = kernel::parseCpuUsage({buffer, *size}, orders.version);
  if (!total) return 0;
  const auto share = usedTotal_ && now > usedAt_
                         ? static_cast<double>((*total - *usedTotal_).count()) /
                               static_cast<double>((now - usedAt_).count())
                         : 0;
  usedTotal_ = *total;
  usedAt_ = now;
  return share;
}

Result<bool> Sentinel::narrow(const SentinelOrders& orders, int64_t quota,
                              std::optional<int64_t> has) {
  if (!quota_) return fail(Code::kNotFound, "{} cannot be opened", orders.quotaFile);
  return quota_->narrow(quota, has);
}

void Sentinel::act(const SentinelOrders& orders, const Ruling& ruling, const PressureSample& sample,
                   int64_t before) {
  const uint32_t worst = governor_->worst();
  Cut cut{sample.at, {}, before, ruling.cap, 0, meter_.nameOf(worst), {}};
  for (const ServiceWait& one : waits_)
    if (one.id == worst) cut.waited = one.waited;
  cap_ = ruling.cap;
  const auto present = quota_ ? quota_->present() : std::nullopt;
  // Suppression may hold it lower than the cap already.
  if (present) cut.from = *present;
  if (!orders.dryRun)
    if (auto ok = narrow(orders, ruling.cap, present); !ok) cut.trouble = ok.error().text();
  cut.written = clock_.mono();
  if (options_.onCut) options_.onCut(cut);
}

// The executor may have written between our cut and its next look; then the smaller value counts.
void Sentinel::enforceCap(const SentinelOrders& orders) {
  const int64_t cap = cap_;
  if (cap == kUnlimited || orders.dryRun) return;
  const auto present = quota_ ? quota_->present() : std::nullopt;
  if (!present) return quota_.reset();
  if (!narrow(orders, cap, present).value_or(false)) return;
  std::lock_guard lock(mutex_);
  ++status_.repaired;
}

const char* Sentinel::mode() const {
  if (meter_.source() == "groups") return meter_.triggered() ? "trigger" : "poll";
  if (meter_.source().empty()) return "blind";
  return meter_.source() == "node" ? "node" : "idle";
}

Duration Sentinel::turn(bool alarmed) {
  std::lock_guard acting(acting_);
  const Orders orders = orders_.load();
  if (!orders) {
    adopted_.reset();
    governor_.reset();
    meter_ = PressureMeter();
    waits_ = {};
    cap_ = kUnlimited;
    publish("resting");
    return kLongSleep;
  }
  adopt(orders);
  const MonoTime now = clock_.mono();
  waits_ = meter_.read(now, alarmed);
  const PressureSample sample{now, usedSince(*orders, now), alarmed};
  const int64_t before = governor_->cap();
  const Ruling ruling = governor_->step(sample, waits_);
  if (ruling.cut)
    act(*orders, ruling, sample, before);
  else
    cap_ = ruling.cap, enforceCap(*orders);
  const bool triggered = meter_.triggered();
  publish(mode());
  if (alarmed || ruling.cap != kUnlimited) quietSince_ = now;
  const bool attentive = quietSince_ != MonoTime::min() && now - quietSince_ < kAttentive;
  if (ruling.cap != kUnlimited || (triggered && attentive)) return options_.busyInterval;
  return triggered ? kLongSleep : lookEvery(options_, *orders);
}

// True when the kernel said that services wait.
bool Sentinel::sleep(Duration limit) {
  std::vector<pollfd> fds{{bell_.get(), POLLIN, 0}};
  for (int fd : meter_.alarms()) fds.push_back({fd, POLLPRI, 0});
  const timespec wait{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
  if (::ppoll(fds.data(), fds.size(), &wait, nullptr) <= 0) return false;
  uint64_t rung = 0;
  if (fds[0].revents != 0) (void)!::read(bell_.get(), &rung, sizeof rung);
  bool alarmed = false;
  for (size_t i = 1; i < fds.size(); ++i) {
    // The kernel says both when the cgroup is gone: no alarm, and never another one.
    if ((fds[i].revents & POLLERR) != 0)
      meter_.silence(fds[i].fd);
    else
      alarmed |= (fds[i].revents & POLLPRI) != 0;
  }
  return alarmed;
}

void Sentinel::run() {
  // What it looks for is a machine without CPU time to spare, so it asks for some ahead of others.
  const auto self = static_cast<id_t>(::syscall(SYS_gettid));
  if (::setpriority(PRIO_PROCESS, self, kNice) != 0)
    log.info("the sentinel runs at ordinary priority: {}", std::generic_category().message(errno));
  bool alarmed = false;
  while (!ending_) alarmed = sleep(turn(alarmed));
}

}  // namespace mangrove::agent
