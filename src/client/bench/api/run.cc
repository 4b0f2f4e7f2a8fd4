// The order of the measurements: start-up, empty, nodes, then the runs that fill the server with
// pods, then the full server.

#include <functional>
#include <optional>

#include <fmt/format.h>
#include <poll.h>

#include "base/clock.h"
#include "base/os/temp_folder.h"
#include "client/bench/api/bench_api.h"
#include "client/bench/api/connections.h"
#include "client/bench/api/fan_out.h"
#include "client/bench/api/load.h"
#include "client/bench/api/objects.h"
#include "client/bench/api/own_server.h"
#include "client/bench/api/spread.h"
#include "json/view.h"

namespace mangrove::client {

namespace {

constexpr int kSettleMillis = 3000;  // before memory is read
constexpr int64_t kLists = 10;       // of all pods, one after the other
constexpr Duration kLongest = std::chrono::minutes(2);

double millisSince(MonoTime from) {
  return std::chrono::duration<double, std::milli>(realClock().mono() - from).count();
}

Request pathRequest(std::string path) {
  Request request;
  request.path = std::move(path);
  request.maxTries = 1;
  return request;
}

// One phase over several runs becomes one line of the table.
class Phase {
 public:
  explicit Phase(std::string name) { measure_.name = std::move(name); }
  void add(const LoadResult& r) {
    const double n = static_cast<double>(std::max<int64_t>(1, r.counted));
    measure_.operations = r.counted;
    measure_.failed += r.failed;
    if (measure_.firstFailure.empty()) measure_.firstFailure = r.firstFailure;
    rate_.push_back(r.seconds > 0 ? n / r.seconds : 0);
    p50_.push_back(quantileOf(r.millis, 0.5));
    p99_.push_back(quantileOf(r.millis, 0.99));
    server_.push_back(r.used.serverSeconds * 1e6 / n);
    client_.push_back(r.used.clientSeconds * 1e6 / n);
    const double others = r.used.machineSeconds - r.used.serverSeconds - r.used.clientSeconds;
    if (r.used.machineTotal > 0) neighbours_.push_back(std::max(0.0, others / r.used.machineTotal));
  }
  ApiMeasure measure() {
    measure_.perSecond = spreadOf(rate_);
    measure_.p50Millis = spreadOf(p50_);
    measure_.p99Millis = spreadOf(p99_);
    measure_.serverCpuMicros = spreadOf(server_);
    measure_.clientCpuMicros = spreadOf(client_);
    measure_.neighbours = spreadOf(neighbours_);
    return measure_;
  }

 private:
  ApiMeasure measure_;
  std::vector<double> rate_, p50_, p99_, server_, client_, neighbours_;
};

class Bench {
 public:
  Bench(const ApiBenchOptions& options, const Clients& clients, const ProcessProbe& probe,
        ApiBenchResult& result)
      : options_(options),
        clients_(clients),
        probe_(probe),
        result_(result),
        label_(fmt::format("b{:x}", realClock().wall().time_since_epoch().count() & 0xffffffff)) {}

  Result<> run() {
    result_.loadBefore = probe_.loadAverages();
    if (auto version = readVersion(); !version) return version;
    remember("empty");
    if (auto nodes = createNodes(); !nodes) return nodes;
    if (auto runs = writeRuns(); !runs) return runs;
    remember(fmt::format("{} nodes and {} pods", options_.nodes, podsPerRun() * options_.runs));
    lists();
    if (auto fan = fanOut(); !fan) return fan;
    remember("at the end");
    result_.loadAfter = probe_.loadAverages();
    return {};
  }

  void cleanUp() {
    for (int64_t run = 0; run < options_.runs; ++run) {
      Request pods = deleteAll(kind::kPod, namespaceOf(run), "");
      pods.body = R"({"gracePeriodSeconds":0})";
      clients_[0]->call(std::move(pods));
      clients_[0]->remove({kind::kNamespace, "", namespaceOf(run)});
    }
    clients_[0]->call(deleteAll(kind::kNode, "", fmt::format("{}={}", kBenchLabel, label_)));
  }

 private:
  std::string namespaceOf(int64_t run) const { return fmt::format("bench-{}-{}", label_, run); }
  int64_t podsPerRun() const {
    return std::max<int64_t>(1, (options_.pods + options_.runs - 1) / options_.runs);
  }

  static Request deleteAll(Kind kind, std::string ns, std::string labels) {
    Request request;
    request.verb = Verb::kDeleteCollection;
    request.ref = {kind, std::move(ns), ""};
    request.query.labelSelector = std::move(labels);
    request.timeout = kLongest;
    return request;
  }

  Result<> readVersion() {
    auto reply = clients_[0]->call(pathRequest("/version"));
    if (!reply) return pass(reply.error());
    json::Doc doc;
    if (auto root = doc.parse(reply->body))
      result_.version = std::string((*root)["gitVersion"].string().value_or(""));
    return {};
  }

  void remember(std::string when) {
    if (!probe_.knowsServer()) return;
    ::poll(nullptr, 0, kSettleMillis);
    const MemoryReading memory = probe_.memory();
    result_.memory.push_back({std::move(when), memory.rssBytes, memory.pssBytes});
  }

  LoadResult load(int64_t operations, std::function<Request(int64_t)> make) {
    return runLoad(clients_, probe_, {operations, options_.inFlight}, std::move(make));
  }

  Result<> createNodes() {
    if (options_.nodes == 0) return {};
    Phase nodes("create nodes");
    const LoadResult made = load(options_.nodes, [&](int64_t i) { return createNode(label_, i); });
    if (made.failed > 0) return fail(Code::kUnavailable, "create nodes: {}", made.firstFailure);
    nodes.add(made);
    result_.measures.push_back(nodes.measure());
    return {};
  }

  Result<> writeRuns() {
    Phase creates("create pods"), binds("bind pods"), patches("patch pods"), gets("get pods");
    for (int64_t run = 0; run < options_.runs; ++run) {
      const std::string ns = namespaceOf(run);
      auto made = clients_[0]->call(createNamespace(ns));
      if (!made) return pass(made.error());
      const int64_t n = podsPerRun();
      creates.add(load(n, [&](int64_t i) { return createPod(ns, i); }));
      binds.add(load(n, [&](int64_t i) { return bindPod(ns, i, options_.nodes); }));
      patches.add(load(n, [&](int64_t i) { return patchPod(ns, i, "0"); }));
      gets.add(load(n, [&](int64_t i) { return getPod(ns, i * 7919 % n); }));
    }
    for (Phase* phase : {&creates, &binds, &patches, &gets})
      result_.measures.push_back(phase->measure());
    return {};
  }

  // Whole lists in one answer, as a controller without paging asks.
  void lists() {
    Phase lists(fmt::format("list all pods"));
    for (int64_t run = 0; run < options_.runs; ++run)
      lists.add(runLoad(clients_, probe_, {kLists, 1}, [](int64_t) {
        Request request;
        request.verb = Verb::kList;
        request.ref.kind = kind::kPod;
        request.timeout = kLongest;
        return request;
      }));
    result_.measures.push_back(lists.measure());
  }

  Result<> fanOut() {
    if (options_.watchers == 0) return {};
    Phase events(fmt::format("events to {} watchers", options_.watchers));
    for (int64_t run = 0; run < options_.runs; ++run) {
      auto seen = runFanOut(clients_, probe_,
                            {.ns = namespaceOf(run),
                             .pods = podsPerRun(),
                             .watchers = options_.watchers,
                             .writes = options_.fanOutWrites});
      if (!seen) return pass(seen.error());
      events.add(*seen);
    }
    result_.measures.push_back(events.measure());
    return {};
  }

  const ApiBenchOptions& options_;
  const Clients& clients_;
  const ProcessProbe& probe_;
  ApiBenchResult& result_;
  const std::string label_;
};

// A server that is started only to be timed.
Result<StartMeasure> measureStarts(const ApiBenchOptions& options, const kernel::SysRoot& root,
                                   std::string what,
                                   const std::function<std::string(int64_t)>& dirOf) {
  std::vector<double> health, request, cpu;
  for (int64_t i = 0; i < options.starts; ++i) {
    auto server = OwnServer::start(options.program, dirOf(i));
    if (!server) return pass(server.error());
    auto config = (*server)->config();
    if (!config) return pass(config.error());
    auto connections = connectForLoad(*config, 1);
    if (!connections) return pass(connections.error());
    auto ready = (*connections)->clients[0]->call(pathRequest("/readyz"));
    if (!ready) return pass(ready.error());
    health.push_back(millisSince((*server)->execAt()));
    auto listed = (*connections)
                      ->clients[0]
                      ->call(pathRequest("/apis/slo.koordinator.sh/v1alpha1/nodemetrics?limit=1"));
    if (!listed) return pass(listed.error());
    request.push_back(millisSince((*server)->execAt()));
    cpu.push_back(ProcessProbe(root, {(*server)->pid()}).cpu().serverSeconds * 1000);
  }
  return StartMeasure{std::move(what), spreadOf(health), spreadOf(request), spreadOf(cpu)};
}

Result<> addStarts(const ApiBenchOptions& options, const kernel::SysRoot& root, std::string what,
                   ApiBenchResult& result, const std::function<std::string(int64_t)>& dirOf) {
  if (options.starts == 0) return {};
  auto measured = measureStarts(options, root, std::move(what), dirOf);
  if (!measured) return pass(measured.error());
  result.starts.push_back(std::move(*measured));
  return {};
}

Result<ApiBenchResult> benchOwn(const ApiBenchOptions& options, const kernel::SysRoot& root) {
  ApiBenchResult result;
  result.options = options;
  auto scratch = TempFolder::below(options.dir.empty() ? "/tmp" : options.dir, "mangrove-bench");
  if (!scratch) return pass(scratch.error());
  auto fresh = addStarts(options, root, "fresh directory", result,
                         [&](int64_t i) { return fmt::format("{}/start-{}", scratch->path(), i); });
  if (!fresh) return pass(fresh.error());
  const std::string data = scratch->path() + "/data";
  {
    auto server = OwnServer::start(options.program, data);
    if (!server) return pass(server.error());
    auto config = (*server)->config();
    if (!config) return pass(config.error());
    auto connections = connectForLoad(*config, options.inFlight);
    if (!connections) return pass(connections.error());
    result.server = config->server;
    const ProcessProbe probe(root, {(*server)->pid()});
    auto run = Bench(options, (*connections)->clients, probe, result).run();
    if (!run) return pass(run.error());
  }
  auto filled =
      addStarts(options, root, fmt::format("{} nodes and {} pods", options.nodes, options.pods),
                result, [&](int64_t) { return data; });
  if (!filled) return pass(filled.error());
  return result;
}

Result<ApiBenchResult> benchOther(const ApiBenchOptions& options, const kernel::SysRoot& root) {
  ApiBenchResult result;
  result.options = options;
  auto config = loadClientConfig({.kubeconfig = options.kubeconfig, .context = options.context});
  if (!config) return pass(config.error());
  auto connections = connectForLoad(*config, options.inFlight);
  if (!connections) return pass(connections.error());
  result.server = config->server;
  const ProcessProbe probe(root, options.serverPids);
  Bench bench(options, (*connections)->clients, probe, result);
  auto run = bench.run();
  bench.cleanUp();
  if (!run) return pass(run.error());
  return result;
}

}  // namespace

Result<ApiBenchResult> runApiBench(const ApiBenchOptions& options) {
  if (options.runs < 1 || options.pods < options.runs || options.inFlight < 1)
    return invalid("bench api: want --runs and --in-flight of 1 or more, and a pod for each run");
  const kernel::SysRoot root;
  if (!options.kubeconfig.empty()) return benchOther(options, root);
  if (!options.program.empty()) return benchOwn(options, root);
  auto self = root.readLink("proc/self/exe");
  if (!self) return self.error().in("own program");
  ApiBenchOptions own = options;
  own.program = *self;
  return benchOwn(own, root);
}

}  // namespace mangrove::client
