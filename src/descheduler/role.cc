#include "descheduler/role.h"

#include <array>

#include "base/os/files.h"
#include "base/os/log.h"
#include "json/yaml.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

constexpr Duration kHealthEvery = std::chrono::seconds(1);
constexpr int kConnections = 16;
constexpr std::string_view kDropClaims = "DisablePVCReservation";
constexpr std::string_view kSaveFirst = "CheckpointPreemption";

constexpr GateInfo kGates[] = {
    {kDropClaims, false, Maturity::kBeta, "reservations leave persistent volume claims out"},
    {kSaveFirst, false, Maturity::kAlpha, "pods that can save are asked to before they are moved"},
};

// Flags of the reference's charts that mean nothing here.
constexpr std::array<std::string_view, 5> kIgnored = {"secure-port", "bind-address",
                                                      "leader-elect-resource-lock", "profiling",
                                                      "contention-profiling"};

uint64_t seedOf(Clock& clock) {
  return static_cast<uint64_t>(clock.wall().time_since_epoch().count());
}

}  // namespace

DeschedulerRole::DeschedulerRole() = default;
DeschedulerRole::~DeschedulerRole() = default;

frame::RoleInfo DeschedulerRole::info() const {
  frame::RoleInfo info;
  info.name = "descheduler";
  info.about = "moves pods away from where they should not be any more";
  info.opsFlag = "metrics-bind-address";
  info.opsDefault = ":10251";
  info.ownConfigFlag = true;
  info.gates = kGates;
  info.records = true;
  return info;
}

void DeschedulerRole::flags(frame::Flags& flags) {
  flags.add("config", configFile_, "DeschedulerConfiguration file (descheduler/v1alpha2)");
  flags.add("scheduler-config", schedulerFile_,
            "KubeSchedulerConfiguration of the live scheduler, by which moves are proven");
  flags.add("write-config-to", writeTo_,
            "check the configuration, write it as it was read, and end");
  server_.declare(flags);
  flags.add("dry-run", dryRun_, "say what would be evicted, and evict nobody");
  leader_.declare(flags);
  flags.ignore(kIgnored);
}

Result<DeschedulerConfig> DeschedulerRole::loadConfig() {
  if (configFile_.empty()) return defaultConfig();
  auto text = readFile(configFile_);
  if (!text) return text.error().in("--config");
  auto config = readConfig(*text, configFile_);
  if (!config) return config;
  for (const std::string& warning : config->warnings) log.warn("{}: {}", configFile_, warning);
  return config;
}

Result<placement::SchedulerConfig> DeschedulerRole::loadSchedulerConfig() {
  if (schedulerFile_.empty())
    return placement::defaultConfig({"koord-scheduler", "default-scheduler"});
  auto text = readFile(schedulerFile_);
  if (!text) return text.error().in("--scheduler-config");
  return placement::readConfig(*text, schedulerFile_);
}

Result<> DeschedulerRole::writeConfig(const DeschedulerConfig& config) const {
  auto done = writeFileAtomically(writeTo_, json::writeYaml(config.text));
  if (!done) return done.error().in("--write-config-to");
  return {};
}

Result<> DeschedulerRole::connect(frame::RoleContext& context, const DeschedulerConfig& config) {
  frame::ServerAccess where = server_;
  if (where.kubeconfig.empty()) where.kubeconfig = config.kubeconfig;
  where.perSecond = config.qps;
  where.burst = static_cast<double>(config.burst);
  auto made =
      where.connect(context, {.connections = kConnections, .userAgent = "koord-descheduler"});
  if (!made) return pass(made.error());
  client_ = std::move(*made);
  if (context.ops) guard_.emplace(*context.ops, *client_);
  worker_ = std::make_unique<client::Worker>();
  events_ = std::make_unique<client::EventRecorder>(
      *client_, context.home(worker_->mailbox()), context.clock,
      client::EventRecorderOptions{.component = "koord-descheduler", .metrics = &context.metrics});
  return {};
}

void DeschedulerRole::reportHealth(frame::RoleContext& context) {
  waiting_ = std::make_shared<std::string>("not started");
  waitingMutex_ = std::make_shared<std::mutex>();
  context.health.ready("caches", [text = waiting_, mutex = waitingMutex_]() -> Result<> {
    std::lock_guard lock(*mutex);
    if (text->empty()) return {};
    return fail(Code::kUnavailable, "{}", *text);
  });
}

void DeschedulerRole::refreshHealth() {
  {
    std::lock_guard lock(*waitingMutex_);
    *waiting_ = descheduler_->waitingFor();
  }
  healthTimer_ = clock_->after(kHealthEvery, [this] {
    owner_->post([this] {
      if (descheduler_) refreshHealth();
    });
  });
}

void DeschedulerRole::serve(frame::RoleContext& context) {
  if (context.ops == nullptr) return;
  context.ops->route("/configz", [text = configText_](const net::HttpRequest&) {
    return net::HttpResponse::json(200, text);
  });
}

// Two that move pods would move them twice.
Result<> DeschedulerRole::compete(frame::RoleContext& context, const ElectionSettings& settings) {
  frame::Leader acts;
  acts.lead = [this] { descheduler_->lead(); };
  acts.yield = [this] {
    if (descheduler_) descheduler_->yield();
  };
  return leadership_.start(context, *client_, leader_.elect && settings.elect,
                           leader_.config(settings.lease), std::move(acts), log);
}

Result<> DeschedulerRole::start(frame::RoleContext& context) {
  auto config = loadConfig();
  if (!config) return pass(config.error());
  config->dryRun = config->dryRun || dryRun_;
  if (!writeTo_.empty()) {
    if (auto ok = writeConfig(*config); !ok) return ok;
    context.quit(0);
    return {};
  }
  auto scheduler = loadSchedulerConfig();
  if (!scheduler) return pass(scheduler.error());
  clock_ = &context.clock;
  owner_ = &context.owner;
  if (auto ok = connect(context, *config); !ok) return ok;
  const ElectionSettings election = config->election;
  configText_ = json::write(config->text);
  auto made = Descheduler::make({.client = client_.get(),
                                 .owner = owner_,
                                 .home = &context.home(worker_->mailbox()),
                                 .clock = clock_,
                                 .metrics = &context.metrics,
                                 .events = events_.get(),
                                 .reservation = {context.gates.on(kDropClaims)},
                                 .savesFirst = context.gates.on(kSaveFirst),
                                 .seed = seedOf(context.clock),
                                 .noticeNamespace = leader_.config(election.lease).ns,
                                 .scheduler = std::move(*scheduler)},
                                std::move(*config));
  if (!made) return made.error().in("{}", configFile_.empty() ? "configuration" : configFile_);
  descheduler_ = std::move(*made);
  reportHealth(context);
  serve(context);
  descheduler_->start();
  refreshHealth();
  return compete(context, election);
}

// Requests under way may still be answered by the server; nothing of ours hears of it. The Lease
// goes back last, so that the next leader never acts beside us.
void DeschedulerRole::stop(Fn stopped) {
  healthTimer_.reset();
  if (descheduler_) descheduler_->yield();
  leadership_.stop([this, stopped = std::move(stopped)]() mutable {
    descheduler_.reset();
    events_.reset();
    worker_.reset();
    guard_.reset();
    client_.reset();
    stopped();
  });
}

}  // namespace mangrove::descheduler
