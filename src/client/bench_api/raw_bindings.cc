#include "client/bench_api/raw_bindings.h"

#include <future>

#include "client/bench_api/connections.h"
#include "client/bench_api/objects.h"

namespace mangrove::client {

namespace {

constexpr Duration kLongest = std::chrono::minutes(2);

// A watch whose events nobody reads.
class OpenWatch {
 public:
  explicit OpenWatch(ApiClient& client) {
    auto opened = std::make_shared<std::promise<void>>();
    auto ready = opened->get_future();
    WatchRequest request;
    request.kind = kind::kPod;
    WatchHandler handler;
    handler.onOpen = [opened] { opened->set_value(); };
    handler.onEvents = [](const std::string&) { return true; };
    watch_ = client.watch(std::move(request), std::move(handler));
    ready.wait_for(std::chrono::seconds(10));
  }

 private:
  std::unique_ptr<Watch> watch_;
};

Result<> wholeOf(const LoadResult& load, std::string_view what) {
  if (load.failed == 0) return {};
  return fail(Code::kUnavailable, "{}: {} failed, the first with: {}", what, load.failed,
              load.firstFailure);
}

void removePods(ApiClient& client) {
  Request request;
  request.verb = Verb::kDeleteCollection;
  request.ref = {kind::kPod, std::string(kRawNamespace), ""};
  request.body = R"({"gracePeriodSeconds":0})";
  request.timeout = kLongest;
  client.call(std::move(request));
}

}  // namespace

Result<LoadResult> measureRawBindings(const ClientConfig& config, const RawBindingPlan& plan) {
  auto connections = connectForLoad(config, plan.inFlight);
  if (!connections) return pass(connections.error());
  const Clients& clients = (*connections)->clients;
  const kernel::SysRoot root;
  const ProcessProbe probe(root, {});
  auto made = clients[0]->call(createNamespace(std::string(kRawNamespace)));
  if (!made && made.error().code() != Code::kExists) return pass(made.error());
  const LoadResult ready = runChains(clients, probe, {plan.pods, plan.inFlight}, plan.prepare);
  if (auto ok = wholeOf(ready, "making pods for raw bindings"); !ok) return pass(ok.error());
  LoadResult bound;
  {
    OpenWatch watch(*clients[0]);
    bound = runChains(clients, probe, {plan.pods, plan.inFlight}, plan.writes);
  }
  removePods(*clients[0]);
  if (auto ok = wholeOf(bound, "raw bindings"); !ok) return pass(ok.error());
  return bound;
}

}  // namespace mangrove::client
