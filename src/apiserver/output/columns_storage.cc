// Volumes, claims and what provides them.

#include <string>
#include <vector>

#include <fmt/core.h>

#include "apiserver/output/columns.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kCapacity{"Capacity", "string", "How much it holds"};
constexpr Column kModes{"Access Modes", "string", "How it may be mounted: RWO, ROX, RWX, RWOP"};
constexpr Column kClass{"StorageClass", "string", "The class it belongs to"};
constexpr Column kAttributes{"VolumeAttributesClass", "string", "The class of its properties"};
constexpr Column kVolumeMode{"VolumeMode", "string", "Files or raw blocks", 1};

std::string_view shortMode(std::string_view mode) {
  if (mode == "ReadWriteOnce") return "RWO";
  if (mode == "ReadOnlyMany") return "ROX";
  if (mode == "ReadWriteMany") return "RWX";
  if (mode == "ReadWriteOncePod") return "RWOP";
  return mode;
}

std::string modesText(json::View modes) {
  std::vector<std::string_view> texts;
  for (std::string_view known :
       {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"})
    for (json::View mode : modes.elements())
      if (textOf(mode) == known && (texts.empty() || texts.back() != shortMode(known)))
        texts.push_back(shortMode(known));
  return join(texts, ",");
}

constexpr Column kVolumeColumns[] = {
    kName,
    kCapacity,
    kModes,
    {"Reclaim Policy", "string", "What happens once nobody claims it"},
    {"Status", "string", "Whether it can be claimed"},
    {"Claim", "string", "Who has it"},
    kClass,
    kAttributes,
    {"Reason", "string", "Why it is in this state"},
    kAge,
    kVolumeMode};

std::string claimText(json::View claim) {
  if (!claim.isObject()) return "";
  return fmt::format("{}/{}", textOf(claim["namespace"]), textOf(claim["name"]));
}

void volumeCells(const TableRow& row, Cells& out) {
  const json::View spec = row.spec();
  out.text(row.name());
  out.text(scalarOf(spec["capacity"]["storage"]));
  out.text(modesText(spec["accessModes"]));
  out.text(textOf(spec["persistentVolumeReclaimPolicy"]));
  out.text(row.deleting() ? "Terminating" : textOf(row.status()["phase"]));
  out.text(claimText(spec["claimRef"]));
  out.text(textOf(spec["storageClassName"]));
  out.text(textOf(spec["volumeAttributesClassName"], kUnset));
  out.text(textOf(row.status()["reason"]));
  out.text(row.age());
  out.text(textOf(spec["volumeMode"], kUnset));
}

constexpr Column kClaimColumns[] = {kName,
                                    {"Status", "string", "Whether it has a volume"},
                                    {"Volume", "string", "The volume it got"},
                                    kCapacity,
                                    kModes,
                                    kClass,
                                    kAttributes,
                                    kAge,
                                    kVolumeMode};

void claimCells(const TableRow& row, Cells& out) {
  const bool bound = !textOf(row.spec()["volumeName"]).empty();
  out.text(row.name());
  out.text(row.deleting() ? "Terminating" : textOf(row.status()["phase"]));
  out.text(textOf(row.spec()["volumeName"]));
  out.text(bound ? scalarOf(row.status()["capacity"]["storage"]) : "");
  out.text(bound ? modesText(row.status()["accessModes"]) : "");
  out.text(textOf(row.spec()["storageClassName"]));
  out.text(textOf(row.spec()["volumeAttributesClassName"], kUnset));
  out.text(row.age());
  out.text(textOf(row.spec()["volumeMode"], kUnset));
}

constexpr Column kClassColumns[] = {
    kName,
    {"Provisioner", "string", "Who makes its volumes"},
    {"ReclaimPolicy", "string", "What happens to volumes nobody claims any more"},
    {"VolumeBindingMode", "string", "Whether volumes are made at once or for their first pod"},
    {"AllowVolumeExpansion", "boolean", "Whether volumes can grow"},
    kAge};

void classCells(const TableRow& row, Cells& out) {
  const json::View annotations = row.meta()["annotations"];
  const bool isDefault =
      textOf(annotations["storageclass.kubernetes.io/is-default-class"]) == "true" ||
      textOf(annotations["storageclass.beta.kubernetes.io/is-default-class"]) == "true";
  out.text(std::string(row.name()) + (isDefault ? " (default)" : ""));
  out.text(textOf(row.object["provisioner"]));
  out.text(textOf(row.object["reclaimPolicy"], "Delete"));
  out.text(textOf(row.object["volumeBindingMode"], "Immediate"));
  out.flag(flagOf(row.object["allowVolumeExpansion"]));
  out.text(row.age());
}

constexpr Column kAttributesColumns[] = {
    kName, {"DriverName", "string", "The driver that knows the properties"}, kAge};

void attributesCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(textOf(row.object["driverName"]));
  out.text(row.age());
}

constexpr Column kAttachmentColumns[] = {kName,
                                         {"Attacher", "string", "Who attaches it"},
                                         {"PV", "string", "The volume"},
                                         {"Node", "string", "Where it goes"},
                                         {"Attached", "boolean", "Whether it is there"},
                                         kAge};

void attachmentCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(textOf(row.spec()["attacher"]));
  out.text(textOf(row.spec()["source"]["persistentVolumeName"]));
  out.text(textOf(row.spec()["nodeName"]));
  out.flag(flagOf(row.status()["attached"]));
  out.text(row.age());
}

constexpr Column kDriverColumns[] = {
    kName,
    {"AttachRequired", "boolean", "Whether volumes are attached before they are mounted"},
    {"PodInfoOnMount", "boolean", "Whether the driver is told about the pod"},
    {"StorageCapacity", "boolean", "Whether free space counts when placing pods"},
    {"TokenRequests", "string", "Audiences of tokens it gets"},
    {"RequiresRepublish", "boolean", "Whether it is called again while the pod runs"},
    {"Modes", "string", "Lives of its volumes"},
    kAge};

void driverCells(const TableRow& row, Cells& out) {
  const json::View spec = row.spec();
  std::vector<std::string_view> audiences, modes;
  for (json::View request : spec["tokenRequests"].elements())
    audiences.push_back(textOf(request["audience"]));
  for (json::View mode : spec["volumeLifecycleModes"].elements()) modes.push_back(textOf(mode));
  out.text(row.name());
  out.flag(flagOf(spec["attachRequired"], true));
  out.flag(flagOf(spec["podInfoOnMount"]));
  out.flag(flagOf(spec["storageCapacity"]));
  out.textOr(join(audiences, ","), kUnset);
  out.flag(flagOf(spec["requiresRepublish"]));
  out.textOr(join(modes, ","), kNone);
  out.text(row.age());
}

constexpr Column kCsiNodeColumns[] = {kName, {"Drivers", "integer", "Drivers on the node"}, kAge};

void csiNodeCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.number(static_cast<int64_t>(row.spec()["drivers"].size()));
  out.text(row.age());
}

constexpr Column kSpaceColumns[] = {kName,
                                    {"StorageClass", "string", "The class it speaks of"},
                                    {"Capacity", "string", "How much is free"},
                                    kAge};

void spaceCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(textOf(row.object["storageClassName"]));
  out.textOr(scalarOf(row.object["capacity"]), kUnset);
  out.text(row.age());
}

constexpr std::string_view kGroup = "storage.k8s.io";
constexpr TableKind kTables[] = {
    {"", "PersistentVolume", kVolumeColumns, &volumeCells},
    {"", "PersistentVolumeClaim", kClaimColumns, &claimCells},
    {kGroup, "StorageClass", kClassColumns, &classCells},
    {kGroup, "VolumeAttributesClass", kAttributesColumns, &attributesCells},
    {kGroup, "VolumeAttachment", kAttachmentColumns, &attachmentCells},
    {kGroup, "CSIDriver", kDriverColumns, &driverCells},
    {kGroup, "CSINode", kCsiNodeColumns, &csiNodeCells},
    {kGroup, "CSIStorageCapacity", kSpaceColumns, &spaceCells},
};

}  // namespace

std::span<const TableKind> storageTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
