#pragma once
// RemovePodsViolatingInterPodAntiAffinity: pods whose required anti-affinity is broken by a neighbour
// that came later, or whose labels changed. The lowest rank goes first, and who has gone troubles
// nobody any more. A term that selects namespaces by label accuses nobody, because the descheduler
// does not watch namespaces; an empty namespaceSelector means all of them.

#include "descheduler/plugins/ported.h"

namespace mangrove::descheduler {

struct AntiAffinityArgs {
  PodScope scope;
};
Result<AntiAffinityArgs> readAntiAffinityArgs(const json::Value& args);

class ViolatingAntiAffinity final : public Plugin {
 public:
  static constexpr std::string_view kName = "RemovePodsViolatingInterPodAntiAffinity";
  explicit ViolatingAntiAffinity(AntiAffinityArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  AntiAffinityArgs args_;
};

}  // namespace mangrove::descheduler
