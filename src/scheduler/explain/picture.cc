#include "scheduler/explain/picture.h"

#include <functional>
#include <initializer_list>
#include <memory>

#include "placement/intake/transform.h"

namespace mangrove::scheduler {

namespace {

// Every object of a kind; a kind the server does not have is empty.
template <class T>
Result<> each(client::ApiClient& client, const api::Kind& kind,
              const std::function<void(std::shared_ptr<T>)>& use) {
  client::Query query;
  query.limit = 500;
  do {
    auto page = client.list(kind, "", query);
    if (!page && page.error().code() == mangrove::Code::kNotFound) return {};
    if (!page) return pass(page.error());
    for (std::string_view item : page->items)
      if (auto object = api::decodeText<T>(item)) use(std::make_shared<T>(std::move(*object)));
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  return {};
}

template <class T>
Result<> keep(client::ApiClient& client, const api::Kind& kind, ObjectMap<T>& map) {
  return each<T>(client, kind, [&](std::shared_ptr<T> object) {
    map.put(api::keyOf(object->meta).text(), object);
  });
}

Result<> fillStorage(client::ApiClient& client, Cluster& cluster) {
  Storage& s = cluster.storage;
  for (auto& step : std::initializer_list<std::function<Result<>()>>{
           [&] { return keep(client, api::kind::kPersistentVolume, s.volumes); },
           [&] { return keep(client, api::kind::kPersistentVolumeClaim, s.claims); },
           [&] { return keep(client, api::kind::kStorageClass, s.classes); },
           [&] { return keep(client, api::kind::kCsiNode, s.nodes); },
           [&] { return keep(client, api::kind::kCsiDriver, s.drivers); },
           [&] { return keep(client, api::kind::kCsiStorageCapacity, s.capacities); },
           [&] { return keep(client, api::kind::kService, cluster.services); },
           [&] { return keep(client, api::kind::kReplicaSet, cluster.replicaSets); },
           [&] { return keep(client, api::kind::kStatefulSet, cluster.statefulSets); },
           [&] {
             return keep(client, api::kind::kReplicationController, cluster.replicationControllers);
           },
           [&] { return keep(client, api::kind::kVolumeAttachment, s.attachments); },
       })
    if (auto ok = step(); !ok) return ok;
  return {};
}

}  // namespace

Result<> fillFrom(client::ApiClient& client, Engine& engine, const api::Uid& without) {
  Cluster& cluster = engine.cluster();
  const PodTransforms transforms = engine.config().transforms;
  auto ok = each<api::Node>(client, api::kind::kNode, [&](std::shared_ptr<api::Node> node) {
    transformNode(*node);
    engine.nodeChanged(nullptr, node);
  });
  if (!ok) return ok;
  ok = each<api::Namespace>(client, api::kind::kNamespace, [&](auto ns) {
    cluster.namespaces.set(Interned(ns->meta.name.view()), ns->meta.labels);
  });
  if (!ok) return ok;
  if (ok = fillStorage(client, cluster); !ok) return ok;
  ok = each<api::NodeMetric>(client, api::kind::kNodeMetric, [&](auto metric) {
    cluster.putMetric(metric->meta.name.view(), metric);
  });
  if (!ok) return ok;
  ok = each<api::NodeResourceTopology>(
      client, api::kind::kNodeResourceTopology,
      [&](auto topology) { cluster.putTopology(topology->meta.name.view(), topology); });
  if (!ok) return ok;
  ok = each<api::Device>(client, api::kind::kDevice,
                         [&](auto device) { cluster.putDevice(device->meta.name.view(), device); });
  if (!ok) return ok;
  ok = each<api::ElasticQuota>(client, api::kind::kElasticQuota, [&](auto quota) {
    cluster.putQuota(api::keyOf(quota->meta).text(), quota);
  });
  if (!ok) return ok;
  ok = each<api::PodGroup>(client, api::kind::kPodGroup, [&](auto group) {
    cluster.putPodGroup(api::keyOf(group->meta).text(), group);
  });
  if (!ok) return ok;
  return each<api::Pod>(client, api::kind::kPod, [&](std::shared_ptr<api::Pod> pod) {
    transformPod(*pod);
    applyTransforms(*pod, transforms);
    for (const auto& profile : engine.profiles())
      for (PodFeed* feed : profile->feeds()) feed->podSeen(nullptr, pod);
    if (pod->meta.uid == without || pod->nodeName.empty() || api::isTerminated(*pod)) return;
    cluster.observe(pod);
  });
}

}  // namespace mangrove::scheduler
