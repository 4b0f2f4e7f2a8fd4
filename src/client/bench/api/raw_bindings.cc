#include "client/bench/api/raw_bindings.h"

#include "client/bench/api/connections.h"
#include "client/bench/api/objects.h"

namespace mangrove::client {

namespace {

constexpr Duration kLongest = std::chrono::minutes(2);

}  // namespace

RawBindings::RawBindings(RawBindingPlan plan, std::unique_ptr<Connections> connections)
    : plan_(std::move(plan)), probe_(root_, {}), connections_(std::move(connections)) {}

RawBindings::~RawBindings() = default;

Result<std::unique_ptr<RawBindings>> RawBindings::connect(const ClientConfig& config,
                                                          RawBindingPlan plan) {
  auto connections = connectForLoad(config, plan.inFlight);
  if (!connections) return pass(connections.error());
  auto made = (*connections)->clients[0]->call(createNamespace(std::string(kRawNamespace)));
  if (!made && made.error().code() != Code::kExists) return pass(made.error());
  return std::unique_ptr<RawBindings>(new RawBindings(std::move(plan), std::move(*connections)));
}

Result<LoadResult> RawBindings::slice(int64_t pods) {
  const auto ready = run(plan_.prepare, pods, "making pods for raw bindings");
  if (!ready) return pass(ready.error());
  auto bound = run(plan_.writes, pods, "raw bindings");
  removePods();
  first_ += pods;
  return bound;
}

Result<LoadResult> RawBindings::run(const std::function<Chain(int64_t)>& make, int64_t pods,
                                    std::string_view what) {
  LoadResult load = runChains(connections_->clients, probe_, {pods, plan_.inFlight, false},
                              [&](int64_t i) { return make(first_ + i); });
  if (load.failed == 0) return load;
  return fail(Code::kUnavailable, "{}: {} failed, the first with: {}", what, load.failed,
              load.firstFailure);
}

void RawBindings::removePods() {
  Request request;
  request.verb = Verb::kDeleteCollection;
  request.ref = {kind::kPod, std::string(kRawNamespace), ""};
  request.body = R"({"gracePeriodSeconds":0})";
  request.timeout = kLongest;
  connections_->clients[0]->call(std::move(request));
}

}  // namespace mangrove::client
