#pragma once
// How fast a server takes pods from a client that decides nothing: the mark that a scheduler on the
// same server is held against. The generator is that of `mangrove bench api`. It works in slices,
// so that both can be measured by turns: the speed of a machine changes from second to second.
//
//   auto raw = RawBindings::connect(config, {.prepare = …, .writes = …});
//   auto load = (*raw)->slice(500);      // load->seconds, load->used.clientSeconds
//
// `prepare` makes what a pod needs, uncounted; `writes` are the requests that a scheduler sends for
// it, in most cases its binding alone. Both get the number of the pod, which grows from slice to
// slice. Everything must be in the namespace kRawNamespace, whose pods are gone after each slice.
// Blocks.

#include <functional>
#include <memory>

#include "client/bench/api/load.h"
#include "client/http/kubeconfig.h"

namespace mangrove::client {

inline constexpr std::string_view kRawNamespace = "bench-raw";

struct RawBindingPlan {
  int64_t inFlight = 64;
  std::function<Chain(int64_t)> prepare = {};
  std::function<Chain(int64_t)> writes = {};
};

struct Connections;

class RawBindings {
 public:
  static Result<std::unique_ptr<RawBindings>> connect(const ClientConfig& config,
                                                      RawBindingPlan plan);
  ~RawBindings();

  Result<LoadResult> slice(int64_t pods);

 private:
  RawBindings(RawBindingPlan plan, std::unique_ptr<Connections> connections);
  Result<LoadResult> run(const std::function<Chain(int64_t)>& make, int64_t pods,
                         std::string_view what);
  void removePods();

  const RawBindingPlan plan_;
  const kernel::SysRoot root_;
  const ProcessProbe probe_;
  std::unique_ptr<Connections> connections_;
  int64_t first_ = 0;  // number of the next slice's first pod
};

}  // namespace mangrove::client
