#include "api/pod/pod_run.h"

namespace mangrove::api {

// ---- environment and mounts ----

static bool read(const In& in, KeyRef& out) {
  static constexpr Fields fields{
      field<&KeyRef::name>("name"),
      field<&KeyRef::key>("key"),
      field<&KeyRef::optional>("optional"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, EnvVar::ResourceField& out) {
  using T = EnvVar::ResourceField;
  static constexpr Fields fields{
      field<&T::container>("containerName"),
      field<&T::resource>("resource"),
      field<&T::divisor>("divisor"),
  };
  return fields.read(in, out);
}

static bool readFieldRef(const In& in, EnvVar& out) {
  static constexpr Fields fields{field<&EnvVar::fieldPath>("fieldPath")};
  return fields.read(in, out);
}

static bool readValueFrom(const In& in, EnvVar& out) {
  static constexpr Fields fields{
      via<readFieldRef>("fieldRef"),
      field<&EnvVar::resourceField>("resourceFieldRef"),
      field<&EnvVar::configMap>("configMapKeyRef"),
      field<&EnvVar::secret>("secretKeyRef"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, EnvVar& out) {
  static constexpr Fields fields{
      field<&EnvVar::name>("name"),
      field<&EnvVar::value>("value"),
      via<readValueFrom>("valueFrom"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, EnvFrom& out) {
  static constexpr Fields fields{
      field<&EnvFrom::prefix>("prefix"),
      field<&EnvFrom::configMap>("configMapRef"),
      field<&EnvFrom::secret>("secretRef"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, VolumeMount& out) {
  static constexpr Fields fields{
      field<&VolumeMount::name>("name"),         field<&VolumeMount::mountPath>("mountPath"),
      field<&VolumeMount::subPath>("subPath"),   field<&VolumeMount::subPathExpr>("subPathExpr"),
      field<&VolumeMount::readOnly>("readOnly"),
  };
  return fields.read(in, out);
}

// ---- probes and hooks ----

static bool read(const In& in, HttpHeader& out) {
  static constexpr Fields fields{
      field<&HttpHeader::name>("name"),
      field<&HttpHeader::value>("value"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, HttpGet& out) {
  static constexpr Fields fields{
      field<&HttpGet::path>("path"),           field<&HttpGet::host>("host"),
      field<&HttpGet::scheme>("scheme"),       field<&HttpGet::port>("port"),
      field<&HttpGet::headers>("httpHeaders"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, TcpSocket& out) {
  static constexpr Fields fields{field<&TcpSocket::host>("host"), field<&TcpSocket::port>("port")};
  return fields.read(in, out);
}

static bool read(const In& in, Grpc& out) {
  static constexpr Fields fields{field<&Grpc::port>("port"), field<&Grpc::service>("service")};
  return fields.read(in, out);
}

static bool read(const In& in, Exec& out) {
  static constexpr Fields fields{field<&Exec::command>("command")};
  return fields.read(in, out);
}

static bool readSleep(const In& in, Action& out) {
  static constexpr Fields fields{field<&Action::sleepSeconds>("seconds")};
  return fields.read(in, out);
}

static bool read(const In& in, Action& out) {
  static constexpr Fields fields{
      field<&Action::exec>("exec"),
      field<&Action::httpGet>("httpGet"),
      field<&Action::tcpSocket>("tcpSocket"),
      field<&Action::grpc>("grpc"),
      via<readSleep>("sleep"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Probe& out) {
  static constexpr Fields fields{
      field<&Probe::initialDelaySeconds>("initialDelaySeconds"),
      field<&Probe::timeoutSeconds>("timeoutSeconds"),
      field<&Probe::periodSeconds>("periodSeconds"),
      field<&Probe::successThreshold>("successThreshold"),
      field<&Probe::failureThreshold>("failureThreshold"),
      field<&Probe::terminationGracePeriodSeconds>("terminationGracePeriodSeconds"),
  };
  return fields.read(in, out) && read(in, out.action);
}

static bool readLifecycle(const In& in, ContainerRun& out) {
  static constexpr Fields fields{
      field<&ContainerRun::postStart>("postStart"),
      field<&ContainerRun::preStop>("preStop"),
  };
  return fields.read(in, out);
}

// ---- containers ----

static bool readCapabilities(const In& in, SecurityContext& out) {
  static constexpr Fields fields{
      field<&SecurityContext::addCapabilities>("add"),
      field<&SecurityContext::dropCapabilities>("drop"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, SeccompProfile& out) {
  static constexpr Fields fields{
      field<&SeccompProfile::type>("type"),
      field<&SeccompProfile::localhostProfile>("localhostProfile"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, Sysctl& out) {
  static constexpr Fields fields{field<&Sysctl::name>("name"), field<&Sysctl::value>("value")};
  return fields.read(in, out);
}

static bool read(const In& in, SecurityContext& out) {
  using T = SecurityContext;
  static constexpr Fields fields{
      field<&T::runAsUser>("runAsUser"),
      field<&T::runAsGroup>("runAsGroup"),
      field<&T::fsGroup>("fsGroup"),
      field<&T::supplementalGroups>("supplementalGroups"),
      field<&T::privileged>("privileged"),
      field<&T::readOnlyRootFilesystem>("readOnlyRootFilesystem"),
      field<&T::runAsNonRoot>("runAsNonRoot"),
      field<&T::allowPrivilegeEscalation>("allowPrivilegeEscalation"),
      via<readCapabilities>("capabilities"),
      field<&T::seccomp>("seccompProfile"),
      field<&T::procMount>("procMount"),
      field<&T::sysctls>("sysctls"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, ContainerRun::ResizeRule& out) {
  using T = ContainerRun::ResizeRule;
  static constexpr Fields fields{field<&T::resource>("resourceName"),
                                 field<&T::restart>("restartPolicy")};
  return fields.read(in, out);
}

bool read(const In& in, ContainerRun& out) {
  using T = ContainerRun;
  static constexpr Fields fields{
      field<&T::name>("name"),
      field<&T::image>("image"),
      field<&T::command>("command"),
      field<&T::args>("args"),
      field<&T::workingDir>("workingDir"),
      field<&T::imagePullPolicy>("imagePullPolicy"),
      field<&T::env>("env"),
      field<&T::envFrom>("envFrom"),
      field<&T::mounts>("volumeMounts"),
      field<&T::liveness>("livenessProbe"),
      field<&T::readiness>("readinessProbe"),
      field<&T::startup>("startupProbe"),
      via<readLifecycle>("lifecycle"),
      field<&T::security>("securityContext"),
      field<&T::terminationMessagePath>("terminationMessagePath"),
      field<&T::terminationMessagePolicy>("terminationMessagePolicy"),
      field<&T::tty>("tty"),
      field<&T::stdinOpen>("stdin"),
      field<&T::stdinOnce>("stdinOnce"),
      field<&T::targetContainer>("targetContainerName"),
      field<&T::resizePolicy>("resizePolicy"),
  };
  return fields.read(in, out);
}

// ---- volumes ----

static bool read(const In& in, KeyToPath& out) {
  static constexpr Fields fields{
      field<&KeyToPath::key>("key"),
      field<&KeyToPath::path>("path"),
      field<&KeyToPath::mode>("mode"),
  };
  return fields.read(in, out);
}

template <RunVolume::Kind kind>
static bool readSource(const In& in, RunVolume& out) {
  using T = RunVolume;
  static constexpr Fields fields{
      field<&T::source>("medium"),
      field<&T::source>("path"),
      field<&T::source>("name"),
      field<&T::source>("secretName"),
      field<&T::source>("claimName"),
      field<&T::hostPathType>("type"),
      field<&T::sizeLimit>("sizeLimit"),
      field<&T::items>("items"),
      field<&T::defaultMode>("defaultMode"),
      field<&T::optional>("optional"),
      field<&T::readOnly>("readOnly"),
  };
  out.kind = kind;
  return fields.read(in, out);
}

template <RunVolume::Kind kind>
static bool readRaw(const In& in, RunVolume& out) {
  out.kind = kind;
  return read(in, out.rest);
}

static bool read(const In& in, RunVolume& out) {
  using Kind = RunVolume::Kind;
  static constexpr Fields fields{
      field<&RunVolume::name>("name"),
      via<readSource<Kind::kEmptyDir>>("emptyDir"),
      via<readSource<Kind::kHostPath>>("hostPath"),
      via<readSource<Kind::kConfigMap>>("configMap"),
      via<readSource<Kind::kSecret>>("secret"),
      via<readSource<Kind::kClaim>>("persistentVolumeClaim"),
      via<readRaw<Kind::kProjected>>("projected"),
      via<readRaw<Kind::kDownward>>("downwardAPI"),
  };
  return fields.read(in, out);
}

// ---- the pod ----

static bool read(const In& in, HostAlias& out) {
  static constexpr Fields fields{
      field<&HostAlias::ip>("ip"),
      field<&HostAlias::hostnames>("hostnames"),
  };
  return fields.read(in, out);
}

static bool read(const In& in, DnsOption& out) {
  static constexpr Fields fields{field<&DnsOption::name>("name"),
                                 field<&DnsOption::value>("value")};
  return fields.read(in, out);
}

static bool read(const In& in, DnsConfig& out) {
  static constexpr Fields fields{
      field<&DnsConfig::nameservers>("nameservers"),
      field<&DnsConfig::searches>("searches"),
      field<&DnsConfig::options>("options"),
  };
  return fields.read(in, out);
}

struct NamedRef {
  std::string name;
};
static bool read(const In& in, NamedRef& out) {
  static constexpr Fields fields{field<&NamedRef::name>("name")};
  return fields.read(in, out);
}

static bool readPullSecrets(const In& in, PodRun& out) {
  std::vector<NamedRef> refs;
  if (!read(in, refs)) return false;
  for (auto& one : refs) out.imagePullSecrets.push_back(std::move(one.name));
  return true;
}

static bool readSpec(const In& in, PodRun& out) {
  static constexpr Fields fields{
      field<&PodRun::containers>("containers"),
      field<&PodRun::initContainers>("initContainers"),
      field<&PodRun::ephemeralContainers>("ephemeralContainers"),
      field<&PodRun::volumes>("volumes"),
      field<&PodRun::hostname>("hostname"),
      field<&PodRun::subdomain>("subdomain"),
      field<&PodRun::dnsPolicy>("dnsPolicy"),
      field<&PodRun::dnsConfig>("dnsConfig"),
      field<&PodRun::serviceAccountName>("serviceAccountName"),
      via<readPullSecrets>("imagePullSecrets"),
      field<&PodRun::hostAliases>("hostAliases"),
      field<&PodRun::security>("securityContext"),
      field<&PodRun::hostUsers>("hostUsers"),
      field<&PodRun::shareProcessNamespace>("shareProcessNamespace"),
      field<&PodRun::setHostnameAsFqdn>("setHostnameAsFQDN"),
      field<&PodRun::automountToken>("automountServiceAccountToken"),
  };
  return fields.read(in, out);
}

bool read(const In& in, PodRun& out) {
  static constexpr Fields fields{via<readSpec>("spec")};
  return fields.read(in, out);
}

}  // namespace mangrove::api
