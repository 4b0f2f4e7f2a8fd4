#include "placement/engine/ingress.h"

namespace mangrove::placement {

void Ingress::happened(EventKind kind, std::string_view label, Row row) {
  ClusterEvent event;
  event.kind = kind;
  event.label = label;
  event.row = row;
  engine_.happened(event);
}

template <class T>
void Ingress::keep(ObjectMap<T>& map, std::string_view key, const std::shared_ptr<const T>& after,
                   uint64_t& generation, EventKind kind, std::string_view label) {
  if (after)
    map.put(std::string(key), after);
  else
    map.erase(key);
  generation++;
  happened(kind, label);
}

void Ingress::service(std::string_view key, const std::shared_ptr<const api::Service>& after) {
  keep(cluster_.services, key, after, cluster_.selectorGeneration, EventKind::kSelectors,
       "Service");
}
void Ingress::replicaSet(std::string_view key, const std::shared_ptr<const api::Workload>& after) {
  keep(cluster_.replicaSets, key, after, cluster_.selectorGeneration, EventKind::kSelectors,
       "ReplicaSet");
}
void Ingress::statefulSet(std::string_view key, const std::shared_ptr<const api::Workload>& after) {
  keep(cluster_.statefulSets, key, after, cluster_.selectorGeneration, EventKind::kSelectors,
       "StatefulSet");
}
void Ingress::replicationController(std::string_view key,
                                    const std::shared_ptr<const api::Workload>& after) {
  keep(cluster_.replicationControllers, key, after, cluster_.selectorGeneration,
       EventKind::kSelectors, "ReplicationController");
}
void Ingress::budget(std::string_view key,
                     const std::shared_ptr<const api::PodDisruptionBudget>& after) {
  keep(cluster_.budgets, key, after, cluster_.budgetGeneration, EventKind::kSelectors,
       "PodDisruptionBudget");
}
void Ingress::volume(std::string_view key,
                     const std::shared_ptr<const api::PersistentVolume>& after) {
  keep(cluster_.storage.volumes, key, after, cluster_.storage.generation, EventKind::kStorage,
       "PersistentVolume");
}
void Ingress::claim(std::string_view key,
                    const std::shared_ptr<const api::PersistentVolumeClaim>& after) {
  keep(cluster_.storage.claims, key, after, cluster_.storage.generation, EventKind::kStorage,
       "PersistentVolumeClaim");
}
void Ingress::storageClass(std::string_view key,
                           const std::shared_ptr<const api::StorageClass>& after) {
  keep(cluster_.storage.classes, key, after, cluster_.storage.generation, EventKind::kStorage,
       "StorageClass");
}
void Ingress::csiNode(std::string_view key, const std::shared_ptr<const api::CsiNode>& after) {
  keep(cluster_.storage.nodes, key, after, cluster_.storage.generation, EventKind::kStorage,
       "CSINode");
}
void Ingress::csiDriver(std::string_view key, const std::shared_ptr<const api::CsiDriver>& after) {
  keep(cluster_.storage.drivers, key, after, cluster_.storage.generation, EventKind::kStorage,
       "CSIDriver");
}
void Ingress::storageCapacity(std::string_view key,
                              const std::shared_ptr<const api::CsiStorageCapacity>& after) {
  keep(cluster_.storage.capacities, key, after, cluster_.storage.generation, EventKind::kStorage,
       "CSIStorageCapacity");
}
void Ingress::attachment(std::string_view key,
                         const std::shared_ptr<const api::VolumeAttachment>& after) {
  keep(cluster_.storage.attachments, key, after, cluster_.storage.generation, EventKind::kStorage,
       "VolumeAttachment");
}

void Ingress::nodeMetric(std::string_view key,
                         const std::shared_ptr<const api::NodeMetric>& after) {
  happened(EventKind::kNodeMetric, "NodeMetric", cluster_.putMetric(key, after));
}
void Ingress::nodeTopology(std::string_view key,
                           const std::shared_ptr<const api::NodeResourceTopology>& after) {
  happened(EventKind::kNodeTopology, "NodeResourceTopology", cluster_.putTopology(key, after));
}
void Ingress::device(std::string_view key, const std::shared_ptr<const api::Device>& after) {
  happened(EventKind::kDevice, "Device", cluster_.putDevice(key, after));
}
void Ingress::deviceClass(std::string_view key,
                          const std::shared_ptr<const api::DeviceClass>& after) {
  after ? cluster_.claims.classes.put(std::string(key), after) : cluster_.claims.classes.erase(key);
  cluster_.claims.changed();
  happened(EventKind::kResourceClaims, "DeviceClass");
}
void Ingress::resourceSlice(std::string_view key,
                            const std::shared_ptr<const api::ResourceSlice>& after) {
  after ? cluster_.claims.slices.put(std::string(key), after) : cluster_.claims.slices.erase(key);
  cluster_.claims.changed();
  happened(EventKind::kResourceClaims, "ResourceSlice");
}
void Ingress::resourceClaim(std::string_view key,
                            const std::shared_ptr<const api::ResourceClaim>& after) {
  cluster_.claims.put(key, after);
  happened(EventKind::kResourceClaims, "ResourceClaim");
}
void Ingress::podGroup(std::string_view key, const std::shared_ptr<const api::PodGroup>& after) {
  cluster_.putPodGroup(key, after);
  happened(EventKind::kPodGroup, "PodGroup");
}
void Ingress::quota(std::string_view key, const std::shared_ptr<const api::ElasticQuota>& after) {
  cluster_.putQuota(key, after);
  happened(EventKind::kQuota, "ElasticQuota");
}
// One of the same name that was made anew is another one.
void Ingress::reservation(std::string_view key,
                          const std::shared_ptr<const api::Reservation>& after) {
  const ReservationPtr known = cluster_.reservations.findByName(key);
  std::shared_ptr<const api::Reservation> before = known ? known->object : nullptr;
  if (before && after && before->meta.uid != after->meta.uid) {
    engine_.reservationChanged(before, nullptr);
    before = nullptr;
  }
  if (before || after) engine_.reservationChanged(before, after);
}
void Ingress::network(std::string_view key,
                      const std::shared_ptr<const api::ClusterNetworkTopology>& after) {
  if (key != "default") return;  // the only one that counts
  cluster_.network = after;
  cluster_.networkGeneration++;
}

}  // namespace mangrove::placement
