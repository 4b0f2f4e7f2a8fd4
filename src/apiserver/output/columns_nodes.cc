// Machines and what lives beside them: nodes, namespaces, leases, priority and runtime classes.

#include <set>
#include <string>

#include <fmt/core.h>

#include "apiserver/output/columns.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kNodeColumns[] = {
    kName,
    {"Status", "string", "Whether it is ready, and whether it takes new pods"},
    {"Roles", "string", "What the node is for, from its labels"},
    kAge,
    {"Version", "string", "Of the kubelet"},
    {"Internal-IP", "string", "Address within the cluster", 1},
    {"External-IP", "string", "Address from outside", 1},
    {"OS-Image", "string", "What the machine runs", 1},
    {"Kernel-Version", "string", "Of the machine", 1},
    {"Container-Runtime", "string", "Its name and version", 1},
};

std::string nodeStatus(const TableRow& row) {
  const json::View ready = conditionOf(row.status(), "Ready");
  std::string status = !ready.exists()                     ? "Unknown"
                       : textOf(ready["status"]) == "True" ? "Ready"
                                                           : "NotReady";
  if (flagOf(row.spec()["unschedulable"])) status += ",SchedulingDisabled";
  return status;
}

std::string nodeRoles(const TableRow& row) {
  constexpr std::string_view kRole = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (auto [key, value] : row.meta()["labels"].members()) {
    const std::string_view text = textOf(value);
    if (key.starts_with(kRole) && key.size() > kRole.size())
      roles.emplace(key.substr(kRole.size()));
    else if (key == "kubernetes.io/role" && !text.empty())
      roles.emplace(text);
  }
  return roles.empty() ? std::string(kNone) : join(roles, ",");
}

std::string_view nodeAddress(const TableRow& row, std::string_view type) {
  for (json::View address : row.status()["addresses"].elements())
    if (textOf(address["type"]) == type) return textOf(address["address"]);
  return kNone;
}

void nodeCells(const TableRow& row, Cells& out) {
  const json::View info = row.status()["nodeInfo"];
  out.text(row.name());
  out.text(nodeStatus(row));
  out.text(nodeRoles(row));
  out.text(row.age());
  out.text(textOf(info["kubeletVersion"]));
  out.text(nodeAddress(row, "InternalIP"));
  out.text(nodeAddress(row, "ExternalIP"));
  out.textOr(textOf(info["osImage"]), kUnknown);
  out.textOr(textOf(info["kernelVersion"]), kUnknown);
  out.textOr(textOf(info["containerRuntimeVersion"]), kUnknown);
}

constexpr Column kNamespaceColumns[] = {
    kName, {"Status", "string", "Active, or Terminating with all it holds"}, kAge};

void namespaceCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(textOf(row.status()["phase"]));
  out.text(row.age());
}

constexpr Column kLeaseColumns[] = {kName, {"Holder", "string", "Who has it now"}, kAge};

void leaseCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(textOf(row.spec()["holderIdentity"]));
  out.text(row.age());
}

constexpr Column kPriorityColumns[] = {
    kName,
    {"Value", "integer", "Pods with more go first"},
    {"Global-Default", "boolean", "Whether pods that name no class get it"},
    kAge,
    {"PreemptionPolicy", "string", "Whether its pods may push others away"}};

void priorityCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.number(intOf(row.object["value"]));
  out.flag(flagOf(row.object["globalDefault"]));
  out.text(row.age());
  out.text(textOf(row.object["preemptionPolicy"], "PreemptLowerPriority"));
}

constexpr Column kRuntimeColumns[] = {
    kName, {"Handler", "string", "The runtime's configuration it chooses"}, kAge};

void runtimeCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(textOf(row.object["handler"]));
  out.text(row.age());
}

constexpr Column kComponentColumns[] = {kName,
                                        {"Status", "string", "Whether it is healthy"},
                                        {"Message", "string", "What it says itself"},
                                        {"Error", "string", "Why nothing is known of it"}};

void componentCells(const TableRow& row, Cells& out) {
  const json::View healthy = conditionOf(row.object, "Healthy");
  const std::string_view status = textOf(healthy["status"], "Unknown");
  out.text(row.name());
  out.text(status == "True" ? "Healthy" : status == "False" ? "Unhealthy" : "Unknown");
  out.text(textOf(healthy["message"]));
  out.text(textOf(healthy["error"]));
}

constexpr TableKind kTables[] = {
    {"", "Node", kNodeColumns, &nodeCells},
    {"", "Namespace", kNamespaceColumns, &namespaceCells},
    {"coordination.k8s.io", "Lease", kLeaseColumns, &leaseCells},
    {"scheduling.k8s.io", "PriorityClass", kPriorityColumns, &priorityCells},
    {"node.k8s.io", "RuntimeClass", kRuntimeColumns, &runtimeCells},
    {"", "ComponentStatus", kComponentColumns, &componentCells},
};

}  // namespace

std::span<const TableKind> nodeTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
