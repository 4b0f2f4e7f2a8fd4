#include "api/object/storage.h"

namespace mangrove::api {
namespace {

// ---- PersistentVolume ----

bool readCsi(const In& in, PersistentVolume& out) {
  static constexpr Fields fields{
      field<&PersistentVolume::csiDriver>("driver"),
      field<&PersistentVolume::csiHandle>("volumeHandle"),
  };
  return fields.read(in, out);
}

bool readRequired(const In& in, PersistentVolume& out) {
  static constexpr Fields fields{field<&PersistentVolume::nodeAffinity>("required")};
  return fields.read(in, out);
}

constexpr std::string_view kInTree[] = {"awsElasticBlockStore",
                                        "gcePersistentDisk",
                                        "azureDisk",
                                        "azureFile",
                                        "cinder",
                                        "vsphereVolume",
                                        "portworxVolume",
                                        "rbd",
                                        "iscsi",
                                        "hostPath",
                                        "local",
                                        "nfs"};

bool readVolumeSpec(const In& in, PersistentVolume& out) {
  using T = PersistentVolume;
  static constexpr Fields fields{
      field<&T::capacity>("capacity"),
      field<&T::accessModes>("accessModes"),
      field<&T::storageClassName>("storageClassName"),
      field<&T::volumeMode>("volumeMode"),
      field<&T::reclaimPolicy>("persistentVolumeReclaimPolicy"),
      field<&T::claimRef>("claimRef"),
      via<readRequired>("nodeAffinity"),
      via<readCsi>("csi"),
  };
  for (std::string_view kind : kInTree)
    if (in.view[kind].isObject()) out.sourceKind = Interned(kind);
  return fields.read(in, out);
}

bool readVolumeStatus(const In& in, PersistentVolume& out) {
  static constexpr Fields fields{field<&PersistentVolume::phase>("phase")};
  return fields.read(in, out);
}

// ---- PersistentVolumeClaim ----

bool readClaimResources(const In& in, PersistentVolumeClaim& out) {
  static constexpr Fields fields{field<&PersistentVolumeClaim::requests>("requests")};
  return fields.read(in, out);
}

bool readClaimSpec(const In& in, PersistentVolumeClaim& out) {
  using T = PersistentVolumeClaim;
  static constexpr Fields fields{
      field<&T::accessModes>("accessModes"),
      field<&T::selector>("selector"),
      via<readClaimResources>("resources"),
      field<&T::volumeName>("volumeName"),
      field<&T::storageClassName>("storageClassName"),
      field<&T::volumeMode>("volumeMode"),
  };
  return fields.read(in, out);
}

bool readClaimStatus(const In& in, PersistentVolumeClaim& out) {
  static constexpr Fields fields{field<&PersistentVolumeClaim::phase>("phase")};
  return fields.read(in, out);
}

// ---- StorageClass ----

bool readBindingMode(const In& in, StorageClass& out) {
  static constexpr Word<bool> words[] = {{"WaitForFirstConsumer", true}, {"Immediate", false}};
  return readWord(in, out.waitsForConsumer, words);
}

// {matchLabelExpressions: [{key, values}]} is a node term with In throughout.
bool readTopologies(const In& in, StorageClass& out) {
  if (!in.view.isArray()) return in.wants("an array");
  size_t index = 0;
  for (json::View term : in.view.elements()) {
    const In element = in.element(index++, term);
    std::vector<Expression>& to = out.allowedTopologies.emplace_back().matchExpressions;
    const json::View from = term["matchLabelExpressions"];
    if (from.exists() && !from.isNull() && !read(element.member("matchLabelExpressions", from), to))
      return false;
    for (Expression& expression : to) expression.op = Interned("In");
  }
  return true;
}

// ---- CSI ----

bool readCount(const In& in, CsiNodeDriver& out) {
  static constexpr Fields fields{field<&CsiNodeDriver::allocatableCount>("count")};
  return fields.read(in, out);
}

bool readDriverSpec(const In& in, CsiDriver& out) {
  static constexpr Fields fields{
      field<&CsiDriver::storageCapacity>("storageCapacity"),
      field<&CsiDriver::attachRequired>("attachRequired"),
  };
  return fields.read(in, out);
}

bool readAttachmentSource(const In& in, VolumeAttachment& out) {
  static constexpr Fields fields{field<&VolumeAttachment::volumeName>("persistentVolumeName")};
  return fields.read(in, out);
}

bool readAttachmentSpec(const In& in, VolumeAttachment& out) {
  static constexpr Fields fields{
      field<&VolumeAttachment::attacher>("attacher"),
      field<&VolumeAttachment::nodeName>("nodeName"),
      via<readAttachmentSource>("source"),
  };
  return fields.read(in, out);
}

bool readAttachmentStatus(const In& in, VolumeAttachment& out) {
  static constexpr Fields fields{field<&VolumeAttachment::attached>("attached")};
  return fields.read(in, out);
}

}  // namespace

bool read(const In& in, PersistentVolume& out) {
  static constexpr Fields fields{
      field<&PersistentVolume::meta>("metadata"),
      via<readVolumeSpec>("spec"),
      via<readVolumeStatus>("status"),
  };
  return fields.read(in, out);
}

bool read(const In& in, PersistentVolumeClaim& out) {
  static constexpr Fields fields{
      field<&PersistentVolumeClaim::meta>("metadata"),
      via<readClaimSpec>("spec"),
      via<readClaimStatus>("status"),
  };
  return fields.read(in, out);
}

bool read(const In& in, StorageClass& out) {
  static constexpr Fields fields{
      field<&StorageClass::meta>("metadata"),
      field<&StorageClass::provisioner>("provisioner"),
      via<readBindingMode>("volumeBindingMode"),
      via<readTopologies>("allowedTopologies"),
      field<&StorageClass::parameters>("parameters"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, CsiNodeDriver& out) {
  static constexpr Fields fields{
      field<&CsiNodeDriver::name>("name"),
      field<&CsiNodeDriver::nodeId>("nodeID"),
      field<&CsiNodeDriver::topologyKeys>("topologyKeys"),
      via<readCount>("allocatable"),
  };
  return fields.read(in, out);
}

static bool readCsiNodeSpec(const In& in, CsiNode& out) {
  static constexpr Fields fields{field<&CsiNode::drivers>("drivers")};
  return fields.read(in, out);
}

bool read(const In& in, CsiNode& out) {
  static constexpr Fields fields{field<&CsiNode::meta>("metadata"), via<readCsiNodeSpec>("spec")};
  return fields.read(in, out);
}

bool read(const In& in, CsiDriver& out) {
  static constexpr Fields fields{field<&CsiDriver::meta>("metadata"), via<readDriverSpec>("spec")};
  return fields.read(in, out);
}

bool read(const In& in, CsiStorageCapacity& out) {
  static constexpr Fields fields{
      field<&CsiStorageCapacity::meta>("metadata"),
      field<&CsiStorageCapacity::nodeTopology>("nodeTopology"),
      field<&CsiStorageCapacity::storageClassName>("storageClassName"),
      field<&CsiStorageCapacity::capacity>("capacity"),
      field<&CsiStorageCapacity::maximumVolumeSize>("maximumVolumeSize"),
  };
  return fields.read(in, out);
}

bool read(const In& in, VolumeAttachment& out) {
  static constexpr Fields fields{
      field<&VolumeAttachment::meta>("metadata"),
      via<readAttachmentSpec>("spec"),
      via<readAttachmentStatus>("status"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
