#include <fmt/core.h>

#include "placement/framework/preemption_args.h"
#include "placement/plugins/basic/basic.h"

namespace mangrove::placement {

namespace {

class SchedulingGates final : public Plugin {
 public:
  std::string_view name() const override { return "SchedulingGates"; }
  uint32_t interests() const override { return bit(EventKind::kPodUpdate); }
  PodVerdict admit(const api::Pod& pod) override {
    if (pod.spec->schedulingGates.empty()) return {};
    std::string gates;
    for (Interned gate : pod.spec->schedulingGates)
      gates += (gates.empty() ? "" : " ") + gate.str();
    return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable,
                              fmt::format("waiting for scheduling gates: [{}]", gates));
  }
  Hint hint(const ClusterEvent& event, const PodInfo&) override {
    return event.kind == EventKind::kPodUpdate && (event.actions & action::kGates) ? Hint::kQueue
                                                                                   : Hint::kSkip;
  }
};

// A name whose work the core does.
class Named final : public Plugin {
 public:
  explicit Named(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }

 private:
  std::string_view name_;
};

Result<std::unique_ptr<Plugin>> named(std::string_view name) {
  return std::make_unique<Named>(name);
}

}  // namespace

Result<std::unique_ptr<Plugin>> makeSchedulingGates(const json::Value&, PluginHandle) {
  return std::make_unique<SchedulingGates>();
}
Result<std::unique_ptr<Plugin>> makePrioritySort(const json::Value&, PluginHandle) {
  return named("PrioritySort");
}
Result<std::unique_ptr<Plugin>> makeDefaultBinder(const json::Value&, PluginHandle) {
  return named("DefaultBinder");
}
Result<std::unique_ptr<Plugin>> makeDefaultPreBind(const json::Value&, PluginHandle) {
  return named("DefaultPreBind");
}
Result<std::unique_ptr<Plugin>> makeDefaultPreemption(const json::Value& value, PluginHandle) {
  if (auto args = readPreemptionArgs(value); !args) return pass(args.error());
  return named("DefaultPreemption");
}

}  // namespace mangrove::placement
