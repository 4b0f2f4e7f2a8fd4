// Whether what keeps batch work away from services still has its effect (agent/canary).
#include <algorithm>

#include "agent/qos/enforcement.h"
#include "api/object/event.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

namespace name = kernel::resource_name;

bool isWeight(std::string_view file) {
  return file == name::kIoWeight || file == name::kIoBfqWeight || file == name::kBlkioBfqWeight;
}

bool holdsWeights(const Executor& executor) {
  const auto& held = executor.held();
  return std::any_of(held.begin(), held.end(),
                     [](const auto& one) { return isWeight(one.first.resource); });
}

// Of whole disks, as sysfs has them.
std::map<std::string, std::string> schedulersOf(const Look& look, const PresentValues& present) {
  std::map<std::string, std::string> out;
  const auto disks = look.machine->root().list("sys/block");
  if (!disks) return out;
  for (const kernel::Entry& disk : *disks)
    if (const auto text = present.text("sys/block/" + disk.name + "/queue/scheduler"))
      if (text->find('[') != std::string::npos && *text != "[none]\n") out[disk.name] = *text;
  return out;
}

bool hasCostModel(const PresentValues& present) {
  for (const std::string_view file : {name::kIoCostQos, name::kBlkioCostQos})
    if (const auto value = present.present("", file))
      if (value->text.find("enable=1") != std::string::npos) return true;
  return false;
}

}  // namespace

// What is read back is judged only while we rely on it.
void Enforcement::readIsolation() {
  isolationRead_.clear();
  if (holdsWeights(enforcer_->executor()))
    isolationRead_["disk weight"] = diskFinding(schedulersOf(agent_.look(), enforcer_->picture()),
                                                hasCostModel(enforcer_->picture()));
  const std::string device = enforcer_->networkDevice();
  if (device.empty()) return;
  const auto there = shaper_.isThere(device);
  isolationRead_["network class"] =
      there && !*there ? "our queue is no longer at the root of " + device : "";
}

void Enforcement::watchIsolation(const api::Node* node) {
  const bool wanted = gates_.on("IsolationCanary") && options_.isLive && !enforcer_->isOff() &&
                      !options_.enforcer.dryRun;
  if (!wanted) return canary_.reset();
  if (!canary_)
    canary_ = std::make_unique<CanaryKeeper>("/proc/self/exe", agent_.machine().root().root());
  const MonoTime now = clock_.mono();
  if (isolationAt_ == MonoTime::min() || now - isolationAt_ >= CanaryKeeper::kEvery) {
    isolationAt_ = now;
    readIsolation();
  }
  auto& lost =
      metrics_.gauges("mangrove_agent_isolation_lost",
                      "1 while a knob that isolates batch work has lost its effect.", {"knob"});
  for (const KnobAlarm& news : canary_->tick(now, isolationRead_)) {
    lost.with({news.knob}).set(news.why.empty() ? 0 : 1);
    if (node == nullptr) continue;
    const api::ObjectRef about = api::refTo(client::kind::kNode, node->meta);
    if (news.why.empty())
      events_.normal(about, "IsolationBack", news.knob + " has its effect again");
    else
      events_.warning(about, "IsolationLost", news.knob + " has lost its effect: " + news.why);
  }
}

}  // namespace mangrove::agent
