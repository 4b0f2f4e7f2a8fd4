#include "api/pod/pod_spec.h"

namespace mangrove::api {
namespace {

// ---- containers ----

struct Resources {
  ResourceList requests;
  ResourceList limits;
  std::vector<Interned> claims;
};

bool readClaimNames(const In& in, Resources& out) {
  if (!in.view.isArray()) return in.wants("an array");
  size_t index = 0;
  for (json::View claim : in.view.elements()) {
    const In element = in.element(index++, claim);
    if (!claim["name"].exists()) continue;
    if (!read(element.member("name", claim["name"]), out.claims.emplace_back())) return false;
  }
  return true;
}

bool readResources(const In& in, Resources& out) {
  static constexpr Fields fields{
      field<&Resources::requests>("requests"),
      field<&Resources::limits>("limits"),
      via<readClaimNames>("claims"),
  };
  return fields.read(in, out);
}

bool readContainerResources(const In& in, Container& out) {
  Resources resources;
  if (!readResources(in, resources)) return false;
  out.requests = std::move(resources.requests);
  out.limits = std::move(resources.limits);
  out.claims = std::move(resources.claims);
  return true;
}

bool readSidecar(const In& in, Container& out) {
  static constexpr Word<bool> words[] = {{"Always", true}};
  return readWord(in, out.isSidecar, words);
}

}  // namespace

static bool read(const In& in, ContainerPort& out) {
  static constexpr Fields fields{
      field<&ContainerPort::name>("name"),
      field<&ContainerPort::containerPort>("containerPort"),
      field<&ContainerPort::hostPort>("hostPort"),
      field<&ContainerPort::protocol>("protocol"),
      field<&ContainerPort::hostIp>("hostIP"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Container& out) {
  static constexpr Fields fields{
      field<&Container::name>("name"),          field<&Container::image>("image"),
      via<readContainerResources>("resources"), field<&Container::ports>("ports"),
      via<readSidecar>("restartPolicy"),
  };
  return fields.read(in, out);
}

// ---- volumes ----

namespace {

using Source = Volume::Source;

template <Source source>
bool readSource(const In& in, Volume& out) {
  static constexpr Fields fields{
      field<&Volume::id>("claimName"),      field<&Volume::id>("driver"),
      field<&Volume::id>("pdName"),         field<&Volume::id>("volumeID"),
      field<&Volume::id>("diskName"),       field<&Volume::id>("volumePath"),
      field<&Volume::id>("image"),          field<&Volume::id>("iqn"),
      field<&Volume::pool>("pool"),         field<&Volume::monitors>("monitors"),
      field<&Volume::readOnly>("readOnly"),
  };
  out.source = source;
  return fields.read(in, out);
}

bool readEphemeral(const In& in, Volume& out) {
  out.source = Source::kEphemeral;
  const json::View name = in.view["volumeClaimTemplate"]["spec"]["storageClassName"];
  return !name.isString() || read(in.member("storageClassName", name), out.claimStorageClass);
}

struct KnownSource {
  std::string_view key;
  bool (*read)(const In&, Volume&);
};
constexpr KnownSource kSources[] = {
    {"persistentVolumeClaim", readSource<Source::kClaim>},
    {"ephemeral", readEphemeral},
    {"csi", readSource<Source::kCsi>},
    {"gcePersistentDisk", readSource<Source::kGceDisk>},
    {"awsElasticBlockStore", readSource<Source::kAwsDisk>},
    {"azureDisk", readSource<Source::kAzureDisk>},
    {"cinder", readSource<Source::kCinder>},
    {"vsphereVolume", readSource<Source::kVsphere>},
    {"portworxVolume", readSource<Source::kPortworx>},
    {"rbd", readSource<Source::kRbd>},
    {"iscsi", readSource<Source::kIscsi>},
};

bool readVolume(const In& in, std::vector<Volume>& out) {
  for (auto [key, value] : in.view.members())
    for (const KnownSource& source : kSources) {
      if (source.key != key || value.isNull()) continue;
      Volume volume;
      const json::View name = in.view["name"];
      if (name.exists() && !read(in.member("name", name), volume.name)) return false;
      if (!source.read(in.member(key, value), volume)) return false;
      out.push_back(std::move(volume));
      return true;
    }
  return true;
}

bool readVolumes(const In& in, PodSpec& out) {
  if (!in.view.isArray()) return in.wants("an array");
  out.volumes.clear();
  size_t index = 0;
  for (json::View volume : in.view.elements()) {
    const In element = in.element(index++, volume);
    if (!volume.isObject() && !volume.isNull()) return element.wants("an object");
    if (!readVolume(element, out.volumes)) return false;
  }
  return true;
}

// ---- the pod ----

bool readPodResources(const In& in, PodSpec& out) {
  Resources resources;
  if (!readResources(in, resources)) return false;
  out.podRequests = std::move(resources.requests);
  out.podLimits = std::move(resources.limits);
  out.hasPodResources = true;
  return true;
}

bool readPreemptionPolicy(const In& in, PodSpec& out) {
  static constexpr Word<PreemptionPolicy> words[] = {
      {"PreemptLowerPriority", PreemptionPolicy::kPreemptLowerPriority},
      {"Never", PreemptionPolicy::kNever}};
  return readWord(in, out.preemptionPolicy, words);
}

bool readRestartPolicy(const In& in, PodSpec& out) {
  static constexpr Word<RestartPolicy> words[] = {{"Always", RestartPolicy::kAlways},
                                                  {"OnFailure", RestartPolicy::kOnFailure},
                                                  {"Never", RestartPolicy::kNever}};
  return readWord(in, out.restartPolicy, words);
}

// [{"name": "x"}] as a list of names.
bool readGates(const In& in, PodSpec& out) {
  if (!in.view.isArray()) return in.wants("an array");
  out.schedulingGates.clear();
  size_t index = 0;
  for (json::View gate : in.view.elements()) {
    const In element = in.element(index++, gate);
    Interned& name = out.schedulingGates.emplace_back();
    if (gate["name"].exists() && !read(element.member("name", gate["name"]), name)) return false;
  }
  return true;
}

bool readOs(const In& in, PodSpec& out) {
  static constexpr Fields fields{field<&PodSpec::os>("name")};
  return fields.read(in, out);
}

}  // namespace

static bool read(const In& in, PodResourceClaim& out) {
  static constexpr Fields fields{
      field<&PodResourceClaim::name>("name"),
      field<&PodResourceClaim::claimName>("resourceClaimName"),
      field<&PodResourceClaim::templateName>("resourceClaimTemplateName"),
  };
  return fields.read(in, out);
}

bool read(const In& in, PodSpec& out) {
  static constexpr Fields fields{
      field<&PodSpec::schedulerName>("schedulerName"),
      field<&PodSpec::priorityClassName>("priorityClassName"),
      field<&PodSpec::priority>("priority"),
      via<readPreemptionPolicy>("preemptionPolicy"),
      via<readRestartPolicy>("restartPolicy"),
      field<&PodSpec::hostNetwork>("hostNetwork"),
      field<&PodSpec::hostPid>("hostPID"),
      field<&PodSpec::hostIpc>("hostIPC"),
      field<&PodSpec::terminationGracePeriodSeconds>("terminationGracePeriodSeconds"),
      field<&PodSpec::activeDeadlineSeconds>("activeDeadlineSeconds"),
      field<&PodSpec::containers>("containers"),
      field<&PodSpec::initContainers>("initContainers"),
      field<&PodSpec::overhead>("overhead"),
      via<readPodResources>("resources"),
      field<&PodSpec::nodeSelector>("nodeSelector"),
      field<&PodSpec::affinity>("affinity"),
      field<&PodSpec::tolerations>("tolerations"),
      field<&PodSpec::spread>("topologySpreadConstraints"),
      via<readVolumes>("volumes"),
      via<readGates>("schedulingGates"),
      field<&PodSpec::resourceClaims>("resourceClaims"),
      field<&PodSpec::runtimeClassName>("runtimeClassName"),
      field<&PodSpec::serviceAccountName>("serviceAccountName"),
      via<readOs>("os"),
  };
  return fields.read(in, out);
}

}  // namespace mangrove::api
