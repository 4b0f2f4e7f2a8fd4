// mangrove check node: what this machine offers to colocation, on one readable page.
#include <fmt/core.h>

#include "agent/machine.h"
#include "cli/command.h"
#include "frame/flags.h"
#include "json/value.h"

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

void printJson(const agent::Machine& machine) {
  json::Object features;
  for (const kernel::Finding& finding : machine.can().findings())
    features[finding.name] = json::Object{{"present", finding.present}, {"detail", finding.detail}};
  fmt::print("{}\n", json::writePretty(
                         json::Object{{"kernel", machine.can().kernelRelease()},
                                      {"cgroupVersion", machine.trees().isV2() ? 2 : 1},
                                      {"driver", kernel::driverName(machine.layout().driver())},
                                      {"cpus", machine.cpus().online.text()},
                                      {"numaNodes", machine.numaNodes().size()},
                                      {"features", std::move(features)}}));
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
  options.live = root == "/";
  auto machine = agent::Machine::open(std::move(options));
  if (!machine) {
    fmt::print(stderr, "mangrove check node: {}\n", machine.error().text());
    return kFailed;
  }
  output == "json" ? printJson(**machine) : printPage(**machine);
  return 0;
}

}  // namespace mangrove::cli
