#include "manager/role.h"

#include <array>

#include <malloc.h>

#include "base/os/code_pages.h"
#include "base/os/log.h"
#include "client/http/kubeconfig.h"
#include "json/value.h"
#include "manager/controllers/noderesource/node_gauges.h"
#include "manager/gates.h"
#include "manager/switches.h"

namespace mangrove::manager {
namespace {

const Logger log("manager");

constexpr Duration kHealthEvery = std::chrono::seconds(1);

// A pass over all nodes keeps many requests under way; between passes there are few.
constexpr int kConnections = 64;

// Lists and rounds of reports leave holes in the heap, and a start leaves code, that nothing needs
// later; they go back to the machine now and then, which takes a millisecond.
constexpr int kTrimEvery = 10;  // looks at a healthy manager

// Each heap keeps its own leftovers, so there are few; and pages of lists go back to the machine at
// once instead of being cut into small pieces (glibc would raise this limit after the first one).
constexpr int kMostHeaps = 2;
constexpr int kLargeBlock = 256 * 1024;

void tuneHeap() {
  ::mallopt(M_ARENA_MAX, kMostHeaps);
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
}

// Accepted so that the reference's manifests start unchanged.
// We always read a quota afresh after a conflict.
// The rules of the enhanced validator are watched, not polled.
constexpr std::array<std::string_view, 9> kIgnored = {
    "quota-update-conflict-fresh-get",
    "pod-enhanced-validator-reconcile-interval",
    "enable-pprof",
    "pprof-addr",
    "leader-elect-resource-lock",
    "sync-period",
    "namespace",
    "colocation-profile-force-update-pod-duration",
    "colocation-profile-expire-pod-cache-duration"};

}  // namespace

// Before any thread has a heap of its own.
ManagerRole::ManagerRole() {
  tuneHeap();
}
ManagerRole::~ManagerRole() = default;

frame::RoleInfo ManagerRole::info() const {
  return {.name = "manager",
          .about = "decides what nodes have for sale and tells the agents how to measure and act",
          .opsFlag = "metrics-addr",
          .opsDefault = ":8080",
          .gates = managerGates(),
          .records = true};
}

void ManagerRole::flags(frame::Flags& flags) {
  server_.declare(flags, "rest-config-qps", "rest-config-burst");
  flags.add("health-probe-addr", probeAddress_, "where /healthz and /readyz are served as well");
  flags.add("enable-leader-election", leader_.elect, "act only while holding the Lease");
  flags.add("leader-election-namespace", leader_.ns, "namespace of the Lease");
  flags.add("leader-election-id", leader_.name, "name of the Lease");
  flags.add("leader-elect-lease-duration", leader_.leaseDuration,
            "how long others wait for a silent leader");
  flags.add("leader-elect-renew-deadline", leader_.renewDeadline,
            "when a leader that cannot renew stops");
  flags.add("leader-elect-retry-period", leader_.retryPeriod, "how often the Lease is looked at");
  flags.add("controllers", options_.controllers, "which controllers run: '*', 'name', '-name'");
  flags.add("config-namespace", options_.configNamespace, "namespace of the configuration");
  flags.add("slo-config-name", options_.configName, "name of the ConfigMap with the strategies");
  for (const auto& controller : allControllers())
    if (controller.flags) controller.flags(flags, options_.own);
  flags.add("dry-run", options_.dryRun,
            "decide, say in the log what would be written, and write nothing but the Lease; no "
            "webhooks, no Events");
  flags.add("enable-webhooks", admit_, "serve admission webhooks");
  declareAdmissionFlags(flags, admissionOptions_);
  flags.ignore(kIgnored);
}

Result<> ManagerRole::check() const {
  auto ok = checkSwitches("controllers", options_.controllers, controllerNames());
  for (const auto& controller : allControllers())
    if (ok && controller.check) ok = controller.check(options_.own);
  return ok;
}

Result<> ManagerRole::connect(frame::RoleContext& context) {
  auto made =
      server_.connect(context, {.connections = kConnections, .userAgent = "koordinator-manager"});
  if (!made) return pass(made.error());
  client_ = std::move(*made);
  aside_ = context.aside(client_.get());
  worker_ = std::make_unique<client::Worker>();
  const client::EventRecorderOptions options{.component = "koordinator-manager",
                                             .metrics = &context.metrics};
  events_ = std::make_unique<client::EventRecorder>(*client_, context.home(worker_->mailbox()),
                                                    context.clock, options);
  if (context.recorder)
    asideEvents_ = std::make_unique<client::EventRecorder>(*aside_, worker_->mailbox(),
                                                           context.asideClock(), options);
  return {};
}

// The reference serves probes on a port of their own.
Result<> ManagerRole::serveProbes(frame::RoleContext& context) {
  const auto address = frame::parseListenAddress(probeAddress_);
  if (!address) return address.error().in("--health-probe-addr");
  if (address->disabled) return {};
  auto server = frame::OpsServer::start(context.io, *address, context.health, context.metrics);
  if (!server) return server.error().in("--health-probe-addr {}", probeAddress_);
  probes_ = std::move(*server);
  return {};
}

// The reference has a page for each audience; ours says the same on all of them.
void ManagerRole::serveNodeMetrics(frame::RoleContext& context) {
  if (context.ops == nullptr) return;
  const auto answer = [gauges = manager_->nodeGauges(),
                       registry = &context.metrics](const net::HttpRequest&) {
    net::HttpResponse out;
    out.status = 200;
    out.headers.set("Content-Type", Registry::kContentType);
    out.body = registry->exposition() + gauges->exposition();
    return out;
  };
  for (const char* path : {"/metrics", "/all-metrics", "/internal-metrics", "/external-metrics"})
    context.ops->route(path, answer);
}

void ManagerRole::reportHealth(frame::RoleContext& context) {
  waiting_ = std::make_shared<std::string>("not started");
  waitingMutex_ = std::make_shared<std::mutex>();
  context.health.ready("caches", [text = waiting_, mutex = waitingMutex_]() -> Result<> {
    std::lock_guard lock(*mutex);
    if (text->empty()) return {};
    return fail(Code::kUnavailable, "{}", *text);
  });
}

// On a fresh server nobody has made it yet; where we may not, it is there already.
void ManagerRole::ensureNamespace(client::ApiClient& server, const std::string& name) {
  client::Request look;
  look.ref = {client::kind::kNamespace, "", name, ""};
  server.submit(std::move(look), [client = &server, name](Result<client::Reply> found) {
    if (found || found.error().code() != Code::kNotFound) return;
    client::Request make;
    make.verb = client::Verb::kCreate;
    make.ref = {client::kind::kNamespace, "", "", ""};
    make.body = json::write(json::Object{{"metadata", {{"name", name}}}});
    client->submit(std::move(make), [name](Result<client::Reply> made) {
      if (made) log.info("made the namespace {}", name);
    });
  });
}

// Who loses the Lease goes on answering admission and competes again.
Result<> ManagerRole::compete(frame::RoleContext& context) {
  frame::Leader acts;
  acts.lead = [this] {
    isLeader_.set(1);
    manager_->lead();
  };
  acts.yield = [this] {
    isLeader_.set(0);
    manager_->yield();
  };
  acts.endsWithoutLease = false;
  return leadership_.start(context, *client_, leader_.elect, leader_.config(), std::move(acts),
                           log);
}

// Admission is served by every replica, leading or not; it answers others and is not recorded.
void ManagerRole::admit(frame::RoleContext& context) {
  admissionOptions_.configNamespace = options_.configNamespace;
  admissionOptions_.configName = options_.configName;
  AdmissionSetup setup;
  setup.client = aside_;
  setup.owner = owner_;
  setup.home = &worker_->mailbox();
  setup.io = &context.io;
  setup.clock = &context.asideClock();
  setup.metrics = &context.metrics;
  setup.events = asideEvents_ ? asideEvents_.get() : events_.get();
  setup.gates = &context.gates;
  setup.options = admissionOptions_;
  setup.nodes = [this] { return manager_->nodeLabels(); };
  admission_ = std::make_unique<AdmissionService>(std::move(setup));
  admission_->start();
  context.health.ready("webhook", admission_->readiness());
}

Result<> ManagerRole::start(frame::RoleContext& context) {
  if (auto ok = check(); !ok) return ok;
  if (options_.dryRun || context.isReplay()) admit_ = false;
  if (admit_) {
    if (auto ok = readAdmissionEnvironment(admissionOptions_); !ok) return ok;
  }
  if (auto ok = connect(context); !ok) return ok;
  if (auto ok = context.isReplay() ? Result<>() : serveProbes(context); !ok) return ok;
  clock_ = &context.clock;
  owner_ = &context.owner;
  options_.gates = context.gates;
  options_.seed = static_cast<uint64_t>(context.clock.wall().time_since_epoch().count());
  isLeader_ = context.metrics.gauge("koordinator_manager_is_leader", "1 while this process leads.");
  reportHealth(context);
  manager_ =
      std::make_unique<Manager>(ManagerParts{.client = client_.get(),
                                             .owner = owner_,
                                             .home = &context.home(worker_->mailbox()),
                                             .clock = clock_,
                                             .metrics = &context.metrics,
                                             .events = options_.dryRun ? nullptr : events_.get()},
                                options_);
  serveNodeMetrics(context);
  if (!options_.dryRun) ensureNamespace(*client_, leader_.ns);
  if (admit_ && admissionOptions_.ns != leader_.ns) ensureNamespace(*aside_, admissionOptions_.ns);
  manager_->start();
  if (admit_) admit(context);
  refreshHealth();
  return compete(context);
}

void ManagerRole::refreshHealth() {
  {
    std::lock_guard lock(*waitingMutex_);
    *waiting_ = manager_->waitingFor();
    if (waiting_->empty() && ++healthyLooks_ % kTrimEvery == 0) releaseUnusedMemory();
  }
  healthTimer_ = clock_->after(kHealthEvery, [this] {
    owner_->post([this] {
      if (manager_) refreshHealth();
    });
  });
}

// Nothing new is begun; what is under way is answered; then the Lease goes back, so that the next
// leader starts at once and never beside us.
void ManagerRole::stop(Fn stopped) {
  healthTimer_.reset();
  if (admission_) admission_->stop(std::chrono::seconds(5));
  manager_->yield([this, stopped = std::move(stopped)]() mutable {
    leadership_.stop([this, stopped = std::move(stopped)]() mutable {
      admission_.reset();
      manager_.reset();
      events_.reset();
      asideEvents_.reset();
      worker_.reset();
      client_.reset();
      probes_.reset();
      stopped();
    });
  });
}

}  // namespace mangrove::manager
