// What keeps pods running: Deployments, ReplicaSets, StatefulSets, DaemonSets and their relatives.

#include <fmt/core.h>

#include "apiserver/output/columns.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kDesired{"Desired", "integer", "How many pods there should be"};
constexpr Column kCurrent{"Current", "integer", "How many pods there are"};
constexpr Column kReady{"Ready", "integer", "How many of them are ready"};
constexpr Column kReadyOfAll{"Ready", "string", "Pods that are ready, of those wanted"};
constexpr Column kUpToDate{"Up-to-date", "integer", "Pods made from the newest template"};
constexpr Column kAvailable{"Available", "integer", "Pods that have been ready for long enough"};

// Replicas that are not named count as one, as everywhere in Kubernetes.
int64_t wanted(const TableRow& row) {
  return intOf(row.spec()["replicas"], 1);
}

std::string readyOfWanted(const TableRow& row) {
  return fmt::format("{}/{}", intOf(row.status()["readyReplicas"]), wanted(row));
}

void templateCells(const TableRow& row, Cells& out) {
  containerCells(row.spec()["template"]["spec"], out);
}

constexpr Column kDeploymentColumns[] = {kName, kReadyOfAll, kUpToDate, kAvailable,
                                         kAge,  kContainers, kImages,   kSelector};

void deploymentCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(readyOfWanted(row));
  out.number(intOf(row.status()["updatedReplicas"]));
  out.number(intOf(row.status()["availableReplicas"]));
  out.text(row.age());
  templateCells(row, out);
  out.text(selectorText(row.spec()["selector"]));
}

constexpr Column kReplicaColumns[] = {kName, kDesired,    kCurrent, kReady,
                                      kAge,  kContainers, kImages,  kSelector};

void replicaNumbers(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.number(wanted(row));
  out.number(intOf(row.status()["replicas"]));
  out.number(intOf(row.status()["readyReplicas"]));
  out.text(row.age());
  templateCells(row, out);
}

void replicaSetCells(const TableRow& row, Cells& out) {
  replicaNumbers(row, out);
  out.text(selectorText(row.spec()["selector"]));
}

void replicationControllerCells(const TableRow& row, Cells& out) {
  replicaNumbers(row, out);
  out.text(labelsText(row.spec()["selector"]));
}

constexpr Column kStatefulSetColumns[] = {kName, kReadyOfAll, kAge, kContainers, kImages};

void statefulSetCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(readyOfWanted(row));
  out.text(row.age());
  templateCells(row, out);
}

constexpr Column kDaemonSetColumns[] = {
    kName,
    {"Desired", "integer", "Nodes that should run its pod"},
    {"Current", "integer", "Nodes that run it"},
    kReady,
    kUpToDate,
    kAvailable,
    {"Node Selector", "string", "Labels of the nodes it runs on"},
    kAge,
    kContainers,
    kImages,
    kSelector};

void daemonSetCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.number(intOf(row.status()["desiredNumberScheduled"]));
  out.number(intOf(row.status()["currentNumberScheduled"]));
  out.number(intOf(row.status()["numberReady"]));
  out.number(intOf(row.status()["updatedNumberScheduled"]));
  out.number(intOf(row.status()["numberAvailable"]));
  out.text(labelsText(row.spec()["template"]["spec"]["nodeSelector"]));
  out.text(row.age());
  templateCells(row, out);
  out.text(selectorText(row.spec()["selector"]));
}

constexpr Column kRevisionColumns[] = {kName,
                                       {"Controller", "string", "Whose state it is"},
                                       {"Revision", "string", "Its number, growing"},
                                       kAge};

// "deployment.apps/web": kind, group and name of the controlling owner.
std::string controllerText(const TableRow& row) {
  for (json::View owner : row.meta()["ownerReferences"].elements()) {
    if (!flagOf(owner["controller"])) continue;
    const std::string_view version = textOf(owner["apiVersion"]);
    const size_t slash = version.find('/');
    std::string kind;
    for (char c : textOf(owner["kind"])) kind += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    if (slash != std::string_view::npos) kind += "." + std::string(version.substr(0, slash));
    return fmt::format("{}/{}", kind, textOf(owner["name"]));
  }
  return std::string(kNone);
}

void revisionCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(controllerText(row));
  out.number(intOf(row.object["revision"]));
  out.text(row.age());
}

constexpr TableKind kTables[] = {
    {"apps", "Deployment", kDeploymentColumns, &deploymentCells},
    {"apps", "ReplicaSet", kReplicaColumns, &replicaSetCells},
    {"", "ReplicationController", kReplicaColumns, &replicationControllerCells},
    {"apps", "StatefulSet", kStatefulSetColumns, &statefulSetCells},
    {"apps", "DaemonSet", kDaemonSetColumns, &daemonSetCells},
    {"apps", "ControllerRevision", kRevisionColumns, &revisionCells},
};

}  // namespace

std::span<const TableKind> workloadTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
