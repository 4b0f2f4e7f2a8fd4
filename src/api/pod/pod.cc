#include "api/pod/pod.h"

#include <algorithm>

#include "api/wire/names.h"

namespace mangrove::api {
namespace {

constexpr Word<PodPhase> kPhases[] = {
    {"Pending", PodPhase::kPending},     {"Running", PodPhase::kRunning},
    {"Succeeded", PodPhase::kSucceeded}, {"Failed", PodPhase::kFailed},
    {"Unknown", PodPhase::kUnknown},
};
constexpr Word<KubeQos> kQosClasses[] = {
    {"Guaranteed", KubeQos::kGuaranteed},
    {"Burstable", KubeQos::kBurstable},
    {"BestEffort", KubeQos::kBestEffort},
};

bool readPhase(const In& in, PodStatus& out) {
  return readWord(in, out.phase, kPhases);
}
bool readQos(const In& in, PodStatus& out) {
  return readWord(in, out.qosClass, kQosClasses);
}

// The first is podIP again.
bool readSecondIp(const In& in, PodStatus& out) {
  if (!in.view.isArray()) return in.wants("an array");
  size_t index = 0;
  for (json::View one : in.view.elements()) {
    const In element = in.element(index++, one);
    const json::View ip = one["ip"];
    if (index == 2 && ip.exists() && !ip.isNull())
      return read(element.member("ip", ip), out.secondIp);
  }
  return true;
}

// One of waiting, running, terminated is set; all have their fields under the same names.
template <ContainerState::Kind kind>
bool readState(const In& in, ContainerState& out) {
  static constexpr Fields fields{
      field<&ContainerState::reason>("reason"),
      field<&ContainerState::message>("message"),
      field<&ContainerState::exitCode>("exitCode"),
      field<&ContainerState::signal>("signal"),
      field<&ContainerState::startedAt>("startedAt"),
      field<&ContainerState::finishedAt>("finishedAt"),
  };
  out.kind = kind;
  return fields.read(in, out);
}

bool readActual(const In& in, GrantedResources& out) {
  static constexpr Fields fields{
      field<&GrantedResources::requests>("requests"),
      field<&GrantedResources::limits>("limits"),
  };
  out.hasResources = true;
  return fields.read(in, out);
}

template <class Template>
bool readSpec(const In& in, Template& out) {
  const json::View node = in.view["nodeName"];
  if (node.exists() && !node.isNull() && !read(in.member("nodeName", node), out.nodeName))
    return false;
  return read(in, out.spec);
}

}  // namespace

std::string_view podPhaseName(PodPhase phase) {
  return wordFor(phase, kPhases);
}
std::string_view kubeQosName(KubeQos qos) {
  return wordFor(qos, kQosClasses);
}

static bool read(const In& in, ContainerState& out) {
  using Kind = ContainerState::Kind;
  static constexpr Fields fields{
      via<readState<Kind::kWaiting>>("waiting"),
      via<readState<Kind::kRunning>>("running"),
      via<readState<Kind::kTerminated>>("terminated"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, ClaimStatus& out) {
  static constexpr Fields fields{
      field<&ClaimStatus::name>("name"),
      field<&ClaimStatus::claimName>("resourceClaimName"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, GrantedResources& out) {
  static constexpr Fields fields{
      field<&GrantedResources::allocated>("allocatedResources"),
      via<readActual>("resources"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, ContainerStatus& out) {
  static constexpr Fields fields{
      field<&ContainerStatus::name>("name"),
      field<&ContainerStatus::image>("image"),
      field<&ContainerStatus::imageId>("imageID"),
      field<&ContainerStatus::restartCount>("restartCount"),
      field<&ContainerStatus::ready>("ready"),
      field<&ContainerStatus::started>("started"),
      field<&ContainerStatus::containerId>("containerID"),
      field<&ContainerStatus::state>("state"),
      field<&ContainerStatus::lastState>("lastState"),
  };
  if (!fields.read(in, out)) return false;
  const bool granted = in.view["resources"].isObject() || in.view["allocatedResources"].isObject();
  return !granted || read(in, out.granted);
}

std::string_view ContainerStatus::bareId() const {
  const std::string_view id = containerId;
  const size_t at = id.find("://");
  return at == std::string_view::npos ? id : id.substr(at + 3);
}

const ContainerStatus* PodStatus::find(Interned container) const {
  for (const auto* list : {&containers, &initContainers})
    for (const ContainerStatus& status : *list)
      if (status.name == container) return &status;
  return nullptr;
}

bool read(const In& in, PodStatus& out) {
  static constexpr Fields fields{
      via<readPhase>("phase"),
      via<readQos>("qosClass"),
      field<&PodStatus::reason>("reason"),
      field<&PodStatus::nominatedNodeName>("nominatedNodeName"),
      field<&PodStatus::hostIp>("hostIP"),
      field<&PodStatus::podIp>("podIP"),
      via<readSecondIp>("podIPs"),
      field<&PodStatus::message>("message"),
      field<&PodStatus::startTime>("startTime"),
      field<&PodStatus::conditions>("conditions"),
      field<&PodStatus::containers>("containerStatuses"),
      field<&PodStatus::initContainers>("initContainerStatuses"),
      field<&PodStatus::claims>("resourceClaimStatuses"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Pod& out) {
  static constexpr Fields fields{
      field<&Pod::meta>("metadata"),
      via<readSpec<Pod>>("spec"),
      field<&Pod::status>("status"),
  };
  return fields.read(in, out);
}

bool read(const In& in, PodTemplate& out) {
  static constexpr Fields fields{
      field<&PodTemplate::meta>("metadata"),
      via<readSpec<PodTemplate>>("spec"),
  };
  return fields.read(in, out);
}

bool isTerminated(const Pod& pod) {
  return pod.status.phase == PodPhase::kSucceeded || pod.status.phase == PodPhase::kFailed;
}

bool isActive(const Pod& pod) {
  return !isTerminated(pod) && !pod.meta.isDeleting();
}

bool isMirror(const Pod& pod) {
  return pod.meta.annotations.has(annotation::kMirrorPod);
}

bool isOwnedBy(const ObjectMeta& meta, std::string_view kind) {
  return std::ranges::any_of(*meta.owners, [&](const auto& o) { return o.kind.view() == kind; });
}

}  // namespace mangrove::api
