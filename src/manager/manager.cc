#include "manager/manager.h"

#include "base/os/log.h"
#include "manager/config_keeper.h"
#include "manager/seat.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {
namespace {

const Logger log("manager");

// Writes under way at first: as many as there are connections, which a small server takes too.
constexpr size_t kFirstWindow = 64;
// How often we look whether the first lists are in, and whether the last writes are answered.
constexpr Duration kReadyCheck = std::chrono::milliseconds(50);
constexpr Duration kAnswerCheck = std::chrono::milliseconds(20);

CacheSetup cacheSetup(const ManagerParts& parts, const ManagerOptions& options, Clock& clock) {
  return {.client = parts.client,
          .owner = parts.owner,
          .home = parts.home,
          .clock = &clock,
          .metrics = parts.metrics,
          .seed = options.seed,
          .configNamespace = options.configNamespace,
          .configName = options.configName};
}

}  // namespace

class Manager::Impl {
 public:
  Impl(const ManagerParts& parts, ManagerOptions given, std::span<const ControllerInfo> controllers)
      : options(std::move(given)),
        clock(parts.clock ? *parts.clock : realClock()),
        informers(cacheSetup(parts, options, clock)),
        caches(informers),
        desk{*parts.client, *parts.owner, clock,        *parts.metrics,
             caches,        window,       parts.events, false},
        config(desk, options, [this] {
          if (ready) addEverything();
        }) {
    for (const auto& one : controllers)
      if (isWanted(one, options))
        seats.push_back(std::make_unique<Seat>(one, desk, options, informers));
    queueUp();
    measure(*parts.metrics);
  }

  void queueUp();
  void measure(Registry& metrics);
  std::string waitingFor() const;
  void addEverything();
  void awaitReady(std::weak_ptr<Impl> self);
  void awaitAnswers(std::weak_ptr<Impl> self, Fn done);
  void begin();

  ManagerOptions options;
  Clock& clock;
  WriteWindow window{WriteWindow::Limits{.first = kFirstWindow}};
  CacheSetup informers;
  Caches caches;
  Desk desk;
  ConfigKeeper config;
  std::vector<std::unique_ptr<Seat>> seats;
  Gauge windowGauge;
  Timer readyTimer;
  Timer yieldTimer;
  bool ready = false;
};

void Manager::Impl::queueUp() {
  for (auto& seat : seats)
    for (auto& other : seats)
      if (!seat->info.after.empty() && seat->info.after == other->info.name)
        seat->loop.letFirst(other->loop);
}

void Manager::Impl::measure(Registry& metrics) {
  auto& writes = metrics.counters("mangrove_manager_writes_total",
                                  "Requests that changed something, by outcome.", {"result"});
  desk.writesSent = writes.with({"ok"});
  desk.writesFailed = writes.with({"failed"});
  desk.writesWithheld = writes.with({"withheld"});
  desk.dry = options.dryRun;
  windowGauge =
      metrics.gauge("mangrove_manager_write_window", "Writes that may be under way at once.");
  window.onRoom([this] { windowGauge.set(static_cast<double>(window.size())); });
}

void Manager::Impl::addEverything() {
  for (auto& seat : seats) seat->addEverything();
}

std::string Manager::Impl::waitingFor() const {
  std::string out = caches.waitingFor();
  for (const auto& seat : seats)
    if (out.empty()) out = seat->controller->waitingFor();
  return out;
}

void Manager::Impl::awaitReady(std::weak_ptr<Impl> self) {
  if (waitingFor().empty()) return begin();
  readyTimer = clock.after(kReadyCheck, [self, owner = &desk.owner] {
    owner->post([self] {
      if (auto impl = self.lock()) impl->awaitReady(self);
    });
  });
}

void Manager::Impl::begin() {
  ready = true;
  config.settle();
  log.info("{} nodes, {} NodeMetrics, {} pods known", caches.nodes.size(), caches.metrics.size(),
           caches.pods.size());
  if (!desk.leads) return;
  addEverything();
  for (auto& seat : seats) seat->loop.run();
}

Manager::Manager(const ManagerParts& parts, ManagerOptions options,
                 std::span<const ControllerInfo> controllers)
    : impl_(std::make_shared<Impl>(parts, std::move(options), controllers)) {}

Manager::~Manager() = default;

void Manager::start() {
  impl_->config.listen();
  for (auto& seat : impl_->seats) seat->controller->start();
  impl_->caches.start();
  impl_->awaitReady(impl_);
}

void Manager::lead() {
  impl_->desk.leads = true;
  impl_->config.tell();
  for (auto& seat : impl_->seats) seat->controller->lead();
  if (impl_->ready) impl_->begin();
}

void Manager::yield(Fn done) {
  impl_->desk.leads = false;
  for (auto& seat : impl_->seats) seat->loop.pause();
  if (done) impl_->awaitAnswers(impl_, std::move(done));
}

// Only waits: who leads again meanwhile is not stopped by the end of an earlier reign.
void Manager::Impl::awaitAnswers(std::weak_ptr<Impl> self, Fn done) {
  if (window.underWay() == 0) return done();
  yieldTimer =
      clock.after(kAnswerCheck, [self, owner = &desk.owner, done = std::move(done)]() mutable {
        owner->post([self, done = std::move(done)]() mutable {
          auto impl = self.lock();
          if (!impl) return;
          if (impl->window.underWay() > 0) return impl->awaitAnswers(self, std::move(done));
          impl.reset();  // `done` may end us, and what our parts stand on
          done();
        });
      });
}

bool Manager::leading() const {
  return impl_->desk.leads;
}

std::string Manager::waitingFor() const {
  return impl_->waitingFor();
}

bool Manager::idle() const {
  if (!impl_->desk.leads || !impl_->ready || impl_->window.underWay() > 0) return false;
  for (auto& seat : impl_->seats)
    if (!seat->loop.idle()) return false;
  return true;
}

ManagerStats Manager::stats() const {
  return {static_cast<uint64_t>(impl_->desk.writesSent.value()),
          static_cast<uint64_t>(impl_->desk.writesFailed.value()), impl_->window.size()};
}

std::shared_ptr<const NodeGauges> Manager::nodeGauges() const {
  return impl_->desk.gauges;
}

SloConfigPtr Manager::config() const {
  return impl_->desk.config;
}

std::vector<NodeLabels> Manager::nodeLabels() const {
  std::vector<NodeLabels> out;
  impl_->caches.nodes.each([&](std::string_view key, const api::Node& node) {
    out.push_back({std::string(key), node.meta.labels});
  });
  return out;
}

}  // namespace mangrove::manager
