#include "workloads/claim.h"

#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

// The uid goes along, so that a namesake created meanwhile is left alone.
Amendment amendOwners(const api::Kind& kind, const api::ObjectMeta& meta, json::Object entry) {
  Amendment out;
  out.ref = {kind, std::string(meta.ns.view()), meta.name.str()};
  out.type = client::PatchType::kStrategic;
  out.body["metadata"] =
      json::Object{{"uid", meta.uid.str()}, {"ownerReferences", json::Array{std::move(entry)}}};
  return out;
}

}  // namespace

Amendment adoption(const api::Kind& kind, const api::ObjectMeta& orphan, const api::Kind& ownerKind,
                   const api::ObjectMeta& owner) {
  return amendOwners(kind, orphan, ownerReference(ownerKind, owner));
}

Amendment release(const api::Kind& kind, const api::ObjectMeta& child,
                  const api::ObjectMeta& owner) {
  return amendOwners(kind, child, {{"$patch", "delete"}, {"uid", owner.uid.str()}});
}

}  // namespace mangrove::workloads
