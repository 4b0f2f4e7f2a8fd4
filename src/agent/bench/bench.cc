#include "agent/bench/bench.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include <unistd.h>

#include "agent/bench/background.h"
#include "agent/bench/pod_cgroups.h"
#include "agent/self_usage.h"
#include "api/wire/kind.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "client/http/http_api_client.h"
#include "client/http/kubeconfig.h"
#include "json/value.h"
#include "kernel/scan.h"
#include "net/client/http_client.h"
#include "net/server/http_server.h"

namespace mangrove::agent {
namespace {

constexpr const char* kNode = "bench-node";
constexpr int64_t kDefaultFiles = 20000;
// Enforcement has something to do: half of the pods are batch work, and everything that most
// clusters switch on is on.
constexpr const char* kSlo =
    R"(,"spec":{"resourceUsedThresholdWithBE":{"enable":true,"cpuSuppressPolicy":"cfsQuota"},)"
    R"("cpuBurstStrategy":{"policy":"auto"},"resourceQOSStrategy":{"lsClass":{"cpuQOS":)"
    R"({"enable":true},"memoryQOS":{"enable":true}},"beClass":{"cpuQOS":{"enable":true},)"
    R"("memoryQOS":{"enable":true}}}})";
constexpr const char* kServiceResources =
    R"({"requests":{"cpu":"10m","memory":"8Mi"},"limits":{"cpu":"20m","memory":"16Mi"}})";
constexpr const char* kBatchResources =
    R"({"requests":{"kubernetes.io/batch-cpu":"10","kubernetes.io/batch-memory":"8Mi"},)"
    R"("limits":{"kubernetes.io/batch-cpu":"20","kubernetes.io/batch-memory":"16Mi"}})";

bool isBatch(int64_t number) {
  return number % 2 == 1;
}

constexpr Duration kBetweenSamples = std::chrono::seconds(1);

double percentOf(Duration cpu, Duration elapsed) {
  return 100 * std::chrono::duration<double>(cpu).count() /
         std::chrono::duration<double>(elapsed).count();
}

// What a process, or several together, used between two moments.
ProcessFigures figuresOf(const SelfUsage& before, const SelfUsage& after, Duration elapsed) {
  return {percentOf(after.cpu - before.cpu, elapsed), after.rss, after.pss};
}

SelfUsage usageOfAll(const std::vector<int>& pids) {
  SelfUsage sum;
  for (int pid : pids) {
    const SelfUsage one = readUsageOf(pid);
    sum.cpu += one.cpu;
    sum.rss += one.rss;
    sum.pss += one.pss;
  }
  return sum;
}

// Waits (real time) until `ready` says so.
template <class F>
bool eventually(F ready, Duration limit) {
  for (Duration waited{}; waited < limit; waited += std::chrono::milliseconds(50)) {
    if (ready()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

class Bench {
 public:
  explicit Bench(const AgentBenchOptions& options) : options_(options) {
    std::string name = (std::filesystem::temp_directory_path() / "mangrove-bench-XXXXXX").string();
    dir_ = ::mkdtemp(name.data()) != nullptr ? name : "/tmp";
  }
  ~Bench() {
    server_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }

  Result<AgentBench> run() {
    if (auto ok = startServer(); !ok) return pass(ok.error());
    auto pods = PodCgroups::make(fmt::format("mangrove-bench-{}", ::getpid()));
    if (!pods) return pods.error().in("pods' cgroups");
    if (auto ok = addPods(*pods, options_.pods); !ok) return pass(ok.error());
    AgentBench out;
    out.pods = options_.pods;
    out.containers = options_.pods * options_.containers;
    out.cgroupV2 = pods->isV2();
    if (auto ok = measureOurs(*pods, out); !ok) return pass(ok.error());
    if (!options_.reference.empty())
      if (auto ok = measureReference(out); !ok) return pass(ok.error());
    return out;
  }

 private:
  std::string kubeconfig() const { return dir_ + "/api/kubeconfig"; }
  std::string log(const char* who) const { return dir_ + "/" + who + ".log"; }
  Failure died(const char* who) const {
    auto text = readFile(log(who));
    return fail(Code::kUnavailable, "{} did not come up:\n{}", who, text.value_or(""));
  }

  Result<> startServer() {
    auto server = Background::start(
        {options_.program, "apiserver", "--data-dir", dir_ + "/api", "--port", "0"},
        log("apiserver"));
    if (!server) return pass(server.error());
    server_ = std::move(*server);
    const bool up =
        eventually([&] { return std::filesystem::exists(kubeconfig()); }, std::chrono::seconds(30));
    return up ? Result<>() : died("apiserver");
  }

  // Objects first, because their uids are the server's; then cgroups with processes.
  Result<> addPods(PodCgroups& pods, int64_t count) {
    const auto first = static_cast<int64_t>(pods.size());
    auto uids = createObjects(first, count);
    if (!uids) return pass(uids.error());
    for (size_t i = 0; i < uids->size(); ++i) {
      const auto tier = isBatch(first + static_cast<int64_t>(i)) ? kernel::PodTier::kBestEffort
                                                                 : kernel::PodTier::kBurstable;
      if (auto ok = pods.add((*uids)[i], static_cast<int>(options_.containers), true, tier); !ok)
        return ok.error().in("pod {}", (*uids)[i]);
      const bool isService = tier == kernel::PodTier::kBurstable;
      if (!isService || burning_ >= options_.busy) continue;
      if (auto ok = pods.burn((*uids)[i]); !ok) return ok;
      ++burning_;
    }
    return {};
  }

  // Node and NodeMetric before the first pod. Threads end with the scope: what follows forks.
  Result<std::vector<std::string>> createObjects(int64_t first, int64_t count) {
    net::Loop loop;
    auto config = client::loadClientConfig({.kubeconfig = kubeconfig()});
    if (!config) return pass(config.error());
    auto api = client::HttpApiClient::make(loop, realClock(), *config, {.perSecond = 0});
    if (!api) return pass(api.error());
    for (const auto& [kind, rest] : {std::pair{&api::kind::kNode, ""},
                                     {&api::kind::kNodeMetric, ""},
                                     {&api::kind::kNodeSlo, kSlo}}) {
      if (first > 0) break;
      auto made = (*api)->create(*kind, "",
                                 fmt::format(R"({{"metadata":{{"name":"{}"}}{}}})", kNode, rest));
      if (!made) return pass(made.error());
    }
    std::vector<std::string> uids;
    for (int64_t i = first; i < first + count; ++i) {
      auto uid = createPod(**api, i);
      if (!uid) return pass(uid.error());
      uids.push_back(*std::move(uid));
    }
    return uids;
  }

  static Result<std::string> createPod(client::ApiClient& api, int64_t number) {
    auto made = api.create(
        api::kind::kPod, "default",
        fmt::format(
            R"({{"metadata":{{"name":"bench-{}","labels":{{"koordinator.sh/qosClass":"{}"}}}},)"
            R"("spec":{{"nodeName":"{}","containers":[{{"name":"c","image":"x","resources":{}}}]}}}})",
            number, isBatch(number) ? "BE" : "LS", kNode,
            isBatch(number) ? kBatchResources : kServiceResources));
    if (!made) return pass(made.error());
    auto object = json::parse(*made);
    if (!object) return pass(object.error());
    return std::string(object->at("metadata").at("uid").as_string());
  }

  static uint16_t freePort() {
    net::Loop loop;
    auto server = net::HttpServer::listen(loop, {}, [](std::shared_ptr<net::Exchange>) {});
    return server ? (*server)->port() : 0;
  }

  // name{labels} → value.
  Result<std::map<std::string, double>> scrape(net::HttpClient& http) {
    net::HttpRequest request;
    request.target = "/metrics";
    auto answer = http.call(request, {});
    if (!answer) return pass(answer.error());
    std::map<std::string, double> out;
    for (kernel::Lines lines(answer->body); lines.next();) {
      const size_t blank = lines.line.rfind(' ');
      if (blank == std::string_view::npos || lines.line.starts_with('#')) continue;
      if (auto value = kernel::parseDecimal(lines.line.substr(blank + 1)))
        out[std::string(lines.line.substr(0, blank))] = *value;
    }
    return out;
  }

  std::vector<std::string> agentCommand(const PodCgroups& pods, const std::string& address) const {
    std::vector<std::string> words = {options_.program,
                                      "agent",
                                      "--kubeconfig",
                                      kubeconfig(),
                                      "--node-name",
                                      kNode,
                                      "--addr",
                                      address,
                                      "--cgroup-driver",
                                      "cgroupfs",
                                      "--cgroup-parent",
                                      pods.parent(),
                                      "--history-dir",
                                      dir_ + "/history",
                                      "--enforce-state",
                                      dir_ + "/enforce.json",
                                      "--heartbeat",
                                      dir_ + "/heartbeat",
                                      "--prediction-checkpoint-filepath",
                                      dir_ + "/models",
                                      "--max-open-files",
                                      std::to_string(filesLimit()),
                                      "--collect-res-used-interval",
                                      formatDuration(options_.period)};
    words.insert(words.end(), options_.agentArgs.begin(), options_.agentArgs.end());
    return words;
  }
  int64_t filesLimit() const {
    return options_.maxOpenFiles > 0 ? options_.maxOpenFiles : kDefaultFiles;
  }

  bool seesPods(net::HttpClient& http, int64_t count) {
    return eventually(
        [&] {
          auto seen = scrape(http);
          return seen && (*seen)["mangrove_agent_pods"] == static_cast<double>(count);
        },
        std::chrono::seconds(60));
  }

  // Memory once a second, descriptors every tenth time: counting them takes a while.
  MemoryCourse watch(int pid, FileFigures& files) const {
    std::vector<MemorySample> samples;
    const MonoTime begun = realClock().mono();
    for (MonoTime now = begun; now - begun < options_.measure; now = realClock().mono()) {
      samples.push_back({now - begun, residentMemoryOf(pid)});
      if (samples.size() % 10 == 1) files.most = std::max(files.most, descriptorsOf(pid));
      std::this_thread::sleep_for(
          std::min<Duration>(kBetweenSamples, options_.measure - (now - begun)));
    }
    return courseOf(samples);
  }

  Result<> measureOurs(PodCgroups& pods, AgentBench& out) {
    const std::string address = fmt::format("127.0.0.1:{}", freePort());
    auto agent = Background::start(agentCommand(pods, address), log("agent"));
    if (!agent) return pass(agent.error());
    const int pid = (*agent)->pid();
    net::Loop loop;
    auto url = net::Url::parse("http://" + address);
    auto http = net::HttpClient::create(loop, {.base = *url});
    if (!http) return pass(http.error());
    if (!seesPods(**http, options_.pods)) return died("agent");
    std::this_thread::sleep_for(options_.warmup);
    const std::vector<int> children = childrenOf(pid);
    const SelfUsage childrenBefore = usageOfAll(children);
    auto before = scrape(**http);
    const MonoTime begun = realClock().mono();
    out.memory = watch(pid, out.files);
    auto after = scrape(**http);
    const Duration elapsed = realClock().mono() - begun;
    if (!before || !after) return died("agent");
    fill(*before, *after, elapsed, out);
    const SelfUsage usage = readUsageOf(pid);
    out.agent.rss = usage.rss;
    out.agent.pss = usage.pss;
    out.files.descriptors = descriptorsOf(pid);
    out.files.most = std::max(out.files.most, out.files.descriptors);
    out.files.limit = filesLimit();
    if (!children.empty()) out.children = figuresOf(childrenBefore, usageOfAll(children), elapsed);
    return options_.further > 0 ? measureFurther(pods, **http, pid, out) : Result<>();
  }

  // By peaks over equally long times, because memory given back now and then comes and goes.
  Result<> measureFurther(PodCgroups& pods, net::HttpClient& http, int pid, AgentBench& out) {
    if (auto ok = addPods(pods, options_.further); !ok) return ok;
    if (!seesPods(http, options_.pods + options_.further)) return died("agent");
    std::this_thread::sleep_for(options_.warmup);
    const MemoryCourse more = watch(pid, out.files);
    out.furtherPods = options_.further;
    out.perFurtherPod = Bytes{(more.latePeak - out.memory.latePeak).v / options_.further};
    return {};
  }

  static void fill(std::map<std::string, double>& a, std::map<std::string, double>& b,
                   Duration elapsed, AgentBench& out) {
    const auto grown = [&](const char* name) { return b[name] - a[name]; };
    out.ticks = grown("mangrove_agent_tick_seconds_count");
    out.agent.cpuPercent = 100 * grown("mangrove_agent_self_cpu_seconds") /
                           std::chrono::duration<double>(elapsed).count();
    out.syscallsPerTick = out.ticks > 0 ? grown("mangrove_agent_syscalls_total") / out.ticks : 0;
    out.missedTicks = grown("mangrove_agent_ticks_missed_total");
    out.tickP50 = b[R"(mangrove_agent_tick_recent_seconds{quantile="0.5"})"];
    out.tickP99 = b[R"(mangrove_agent_tick_recent_seconds{quantile="0.99"})"];
    out.tickMax = b[R"(mangrove_agent_tick_recent_seconds{quantile="1"})"];
    out.files.open = b["mangrove_agent_open_files"];
    out.files.closed = b["mangrove_agent_files_closed_total"];
  }

  Result<> measureReference(AgentBench& out) {
    ::setenv("NODE_NAME", kNode, 1);
    ::setenv("KUBECONFIG", kubeconfig().c_str(), 1);
    std::vector<std::string> words = {options_.reference};
    words.insert(words.end(), options_.referenceArgs.begin(), options_.referenceArgs.end());
    auto other = Background::start(std::move(words), log("reference"));
    if (!other) return pass(other.error());
    std::this_thread::sleep_for(options_.warmup);
    const SelfUsage before = readUsageOf((*other)->pid());
    const MonoTime begun = realClock().mono();
    std::this_thread::sleep_for(options_.measure);
    const SelfUsage after = readUsageOf((*other)->pid());
    if (after.rss.v == 0) return died("reference");
    out.reference = figuresOf(before, after, realClock().mono() - begun);
    return {};
  }

  const AgentBenchOptions& options_;
  int64_t burning_ = 0;  // services that never rest, so far
  std::string dir_;
  std::unique_ptr<Background> server_;
};

}  // namespace

Result<AgentBench> runAgentBench(const AgentBenchOptions& options) {
  return Bench(options).run();
}

}  // namespace mangrove::agent
