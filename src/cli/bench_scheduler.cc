// mangrove bench scheduler: the cases of the public kube-scheduler benchmark, against the engine
// alone, a server in this process, or any server over HTTP.
#include <future>
#include <thread>

#include <fmt/core.h>

#include "apiserver/embedded.h"
#include "apiserver/in_process_client.h"
#include "base/os/temp_folder.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "client/bench/api/own_server.h"
#include "client/http/kubeconfig.h"
#include "frame/flags.h"
#include "kernel/sys_root.h"
#include "scheduler/bench/peer_bench.h"
#include "scheduler/bench/server_bench.h"

namespace mangrove::cli {

namespace {

using Results = Result<std::vector<scheduler::BenchResult>>;

struct Wanted {
  scheduler::BenchOptions options;
  std::string mode = "core", kubeconfig, context, dataDir;
  Output output;
  scheduler::PeerPlan peer;
};

// The server has a thread of its own, as its requests are answered there.
class ServerThread {
 public:
  explicit ServerThread(const std::string& dataDir) : thread_([this] { owner_.run(); }) {
    std::promise<Result<>> opened;
    owner_.post([&] {
      apiserver::EmbeddedOptions options;
      options.dataDir = dataDir;
      auto server = apiserver::EmbeddedServer::open(realClock(), owner_, metrics_, options);
      if (server) server_ = std::move(*server);
      opened.set_value(server_ ? Result<>{} : pass(server.error()));
    });
    opened_ = opened.get_future().get();
  }
  ~ServerThread() {
    std::promise<void> closed;
    owner_.post([&] {
      server_.reset();
      closed.set_value();
    });
    closed.get_future().wait();
    owner_.stop();
    thread_.join();
  }
  const Result<>& opened() const { return opened_; }
  Mailbox& owner() { return owner_; }
  apiserver::EmbeddedServer& server() { return *server_; }

 private:
  Mailbox owner_;
  Registry metrics_;
  std::unique_ptr<apiserver::EmbeddedServer> server_;
  Result<> opened_;
  std::thread thread_;
};

Results inProcess(const Wanted& wanted) {
  ServerThread server(wanted.dataDir);
  if (!server.opened()) return pass(server.opened().error());
  apiserver::InProcessClient client(server.owner(), server.server().server(),
                                    apiserver::Identity::system());
  return scheduler::runServerBench(client, "api", wanted.options);
}

Result<client::ClientConfig> configOf(const Wanted& wanted) {
  return client::loadClientConfig({.kubeconfig = wanted.kubeconfig, .context = wanted.context});
}

// Without a kubeconfig: a server of our own, a process with its data on disk.
Results overHttp(const Wanted& wanted) {
  if (!wanted.kubeconfig.empty() || !wanted.context.empty()) {
    auto config = configOf(wanted);
    if (!config) return pass(config.error());
    return scheduler::runHttpBench(*config, wanted.options);
  }
  auto self = kernel::SysRoot().readLink("proc/self/exe");
  if (!self) return self.error().in("own program");
  auto scratch =
      TempFolder::below(wanted.dataDir.empty() ? "/tmp" : wanted.dataDir, "mangrove-bench");
  if (!scratch) return pass(scratch.error());
  auto server = client::OwnServer::start(*self, scratch->path() + "/data");
  if (!server) return pass(server.error());
  auto config = (*server)->config();
  if (!config) return pass(config.error());
  return scheduler::runHttpBench(*config, wanted.options);
}

int besidePeer(const frame::Flags& flags, const Wanted& wanted) {
  auto config = configOf(wanted);
  auto result = config ? scheduler::runPeerBench(*config, wanted.options, wanted.peer)
                       : Result<scheduler::PeerResult>(pass(config.error()));
  if (!result) return complain(flags, result.error());
  wanted.output.show(scheduler::peerJson({*result}), scheduler::peerTable({*result}));
  return 0;
}

Results run(const Wanted& wanted) {
  if (wanted.mode == "core") return scheduler::runCoreBench(wanted.options);
  if (wanted.mode == "api") return inProcess(wanted);
  if (wanted.mode == "http") return overHttp(wanted);
  return invalid("--mode '{}': want core, api, http or peer", wanted.mode);
}

}  // namespace

int benchScheduler(const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags("mangrove bench scheduler", "measures scheduling decisions and bindings");
  flags.add("mode", wanted.mode,
            "core: decisions alone; api: a server in this process; http; peer: another scheduler");
  flags.add("nodes", wanted.options.nodes, "how many nodes the cluster has");
  flags.add("case", wanted.options.cases, "names of cases; all when not given");
  flags.add("pods", wanted.options.pods, "measured pods; 0: as the case says");
  flags.add("without", wanted.options.without,
            "core: leave a plugin of the default profile out, to see what it costs");
  flags.add("leaves", wanted.options.leaves, "case Quota: how many quotas have no children");
  flags.add("metrics", wanted.options.withMetrics, "give every node a NodeMetric");
  flags.add("untaint", wanted.options.untaint, "remove the taints a server gives to new nodes");
  flags.add("scheduler-name", wanted.options.schedulerName, "schedulerName of the pods");
  flags.add("passes", wanted.options.passes,
            "api, http: how often each case is run, for narrower intervals");
  flags.add("connections", wanted.options.connections,
            "http: connections of the scheduler; 0: as many as the role has");
  flags.add("run", wanted.peer.command, "peer: the scheduler's command");
  flags.add("name", wanted.peer.name, "peer: what to call it");
  flags.add("log", wanted.peer.logFile, "peer: where its output goes");
  flags.add("turns", wanted.peer.turns, "peer: slices by turns with the server's raw rate");
  flags.add("patience", wanted.peer.patience,
            "peer: how long the first pods may take; then what was bound until then is judged");
  flags.add("data-dir", wanted.dataDir,
            "where the server keeps its state; api: memory when empty, http: /tmp");
  flags.add("kubeconfig", wanted.kubeconfig,
            "the server, one without nodes; http: our own when not given");
  flags.add("context", wanted.context, "context of the kubeconfig");
  wanted.output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  if (wanted.mode != "core" && !wanted.options.without.empty())
    return complain(flags,
                    invalid("--without {} goes with --mode core alone, found --mode {}",
                            wanted.options.without.front(), wanted.mode)
                        .value(),
                    kWrongUsage);
  if (wanted.mode == "peer") return besidePeer(flags, wanted);
  auto results = run(wanted);
  if (!results) return complain(flags, results.error());
  wanted.output.show(benchJson(*results), benchTable(*results));
  return 0;
}

}  // namespace mangrove::cli
