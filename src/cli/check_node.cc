// mangrove check node: what this machine offers to colocation, on one readable page.
#include <fmt/core.h>

#include "agent/machine.h"
#include "cli/command.h"
#include "frame/flags.h"
#include "json/value.h"
#include "runtime/node/node_facts.h"
#include "runtime/node/pod_prep.h"

namespace mangrove::cli {
namespace {

void printPage(const agent::Machine& machine) {
  const auto& cpus = machine.cpus();
  fmt::print("kernel   {}{}\n", machine.can().kernelRelease(),
             machine.can().isAnolis() ? " (Anolis family)" : "");
  fmt::print("cpu      {} ({}): {} CPUs, {} cores, {} sockets, {} NUMA node{}\n",
             machine.cpuBasics().model.empty() ? "unknown model" : machine.cpuBasics().model,
             machine.cpuBasics().vendor, cpus.cpus.size(), cpus.coreCount(), cpus.socketCount(),
             std::max<size_t>(machine.numaNodes().size(), 1),
             machine.numaNodes().size() > 1 ? "s" : "");
  fmt::print("cgroups  v{}{}, pods laid out by {}\n\n", machine.trees().isV2() ? 2 : 1,
             machine.trees().isHybrid() ? " with a v2 tree beside" : "",
             kernel::driverName(machine.layout().driver()));
  for (const kernel::Finding& finding : machine.can().findings())
    fmt::print("  {:<3} {:<36} {:<44} {}\n", finding.present ? "yes" : "no", finding.title,
               finding.usedFor, finding.detail);
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
  const runtime::Isolation can = runtime::probeIsolation();
  const std::string how = can.user ? "inside a user namespace" : "";
  const bool tool =
      !runtime::findProgram("nft").empty() || !runtime::findProgram("iptables").empty();
  return {{"network namespace", can.network, "an address of its own for each pod", ""},
          {"PID namespace", can.pids, "containers see their own processes only", how},
          {"mount namespace", can.mounts, "volumes, private /tmp, /run and /var/log", how},
          {"IPC and UTS namespaces", can.ipc, "shared memory and host name per pod", how},
          {"way out of the pods' network", can.network && tool, "pods reach other machines",
           tool ? "" : "neither nft nor iptables is installed"}};
}

void printPods() {
  fmt::print("\npods of mangrove up on this machine\n\n");
  for (const PodSide& one : podSides())
    fmt::print("  {:<3} {:<36} {:<44} {}\n", one.present ? "yes" : "no", one.name, one.usedFor,
               one.detail);
}

json::Object podsJson() {
  json::Object out;
  for (const PodSide& one : podSides())
    out[one.name] = json::Object{{"present", one.present}, {"detail", one.detail}};
  return out;
}

int print(const agent::Machine& machine, bool asJson, bool live) {
  json::Object page = pageJson(machine);
  if (asJson && live) page["pods"] = podsJson();
  if (asJson) fmt::print("{}\n", json::writePretty(page));
  if (!asJson) printPage(machine);
  if (!asJson && live) printPods();
  return 0;
}

}  // namespace

int checkNode(const std::vector<std::string>& args) {
  std::string root = "/", output = "page";
  frame::Flags flags("mangrove check node", "says what this machine offers to colocation");
  flags.add("root", root, "directory under which the machine's proc, sys and cgroups are");
  flags.add("o", output, "page or json");
  auto go = flags.parse(args);
  if (!go || (output != "page" && output != "json")) {
    fmt::print(stderr, "mangrove check node: {}\n",
               go ? "-o '" + output + "': want page or json" : go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  agent::MachineOptions options = agent::liveMachine(root);
  options.live = agent::isThisMachine(root);
  auto machine = agent::Machine::open(std::move(options));
  if (!machine) {
    fmt::print(stderr, "mangrove check node: {}\n", machine.error().text());
    return kFailed;
  }
  return print(**machine, output == "json", root == "/");
}

}  // namespace mangrove::cli
