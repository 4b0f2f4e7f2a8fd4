#include "agent/bench/bench.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bench/pod_cgroups.h"
#include "agent/self_usage.h"
#include "api/kind.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/strings.h"
#include "client/http_api_client.h"
#include "client/kubeconfig.h"
#include "json/value.h"
#include "kernel/scan.h"
#include "net/http_client.h"
#include "net/http_server.h"

extern char** environ;

namespace mangrove::agent {
namespace {

constexpr const char* kNode = "bench-node";

// A program of ours in the background; ended with the object.
class Background {
 public:
  static Result<std::unique_ptr<Background>> start(std::vector<std::string> words,
                                                   const std::string& logFile) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int fd : {1, 2})
      posix_spawn_file_actions_addopen(&actions, fd, logFile.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return failErrno(error, "start " + words[0]);
    return std::unique_ptr<Background>(new Background(pid));
  }
  ~Background() {
    ::kill(pid_, SIGTERM);
    for (int i = 0; i < 300; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
      ::usleep(10000);
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  int pid() const { return pid_; }

 private:
  explicit Background(int pid) : pid_(pid) {}
  int pid_;
};

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
    auto uids = createObjects();
    if (!uids) return pass(uids.error());
    auto pods = PodCgroups::make(fmt::format("mangrove-bench-{}", ::getpid()));
    if (!pods) return pods.error().in("pods' cgroups");
    for (const std::string& uid : *uids)
      if (auto ok = pods->add(uid, static_cast<int>(options_.containers)); !ok)
        return ok.error().in("pod {}", uid);
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

  // Node, NodeMetric and pods; the pods' uids are the server's. Threads end with the scope: what
  // follows forks.
  Result<std::vector<std::string>> createObjects() {
    net::Loop loop;
    auto config = client::loadClientConfig({.kubeconfig = kubeconfig()});
    if (!config) return pass(config.error());
    auto api = client::HttpApiClient::make(loop, realClock(), *config, {.perSecond = 0});
    if (!api) return pass(api.error());
    namespace kind = api::kind;
    for (const auto& [k, body] :
         {std::pair{&kind::kNode, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", kNode)},
          std::pair{&kind::kNodeMetric, fmt::format(R"({{"metadata":{{"name":"{}"}}}})", kNode)}}) {
      auto made = (*api)->create(*k, "", body);
      if (!made) return pass(made.error());
    }
    std::vector<std::string> uids;
    for (int64_t i = 0; i < options_.pods; ++i) {
      auto made = (*api)->create(
          kind::kPod, "default",
          fmt::format(
              R"({{"metadata":{{"name":"bench-{}"}},"spec":{{"nodeName":"{}","containers":)"
              R"([{{"name":"c","image":"x","resources":{{"requests":{{"cpu":"10m"}}}}}}]}}}})",
              i, kNode));
      if (!made) return pass(made.error());
      auto object = json::parse(*made);
      if (!object) return pass(object.error());
      uids.emplace_back(object->at("metadata").at("uid").as_string());
    }
    return uids;
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

  Result<> measureOurs(const PodCgroups& pods, AgentBench& out) {
    const uint16_t port = freePort();
    const std::string address = fmt::format("127.0.0.1:{}", port);
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
                                      "--prediction-checkpoint-filepath",
                                      dir_ + "/models",
                                      "--collect-res-used-interval",
                                      formatDuration(options_.period)};
    words.insert(words.end(), options_.agentArgs.begin(), options_.agentArgs.end());
    auto agent = Background::start(std::move(words), log("agent"));
    if (!agent) return pass(agent.error());
    net::Loop loop;
    auto url = net::Url::parse("http://" + address);
    auto http = net::HttpClient::create(loop, {.base = *url});
    if (!http) return pass(http.error());
    const bool up = eventually(
        [&] {
          auto seen = scrape(**http);
          return seen && (*seen)["mangrove_agent_pods"] == static_cast<double>(options_.pods);
        },
        std::chrono::seconds(30));
    if (!up) return died("agent");
    std::this_thread::sleep_for(options_.warmup);
    auto before = scrape(**http);
    const MonoTime begun = realClock().mono();
    std::this_thread::sleep_for(options_.measure);
    auto after = scrape(**http);
    const MonoTime ended = realClock().mono();
    if (!before || !after) return died("agent");
    fill(*before, *after, ended - begun, out);
    const SelfUsage usage = readUsageOf((*agent)->pid());
    out.agent.rss = usage.rss;
    out.agent.pss = usage.pss;
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
    out.openFiles = b["mangrove_agent_open_files"];
    out.rssBefore = Bytes{static_cast<int64_t>(a["mangrove_agent_self_rss_bytes"])};
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
    const Duration elapsed = realClock().mono() - begun;
    out.hasReference = true;
    out.reference = {100 * std::chrono::duration<double>(after.cpu - before.cpu).count() /
                         std::chrono::duration<double>(elapsed).count(),
                     after.rss, after.pss};
    return {};
  }

  const AgentBenchOptions& options_;
  std::string dir_;
  std::unique_ptr<Background> server_;
};

}  // namespace

Result<AgentBench> runAgentBench(const AgentBenchOptions& options) {
  return Bench(options).run();
}

std::string toTable(const AgentBench& b) {
  const auto mib = [](Bytes bytes) {
    return static_cast<double>(bytes.v) / static_cast<double>(kMiB.v);
  };
  std::string out = fmt::format(
      "{} pods, {} containers, cgroup v{}, {:.0f} ticks\n"
      "  cpu              {:8.2f} % of a core\n  rss              {:8.1f} MiB, {:+.1f} since "
      "warm-up\n"
      "  pss              {:8.1f} MiB\n  syscalls per tick {:7.0f}\n"
      "  tick p50/p99/max {:8.2f} / {:.2f} / {:.2f} ms\n  open files       {:8.0f}\n"
      "  missed ticks     {:8.0f}\n",
      b.pods, b.containers, b.cgroupV2 ? 2 : 1, b.ticks, b.agent.cpuPercent, mib(b.agent.rss),
      mib(b.agent.rss - b.rssBefore), mib(b.agent.pss), b.syscallsPerTick, b.tickP50 * 1e3,
      b.tickP99 * 1e3, b.tickMax * 1e3, b.openFiles, b.missedTicks);
  if (b.hasReference)
    out +=
        fmt::format("reference agent\n  cpu {:.2f} % of a core, rss {:.1f} MiB, pss {:.1f} MiB\n",
                    b.reference.cpuPercent, mib(b.reference.rss), mib(b.reference.pss));
  return out;
}

std::string toJson(const AgentBench& b) {
  const auto process = [](const ProcessFigures& p) {
    return json::Object{{"cpuPercent", p.cpuPercent}, {"rssBytes", p.rss.v}, {"pssBytes", p.pss.v}};
  };
  json::Object out{
      {"pods", b.pods},
      {"containers", b.containers},
      {"cgroupVersion", b.cgroupV2 ? 2 : 1},
      {"ticks", b.ticks},
      {"agent", process(b.agent)},
      {"syscallsPerTick", b.syscallsPerTick},
      {"tickSeconds", json::Object{{"p50", b.tickP50}, {"p99", b.tickP99}, {"max", b.tickMax}}},
      {"openFiles", b.openFiles},
      {"rssBytesBefore", b.rssBefore.v},
      {"missedTicks", b.missedTicks}};
  if (b.hasReference) out["reference"] = process(b.reference);
  return json::writePretty(out) + "\n";
}

}  // namespace mangrove::agent
