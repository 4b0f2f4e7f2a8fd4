#include "api/wire/kind.h"

#include <algorithm>

#include "base/text/encoding.h"

namespace mangrove::api {
namespace {

constexpr Kind kAll[] = {
    kind::kPod,
    kind::kNode,
    kind::kNamespace,
    kind::kConfigMap,
    kind::kSecret,
    kind::kService,
    kind::kServiceAccount,
    kind::kEvent,
    kind::kBinding,
    kind::kPersistentVolume,
    kind::kPersistentVolumeClaim,
    kind::kReplicationController,
    kind::kResourceQuota,
    kind::kLimitRange,
    kind::kDeployment,
    kind::kReplicaSet,
    kind::kStatefulSet,
    kind::kDaemonSet,
    kind::kJob,
    kind::kCronJob,
    kind::kPriorityClass,
    kind::kPodDisruptionBudget,
    kind::kEviction,
    kind::kLease,
    kind::kEventV1,
    kind::kStorageClass,
    kind::kCsiNode,
    kind::kCsiDriver,
    kind::kCsiStorageCapacity,
    kind::kVolumeAttachment,
    kind::kResourceClaim,
    kind::kResourceSlice,
    kind::kDeviceClass,
    kind::kMutatingWebhook,
    kind::kValidatingWebhook,
    kind::kCustomResourceDefinition,
    kind::kRole,
    kind::kRoleBinding,
    kind::kClusterRole,
    kind::kClusterRoleBinding,
    kind::kTokenReview,
    kind::kSubjectAccessReview,
    kind::kNodeMetric,
    kind::kNodeSlo,
    kind::kReservation,
    kind::kPodMigrationJob,
    kind::kDevice,
    kind::kClusterNetworkTopology,
    kind::kScheduleExplanation,
    kind::kClusterColocationProfile,
    kind::kElasticQuotaProfile,
    kind::kRecommendation,
    kind::kElasticQuota,
    kind::kPodGroup,
    kind::kNodeResourceTopology,
};

std::string root(const Kind& kind) {
  std::string out = kind.group.empty() ? "/api/" : "/apis/" + std::string(kind.group) + "/";
  return out.append(kind.version);
}

}  // namespace

std::string Kind::apiVersion() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string Kind::path(std::string_view ns) const {
  std::string out = root(*this);
  if (namespaced && !ns.empty()) out += "/namespaces/" + percentEncode(ns);
  return out.append("/").append(plural);
}

std::string Kind::path(std::string_view ns, std::string_view name,
                       std::string_view subresource) const {
  std::string out = path(ns) + "/" + percentEncode(name);
  if (!subresource.empty()) out.append("/").append(subresource);
  return out;
}

GroupVersion parseApiVersion(std::string_view apiVersion) {
  const size_t slash = apiVersion.find('/');
  if (slash == std::string_view::npos) return {"", apiVersion};
  const GroupVersion parsed{apiVersion.substr(0, slash), apiVersion.substr(slash + 1)};
  const bool good = !parsed.group.empty() && !parsed.version.empty() &&
                    parsed.version.find('/') == std::string_view::npos;
  return good ? parsed : GroupVersion{};
}

std::span<const Kind> allKinds() {
  return kAll;
}

const Kind* findKind(std::string_view apiVersion, std::string_view kind) {
  const GroupVersion wanted = parseApiVersion(apiVersion);
  auto at = std::ranges::find_if(kAll, [&](const Kind& k) {
    return k.kind == kind && k.group == wanted.group && k.version == wanted.version;
  });
  return at == std::end(kAll) ? nullptr : &*at;
}

const Kind* findPlural(std::string_view group, std::string_view version, std::string_view plural) {
  auto at = std::ranges::find_if(kAll, [&](const Kind& k) {
    return k.plural == plural && k.group == group && (version.empty() || k.version == version);
  });
  return at == std::end(kAll) ? nullptr : &*at;
}

}  // namespace mangrove::api
