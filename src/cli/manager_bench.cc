#include "cli/manager_bench.h"

#include <csignal>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/wire/names.h"
#include "base/clock.h"
#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "cli/manager_bench_requests.h"
#include "client/bench/api/load.h"
#include "client/bench/api/objects.h"
#include "client/bench/api/own_server.h"
#include "client/http/http_api_client.h"
#include "client/informer/informer.h"
#include "json/value.h"
#include "kernel/sys_root.h"

extern char** environ;

namespace mangrove::cli {
namespace {

namespace kind = client::kind;
using client::Request;

constexpr Duration kLongest = std::chrono::minutes(10);

double secondsSince(MonoTime from) {
  return std::chrono::duration<double>(realClock().mono() - from).count();
}

// The manager under measurement.
class OwnManager {
 public:
  static Result<std::unique_ptr<OwnManager>> start(const std::string& program,
                                                   const std::string& kubeconfig) {
    std::vector<std::string> words = {program,
                                      "manager",
                                      "--kubeconfig",
                                      kubeconfig,
                                      "--metrics-addr",
                                      "0",
                                      "--health-probe-addr",
                                      "0",
                                      "--enable-leader-election=false"};
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return failErrno(error, "start " + program);
    return std::unique_ptr<OwnManager>(new OwnManager(pid));
  }
  ~OwnManager() {
    ::kill(pid_, SIGTERM);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_t pid() const { return pid_; }

 private:
  explicit OwnManager(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

// The one amount that is judged, so that watching costs little beside what is measured.
struct SoldCpu {
  std::optional<Quantity> amount;
};
bool readAllocatable(const api::In& in, SoldCpu& out) {
  static constexpr api::Fields fields{api::field<&SoldCpu::amount>(api::resource::kBatchCpu)};
  return fields.read(in, out);
}
bool readStatus(const api::In& in, SoldCpu& out) {
  static constexpr api::Fields fields{api::via<readAllocatable>("allocatable")};
  return fields.read(in, out);
}
static bool read(const api::In& in, SoldCpu& out) {
  static constexpr api::Fields fields{api::via<readStatus>("status")};
  return fields.read(in, out);
}

// Watches nodes and NodeSLOs and notes when they are right.
class Watcher {
 public:
  Watcher(client::ApiClient& client, int64_t nodes, int64_t pods)
      : nodes_({.client = &client,
                .owner = &owner_,
                .follow = {.kind = kind::kNode},
                .raw = client::RawKeep::kNone}),
        slos_({.client = &client,
               .owner = &owner_,
               .follow = {.kind = kind::kNodeSlo},
               .raw = client::RawKeep::kNone}) {
    for (int64_t i = 0; i < nodes; i++)
      expected_[client::benchNodeName(i)] = expectedMilli(i, pods);
    nodes_.onChange([this](const auto& change) { onNode(change); });
    nodes_.start();
    slos_.start();
    runUntil([this] { return nodes_.hasSynced() && slos_.hasSynced(); }, kLongest);
    changes_ = 0;
  }

  template <class Condition>
  bool runUntil(Condition condition, Duration limit) {
    const MonoTime end = realClock().mono() + limit;
    while (!condition()) {
      if (realClock().mono() > end) return false;
      owner_.runOne(std::chrono::milliseconds(10));
    }
    return true;
  }
  void rest(Duration time) {
    runUntil([] { return false; }, time);
  }

  size_t right() const { return right_; }
  size_t slos() const { return slos_.size(); }
  int64_t changes() const { return changes_; }
  int64_t wrong() const { return wrong_; }
  MonoTime firstRight() const { return first_; }
  MonoTime lastRight() const { return last_; }

 private:
  void onNode(const client::Change<SoldCpu>& change) {
    changes_++;
    if (!change.after) return;
    const auto expected = expected_.find(std::string(change.key));
    const auto& amount = change.after->amount;
    if (expected == expected_.end() || !amount) return;
    if (amount->value() != expected->second) {
      wrong_++;
      return;
    }
    expected_.erase(expected);
    last_ = realClock().mono();
    if (right_++ == 0) first_ = last_;
  }

  Mailbox owner_;
  client::Informer<SoldCpu> nodes_;
  struct Named {
    int unused = 0;
    friend bool read(const api::In&, Named&) { return true; }
  };
  client::Informer<Named> slos_;
  std::map<std::string, int64_t> expected_;
  size_t right_ = 0;
  int64_t changes_ = 0;
  int64_t wrong_ = 0;
  MonoTime first_{}, last_{};
};

struct Bench {
  ManagerBenchOptions options;
  net::Loop loop{1};
  client::Clients clients;
  kernel::SysRoot root;
  client::ProcessProbe nobody{root, {}};

  Result<> load(int64_t count, std::function<Request(int64_t)> make, std::string_view what) {
    auto result = client::runLoad(
        clients, nobody, {.operations = count, .inFlight = options.inFlight, .warmUp = false},
        std::move(make));
    if (result.failed > 0)
      return fail(Code::kUnavailable, "{}: {} of {} failed, first: {}", what, result.failed, count,
                  result.firstFailure);
    return {};
  }
};

Result<> seed(Bench& bench) {
  auto& client = *bench.clients.front();
  (void)client.create(kind::kNamespace, "", R"({"metadata":{"name":"koordinator-system"}})");
  const json::Object config = {{"metadata", {{"name", api::object::kSloConfig}}},
                               {"data", {{api::slo_key::kColocation, kBenchConfig}}}};
  if (auto made = client.create(kind::kConfigMap, std::string(api::object::kSystemNamespace),
                                json::write(config));
      !made)
    return made.error().in("the cluster must have no configuration yet");
  const auto& o = bench.options;
  const WallTime now = realClock().wall();
  if (auto ok = bench.load(
          o.nodes, [](int64_t i) { return client::createNode("manager", i); }, "create nodes");
      !ok)
    return ok;
  if (auto ok = bench.load(o.nodes, createMetric, "create NodeMetrics"); !ok) return ok;
  return bench.load(
      o.nodes, [&](int64_t i) { return reportMetric(i, o.podsPerNode, now); }, "report");
}

struct Round {
  double raw = 0;
  double nodesPerSecond = 0;
  double cpuMillisPerNode = 0;
  double percent() const { return nodesPerSecond / std::max(raw, 1e-9) * 100; }
};

Round measureFill(Bench& bench, Watcher& watch, const client::ProcessProbe& probe) {
  const auto n = static_cast<size_t>(bench.options.nodes);
  watch.runUntil([&] { return watch.right() >= n; }, kLongest);
  Round out;
  out.cpuMillisPerNode = probe.cpu().serverSeconds * 1e3 / static_cast<double>(n);
  const auto span = std::chrono::duration<double>(watch.lastRight() - watch.firstRight()).count();
  out.nodesPerSecond = static_cast<double>(watch.right()) / std::max(span, 1e-9);
  return out;
}

// The first manager writes the NodeSLOs too.
void measureSettling(Bench& bench, Watcher& watch, const client::ProcessProbe& probe,
                     MonoTime started, ManagerBenchResult& out) {
  out.firstRightSeconds = std::chrono::duration<double>(watch.firstRight() - started).count();
  out.allRightSeconds = std::chrono::duration<double>(watch.lastRight() - started).count();
  const auto n = static_cast<size_t>(bench.options.nodes);
  watch.runUntil([&] { return watch.slos() >= n; }, kLongest);
  out.settledSeconds = secondsSince(started);
  watch.rest(std::chrono::seconds(2));
  out.nodeWrites = watch.changes();
  out.fillCpuMillisPerNode = probe.cpu().serverSeconds * 1e3 / static_cast<double>(n);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void summarise(const std::vector<Round>& rounds, ManagerBenchResult& out) {
  std::vector<double> raw, rate, percent, cpu;
  for (const Round& one : rounds) {
    raw.push_back(one.raw);
    rate.push_back(one.nodesPerSecond);
    percent.push_back(one.percent());
    cpu.push_back(one.cpuMillisPerNode);
  }
  out.rawPatchesPerSecond = median(raw);
  out.nodesPerSecond = median(rate);
  out.ofRawPercent = median(percent);
  out.ofRawLeast = *std::min_element(percent.begin(), percent.end());
  out.ofRawMost = *std::max_element(percent.begin(), percent.end());
  out.rightCpuMillisPerNode = median(cpu);
}

Result<> measureRound(Bench& bench, Watcher& watch, const client::ProcessProbe& probe,
                      ManagerBenchResult& out) {
  const double before = probe.cpu().serverSeconds;
  const int64_t changes = watch.changes();
  const WallTime now = realClock().wall() + std::chrono::seconds(1);
  if (auto ok = bench.load(
          bench.options.nodes,
          [&](int64_t i) { return reportMetric(i, bench.options.podsPerNode, now); }, "report");
      !ok)
    return ok;
  watch.rest(std::chrono::seconds(3));
  out.roundCpuMillisPerNode =
      (probe.cpu().serverSeconds - before) * 1e3 / static_cast<double>(bench.options.nodes);
  out.roundWrites = watch.changes() - changes;
  return {};
}

void measureRest(Bench& bench, Watcher& watch, const client::ProcessProbe& probe,
                 ManagerBenchResult& out) {
  const double before = probe.cpu().serverSeconds;
  const int64_t changes = watch.changes();
  watch.rest(std::chrono::seconds(bench.options.restSeconds));
  const auto seconds = static_cast<double>(bench.options.restSeconds);
  out.restCpuPercent = (probe.cpu().serverSeconds - before) / seconds * 100;
  out.restWritesPerMinute = static_cast<double>(watch.changes() - changes) / seconds * 60;
  const auto memory = probe.memory();
  out.rssBytes = memory.rssBytes;
  out.pssBytes = memory.pssBytes;
}

// With as many watchers of nodes as there will be later, because each costs the server something
// with every write: the manager itself and the one who judges it.
double rawRate(Bench& bench) {
  const auto idle = [&] {
    client::WatchHandler handler;
    handler.onEvents = [](const std::string&) { return true; };
    return bench.clients.back()->watch({.kind = kind::kNode, .ns = "", .query = {}},
                                       std::move(handler));
  };
  const auto one = idle(), two = idle();
  const auto raw = client::runLoad(
      bench.clients, bench.nobody,
      {.operations = bench.options.nodes, .inFlight = bench.options.inFlight}, rawPatch);
  // The nodes are as they were, so that what the manager keeps of them is not ours.
  (void)bench.load(bench.options.nodes, undoRawPatch, "undo");
  return static_cast<double>(raw.counted) / std::max(raw.seconds, 1e-9);
}

Result<Round> measureOne(Bench& bench, const std::string& kubeconfig, bool first, bool last,
                         ManagerBenchResult& out) {
  const auto& o = bench.options;
  const double raw = rawRate(bench);
  Watcher watch(*bench.clients.front(), o.nodes, o.podsPerNode);
  const MonoTime started = realClock().mono();
  auto manager = OwnManager::start(o.program, kubeconfig);
  if (!manager) return pass(manager.error());
  const client::ProcessProbe probe(bench.root, {(*manager)->pid()});
  Round round = measureFill(bench, watch, probe);
  round.raw = raw;
  if (first) measureSettling(bench, watch, probe, started, out);
  if (last) {
    if (auto ok = measureRound(bench, watch, probe, out); !ok) return pass(ok.error());
    measureRest(bench, watch, probe, out);
  }
  out.wrongValues += watch.wrong();
  manager->reset();
  if (auto ok = bench.load(o.nodes, undoManager, "undo"); !ok) return pass(ok.error());
  return round;
}

Result<ManagerBenchResult> measure(Bench& bench, const std::string& kubeconfig) {
  ManagerBenchResult out;
  const int64_t count = std::max<int64_t>(1, bench.options.rounds);
  out.nodes = bench.options.nodes;
  out.server = bench.clients.front()->server();
  if (auto ok = seed(bench); !ok) return pass(ok.error());
  std::vector<Round> rounds;
  for (int64_t i = 0; i < count; i++) {
    auto one = measureOne(bench, kubeconfig, i == 0, i + 1 == count, out);
    if (!one) return pass(one.error());
    rounds.push_back(*one);
  }
  summarise(rounds, out);
  return out;
}

}  // namespace

Result<ManagerBenchResult> runManagerBench(const ManagerBenchOptions& given) {
  ManagerBenchOptions options = given;
  if (options.program.empty()) {
    auto self = kernel::SysRoot().readLink("proc/self/exe");
    if (!self) return pass(self.error());
    options.program = *self;
  }
  auto scratch = TempFolder::below(options.dir.empty() ? "/tmp" : options.dir, "mangrove-bench");
  if (!scratch) return pass(scratch.error());
  std::unique_ptr<client::OwnServer> server;
  std::string kubeconfig = options.kubeconfig;
  if (kubeconfig.empty()) {
    auto started = client::OwnServer::start(options.program, scratch->path());
    if (!started) return pass(started.error());
    server = std::move(*started);
    kubeconfig = scratch->path() + "/kubeconfig";
  }
  auto config = client::loadClientConfig({.kubeconfig = kubeconfig, .context = options.context});
  if (!config) return pass(config.error());
  Bench bench;
  bench.options = options;
  for (int i = 0; i < 2; i++) {
    auto made = client::HttpApiClient::make(bench.loop, realClock(), *config, {.perSecond = 0});
    if (!made) return pass(made.error());
    bench.clients.push_back(std::move(*made));
  }
  return measure(bench, kubeconfig);
}

}  // namespace mangrove::cli
