// mangrove bench scheduler: the cases of the public kube-scheduler benchmark, against the engine
// alone, a server in this process, or any server over HTTP.
#include <future>
#include <thread>

#include <fmt/core.h>

#include "apiserver/embedded.h"
#include "apiserver/in_process_client.h"
#include "cli/command.h"
#include "client/http_api_client.h"
#include "client/kubeconfig.h"
#include "frame/flags.h"
#include "scheduler/bench/server_bench.h"

namespace mangrove::cli {

namespace {

using Results = Result<std::vector<scheduler::BenchResult>>;

struct Wanted {
  scheduler::BenchOptions options;
  std::string mode = "core", kubeconfig, context, dataDir, output = "table";
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

Results overHttp(const Wanted& wanted) {
  client::ConfigRequest where;
  where.kubeconfig = wanted.kubeconfig;
  where.context = wanted.context;
  auto config = client::loadClientConfig(where);
  if (!config) return pass(config.error());
  net::Loop loop;
  auto client = client::HttpApiClient::make(loop, realClock(), *config, {.perSecond = 0});
  if (!client) return pass(client.error());
  return scheduler::runServerBench(**client, "http", wanted.options);
}

Results run(const Wanted& wanted) {
  if (wanted.mode == "core") return scheduler::runCoreBench(wanted.options);
  if (wanted.mode == "api") return inProcess(wanted);
  if (wanted.mode == "http") return overHttp(wanted);
  return invalid("--mode '{}': want core, api or http", wanted.mode);
}

}  // namespace

int benchScheduler(const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags("mangrove bench scheduler", "measures scheduling decisions and bindings");
  flags.add("mode", wanted.mode, "core: decisions alone; api: a server in this process; http");
  flags.add("nodes", wanted.options.nodes, "how many nodes the cluster has");
  flags.add("case", wanted.options.cases, "names of cases; all when not given");
  flags.add("pods", wanted.options.pods, "measured pods; 0: as the case says");
  flags.add("metrics", wanted.options.withMetrics, "give every node a NodeMetric");
  flags.add("data-dir", wanted.dataDir, "api: where the server keeps its state; memory when empty");
  flags.add("kubeconfig", wanted.kubeconfig, "http: the server, an empty one without nodes");
  flags.add("context", wanted.context, "context of the kubeconfig");
  flags.add("o", wanted.output, "table or json");
  auto go = flags.parse(args);
  const bool known = wanted.output == "table" || wanted.output == "json";
  if (!go || !known) {
    fmt::print(stderr, "mangrove bench scheduler: {}\n",
               go ? "-o '" + wanted.output + "': want table or json" : go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  auto results = run(wanted);
  if (!results) {
    fmt::print(stderr, "mangrove bench scheduler: {}\n", results.error().text());
    return kFailed;
  }
  fmt::print("{}", wanted.output == "json" ? benchJson(*results) : benchTable(*results));
  return 0;
}

}  // namespace mangrove::cli
