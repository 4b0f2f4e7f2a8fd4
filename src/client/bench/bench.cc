#include "client/bench/bench.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "api/pod/pod.h"
#include "client/bench/bench_server.h"
#include "client/bench/pod_text.h"
#include "client/http/http_api_client.h"
#include "client/informer/informer.h"
#include "client/queue/worker.h"
#include "json/value.h"

namespace mangrove::client {

namespace {

double secondsSince(MonoTime start) {
  return std::chrono::duration<double>(realClock().mono() - start).count();
}

// Processor time of all our threads: what a busy machine cannot falsify.
double cpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The most memory this process has had so far: its growth is an upper bound of what was needed.
int64_t peakResidentBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// The parser alone, and parser plus decoder, over the same objects in one thread.
void measureFloor(const std::vector<std::string>& texts, int64_t total, ClientBenchResult& result) {
  if (texts.empty()) return;
  json::Doc doc;
  double scale = static_cast<double>(total) / static_cast<double>(texts.size());
  size_t members = 0, names = 0;
  double start = cpuSeconds();
  for (const std::string& text : texts)
    if (auto root = doc.parse(text)) members += root->size();
  result.floorSeconds = (cpuSeconds() - start) * scale;
  start = cpuSeconds();
  for (const std::string& text : texts) {
    auto root = doc.parse(text);
    if (!root) continue;
    if (auto pod = api::decode<api::Pod>(*root)) names += pod->meta.name.view().size();
  }
  result.decodeSeconds = (cpuSeconds() - start) * scale;
  if (members + names == 0) result.floorSeconds = 0;  // keeps the loops from being optimised away
}

class Bench {
 public:
  explicit Bench(std::unique_ptr<HttpApiClient> client) : client_(std::move(client)) {
    InformerSetup setup;
    setup.client = client_.get();
    setup.owner = &owner_;
    setup.home = &worker_.mailbox();
    setup.follow.kind = kind::kPod;
    pods_ = std::make_unique<Informer<api::Pod>>(setup);
    pods_->addIndex("node",
                    [](const api::Pod& pod) { return Values{std::string(pod.nodeName.view())}; });
    pods_->addIndex("namespace",
                    [](const api::Pod& pod) { return Values{std::string(pod.meta.ns.view())}; });
    pods_->onChange([this](const Change<api::Pod>&) { ++changes_; });
  }

  bool list(ClientBenchResult& result) {
    int64_t before = peakResidentBytes();
    double cpu = cpuSeconds();
    MonoTime start = realClock().mono();
    pods_->start();
    while (!pods_->hasSynced() && secondsSince(start) < 120) owner_.runOne(std::chrono::seconds(1));
    result.listSeconds = secondsSince(start);
    result.listCpuSeconds = cpuSeconds() - cpu;
    result.rssBytes = peakResidentBytes() - before;
    InformerStats stats = pods_->stats();
    result.pods = static_cast<int64_t>(stats.objects);
    result.rawBytes = static_cast<int64_t>(stats.rawBytes);
    return pods_->hasSynced();
  }

  void watch(int64_t events, ClientBenchResult& result) {
    if (events == 0) return;
    uint64_t target = changes_ + static_cast<uint64_t>(events);
    double cpu = cpuSeconds();
    MonoTime start = realClock().mono();
    while (changes_ < target && owner_.runOne(std::chrono::seconds(10))) {
    }
    result.events = events - static_cast<int64_t>(target - changes_);
    result.eventsPerSecond = static_cast<double>(result.events) / secondsSince(start);
    result.eventCpuMicros =
        (cpuSeconds() - cpu) * 1e6 / static_cast<double>(std::max<int64_t>(1, result.events));
  }

  // What was kept, as texts: a sample for the floor, and the size of everything.
  std::vector<std::string> sample(ClientBenchResult& result) const {
    constexpr size_t kSample = 10000;
    std::vector<std::string> out;
    pods_->each([&](std::string_view key, const api::Pod&) {
      auto raw = pods_->raw(key);
      if (!raw) return;
      result.jsonBytes += static_cast<int64_t>(raw->size());
      if (out.size() < kSample) out.push_back(std::move(*raw));
    });
    return out;
  }

 private:
  std::unique_ptr<HttpApiClient> client_;
  Worker worker_;
  Mailbox owner_;
  uint64_t changes_ = 0;
  std::unique_ptr<Informer<api::Pod>> pods_;  // goes first
};

Result<ClientConfig> configFor(const ClientBenchOptions& options, const BenchServer* server) {
  if (server == nullptr)
    return loadClientConfig({.kubeconfig = options.kubeconfig, .context = options.context});
  ClientConfig config;
  config.source = "benchmark";
  config.server = server->url();
  return config;
}

}  // namespace

Result<ClientBenchResult> runClientBench(const ClientBenchOptions& options) {
  ClientBenchResult result;
  std::unique_ptr<BenchServer> server;
  bool real = !options.kubeconfig.empty();
  if (!real) {
    auto started = BenchServer::start(options.pods, options.events);
    if (!started) return pass(started.error());
    server = std::move(*started);
  }
  auto config = configFor(options, server.get());
  if (!config) return pass(config.error());
  net::Loop loop(1);
  auto client = HttpApiClient::make(loop, realClock(), *config, {.perSecond = 0});
  if (!client) return pass(client.error());
  result.server = real ? (*client)->server() : "generated";
  Bench bench(std::move(*client));
  if (!bench.list(result)) return fail(Code::kTimeout, "the list did not finish within 120 s");
  bench.watch(real ? 0 : options.events, result);
  measureFloor(bench.sample(result), result.pods, result);
  return result;
}

std::string toTable(const ClientBenchResult& r) {
  double mb = 1e6;
  double pods = static_cast<double>(std::max<int64_t>(1, r.pods));
  std::string out;
  out += fmt::format("client benchmark ({})\n", r.server);
  out += fmt::format("  pods listed, decoded, raw kept  {:>10}   {:.0f} MB of JSON\n", r.pods,
                     static_cast<double>(r.jsonBytes) / mb);
  out += fmt::format("  list to synced                  {:>8.2f} s   {:.1f} µs a pod\n",
                     r.listSeconds, r.listSeconds / pods * 1e6);
  out += fmt::format("    processor time, all threads   {:>8.2f} s\n", r.listCpuSeconds);
  out += fmt::format("    JSON parser alone, the floor  {:>8.2f} s   ratio {:.1f}\n",
                     r.floorSeconds, r.ratio());
  out += fmt::format("    parser and decoder            {:>8.2f} s\n", r.decodeSeconds);
  out += fmt::format(
      "  growth of peak resident memory  {:>8.1f} MB  {:.0f} bytes a pod, {:.0f} of them raw\n",
      static_cast<double>(r.rssBytes) / mb, static_cast<double>(r.rssBytes) / pods,
      static_cast<double>(r.rawBytes) / pods);
  if (r.events > 0)
    out += fmt::format(
        "  watch events                    {:>8.0f} /s  {:.1f} µs of processor time each\n",
        r.eventsPerSecond, r.eventCpuMicros);
  return out;
}

std::string toJson(const ClientBenchResult& r) {
  json::Object out;
  out["benchmark"] = "client";
  out["server"] = r.server;
  out["pods"] = r.pods;
  out["jsonBytes"] = r.jsonBytes;
  out["listSeconds"] = r.listSeconds;
  out["listCpuSeconds"] = r.listCpuSeconds;
  out["parserSeconds"] = r.floorSeconds;
  out["decodeSeconds"] = r.decodeSeconds;
  out["ratioToParser"] = r.ratio();
  out["residentBytes"] = r.rssBytes;
  out["rawBytes"] = r.rawBytes;
  out["events"] = r.events;
  out["eventsPerSecond"] = r.eventsPerSecond;
  out["eventCpuMicros"] = r.eventCpuMicros;
  return json::write(out);
}

}  // namespace mangrove::client
