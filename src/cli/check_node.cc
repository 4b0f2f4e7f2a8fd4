// mangrove check node: what this machine offers to colocation, on one readable page.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agent/machine.h"
#include "base/text/strings.h"
#include "cli/command.h"
#include "cli/usage.h"
#include "cli/voice.h"
#include "frame/flags.h"
#include "json/value.h"
#include "runtime/node/node_facts.h"
#include "runtime/node/pods/pod_prep.h"

namespace mangrove::cli {
namespace {

struct Words {
  std::string_view feature, words;
};
constexpr std::array kNeeded = {Words{"cpu", "cpu controller"},
                                Words{"memory", "memory controller"}};
constexpr std::array kAdvice = {
    Words{"cpu-idle", "use Linux 5.15 or newer: without cpu.idle batch work yields less quickly"},
    Words{"node-pressure", "boot with psi=1: without pressure, cuts wait for the next tick"},
    Words{"memory-min",
          "boot with cgroup v2 for memory protection of services (memory.min, "
          "memory.high); everything else works under v1 too"}};

std::string pageText(const agent::Machine& machine) {
  const auto& cpus = machine.cpus();
  std::string out = fmt::format("kernel   {}{}\n", machine.can().kernelRelease(),
                                machine.can().isAnolis() ? " (Anolis family)" : "");
  out += fmt::format(
      "cpu      {} ({}): {} CPUs, {} cores, {} sockets, {} NUMA node{}\n",
      machine.cpuBasics().model.empty() ? "unknown model" : machine.cpuBasics().model,
      machine.cpuBasics().vendor, cpus.cpus.size(), cpus.coreCount(), cpus.socketCount(),
      std::max<size_t>(machine.numaNodes().size(), 1), machine.numaNodes().size() > 1 ? "s" : "");
  out += fmt::format("cgroups  v{}{}, pods laid out by {}\n\n", machine.trees().isV2() ? 2 : 1,
                     machine.trees().isHybrid() ? " with a v2 tree beside" : "",
                     kernel::driverName(machine.layout().driver()));
  for (const kernel::Finding& finding : machine.can().findings())
    out += fmt::format("  {:<3} {:<36} {:<44} {}\n", finding.present ? "yes" : "no", finding.title,
                       finding.usedFor, finding.detail);
  return out;
}

json::Object pageJson(const agent::Machine& machine) {
  json::Object features;
  for (const kernel::Finding& finding : machine.can().findings())
    features[finding.name] = json::Object{{"present", finding.present}, {"detail", finding.detail}};
  return {{"kernel", machine.can().kernelRelease()},
          {"cgroupVersion", machine.trees().isV2() ? 2 : 1},
          {"driver", kernel::driverName(machine.layout().driver())},
          {"cpus", machine.cpus().online.text()},
          {"numaNodes", machine.numaNodes().size()},
          {"features", std::move(features)}};
}

struct PodSide {
  const char* name;
  bool present;
  const char* usedFor;
  std::string detail;
};

// What `mangrove up` can give the pods it runs here.
std::vector<PodSide> podSides() {
  const runtime::Isolation can = runtime::probeIsolation("/var");
  const std::string how = can.user ? "inside a user namespace" : "";
  const bool tool =
      !runtime::findProgram("nft").empty() || !runtime::findProgram("iptables").empty();
  return {{"network namespace", can.network, "an address of its own for each pod", ""},
          {"PID namespace", can.pids, "containers see their own processes only", how},
          {"mount namespace", can.mounts, "volumes, private /tmp, /run and /var/log", how},
          {"users mapped", can.mapUsers, "root in a pod is nobody outside", ""},
          {"IPC and UTS namespaces", can.ipc, "shared memory and host name per pod", how},
          {"way out of the pods' network", can.network && tool, "pods reach other machines",
           tool ? "" : "neither nft nor iptables is installed"}};
}

std::string podsText() {
  std::string out = "\npods of mangrove up on this machine\n\n";
  for (const PodSide& one : podSides())
    out += fmt::format("  {:<3} {:<36} {:<44} {}\n", one.present ? "yes" : "no", one.name,
                       one.usedFor, one.detail);
  return out;
}

json::Object podsJson() {
  json::Object out;
  for (const PodSide& one : podSides())
    out[one.name] = json::Object{{"present", one.present}, {"detail", one.detail}};
  return out;
}

bool has(const agent::Machine& machine, std::string_view name) {
  for (const kernel::Finding& finding : machine.can().findings())
    if (finding.name == name) return finding.present;
  return false;
}

// What colocation cannot do without, and what it does worse without.
Told judge(const agent::Machine& machine) {
  Told told{.answer = {}, .good = true, .terms = pageText(machine), .todo = {}, .data = {}};
  std::vector<std::string> missing;
  for (auto [name, words] : kNeeded)
    if (!has(machine, name)) missing.emplace_back(words);
  told.good = missing.empty();
  const auto& all = machine.can().findings();
  const auto present =
      std::count_if(all.begin(), all.end(), [](const auto& f) { return f.present; });
  told.answer = told.good
                    ? fmt::format("this machine can colocate: {} of {} features are there", present,
                                  all.size())
                    : fmt::format("this machine cannot colocate: no {}", join(missing, ", no "));
  if (!told.good)
    told.todo.emplace_back(
        "mount the missing cgroup controllers, or measure only: 'mangrove up "
        "--observe-only'");
  for (auto [name, words] : kAdvice)
    if (!has(machine, name)) told.todo.emplace_back(words);
  return told;
}

Told judgeAll(const agent::Machine& machine, bool live) {
  Told told = judge(machine);
  told.data = pageJson(machine);
  if (!live) return told;
  told.terms += podsText();
  told.data["pods"] = podsJson();
  return told;
}

}  // namespace

int checkNode(const std::vector<std::string>& args) {
  std::string root = "/";
  Output output;
  frame::Flags flags("mangrove check node", "says what this machine offers to colocation");
  flags.add("root", root, "directory under which the machine's proc, sys and cgroups are");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  agent::MachineOptions options = agent::liveMachine(root);
  options.live = agent::isThisMachine(root);
  auto machine = agent::Machine::open(std::move(options));
  if (!machine) return complain(flags, machine.error());
  return say(judgeAll(**machine, root == "/"), output);
}

}  // namespace mangrove::cli
