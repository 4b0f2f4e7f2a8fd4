#pragma once
// What a runner of containers needs beyond pod.h: commands, environment, mounts, volumes, probes.
// Decoded from the same JSON, only for pods of one's own node, so that 50 000 cached pods do not
// pay for it.
//
//   auto run = decode<PodRun>(rawPod);
//   run->containers[0].command, run->volumes, run->containers[0].readiness
//
// Containers appear in the order of the spec, under the names that pod.h has. Values; const access
// from any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/wire/decode.h"

namespace mangrove::api {

struct KeyRef {  // a key of a ConfigMap or Secret
  std::string name;
  std::string key;
  bool optional = false;
};

struct EnvVar {
  std::string name;
  std::string value;                     // may hold $(OTHER)
  std::optional<std::string> fieldPath;  // valueFrom.fieldRef: metadata.name, status.podIP …
  struct ResourceField {
    std::string container;
    std::string resource;  // limits.cpu, requests.memory …
    std::optional<Quantity> divisor;
  };
  std::optional<ResourceField> resourceField;
  std::optional<KeyRef> configMap;
  std::optional<KeyRef> secret;
};

struct EnvFrom {
  std::string prefix;
  std::optional<KeyRef> configMap;  // every key
  std::optional<KeyRef> secret;
};

struct VolumeMount {
  std::string name;
  std::string mountPath;
  std::string subPath;
  std::string subPathExpr;
  bool readOnly = false;
};

struct HttpHeader {
  std::string name;
  std::string value;
};
struct HttpGet {
  std::string path;
  std::string host;
  std::string scheme = "HTTP";
  IntOrString port;  // a number or the name of a container port
  std::vector<HttpHeader> headers;
};
struct TcpSocket {
  std::string host;
  IntOrString port;
};
struct Grpc {
  int32_t port = 0;
  std::string service;
};
struct Exec {
  std::vector<std::string> command;
};

// Exactly one of the four; sleepSeconds only in lifecycle hooks.
struct Action {
  std::optional<Exec> exec;
  std::optional<HttpGet> httpGet;
  std::optional<TcpSocket> tcpSocket;
  std::optional<Grpc> grpc;
  std::optional<int64_t> sleepSeconds;
};

struct Probe {
  Action action;
  int32_t initialDelaySeconds = 0;
  int32_t timeoutSeconds = 1;
  int32_t periodSeconds = 10;
  int32_t successThreshold = 1;
  int32_t failureThreshold = 3;
  std::optional<int64_t> terminationGracePeriodSeconds;
};

struct SeccompProfile {
  std::string type;  // RuntimeDefault, Unconfined, Localhost
  std::string localhostProfile;
};
struct Sysctl {
  std::string name, value;
};

// Of a pod or of a container; fields that the other one has stay empty.
struct SecurityContext {
  std::optional<int64_t> runAsUser, runAsGroup, fsGroup;
  std::vector<int64_t> supplementalGroups;
  bool privileged = false;
  bool readOnlyRootFilesystem = false;
  std::optional<bool> runAsNonRoot;
  std::optional<bool> allowPrivilegeEscalation;
  std::vector<std::string> addCapabilities, dropCapabilities;  // without "CAP_", or ALL
  std::optional<SeccompProfile> seccomp;
  std::string procMount;
  std::vector<Sysctl> sysctls;
};

struct ContainerRun {
  std::string name;
  std::string image;
  std::vector<std::string> command;
  std::vector<std::string> args;
  std::string workingDir;
  std::string imagePullPolicy;
  std::vector<EnvVar> env;
  std::vector<EnvFrom> envFrom;
  std::vector<VolumeMount> mounts;
  std::optional<Probe> liveness, readiness, startup;
  std::optional<Action> postStart, preStop;
  SecurityContext security;
  std::string terminationMessagePath;
  std::string terminationMessagePolicy;
  bool tty = false;
  bool stdinOpen = false;
  bool stdinOnce = false;
  std::string targetContainer;  // of an ephemeral container: whose processes it sees
  struct ResizeRule {
    std::string resource;  // cpu, memory
    std::string restart;   // NotRequired, RestartContainer
  };
  std::vector<ResizeRule> resizePolicy;
};

struct KeyToPath {
  std::string key;
  std::string path;
  std::optional<int32_t> mode;
};
struct RunVolume {
  enum class Kind : uint8_t {
    kOther,
    kEmptyDir,
    kHostPath,
    kConfigMap,
    kSecret,
    kClaim,
    kProjected,
    kDownward
  };
  std::string name;
  Kind kind = Kind::kOther;
  std::string
      source;  // path, name of the ConfigMap, Secret or claim; the medium of an empty directory
  std::string hostPathType;
  std::optional<Quantity> sizeLimit;
  std::vector<KeyToPath> items;  // empty: all keys
  std::optional<int32_t> defaultMode;
  bool optional = false;
  bool readOnly = false;
  RawJson rest;  // the source as written, for projected and downward volumes
};

struct HostAlias {
  std::string ip;
  std::vector<std::string> hostnames;
};

struct DnsOption {
  std::string name, value;
};
struct DnsConfig {
  std::vector<std::string> nameservers, searches;
  std::vector<DnsOption> options;
};

struct PodRun {
  std::vector<ContainerRun> containers;
  std::vector<ContainerRun> initContainers;
  std::vector<ContainerRun> ephemeralContainers;
  std::vector<RunVolume> volumes;
  std::string hostname;
  std::string subdomain;
  std::string dnsPolicy;
  DnsConfig dnsConfig;
  std::string serviceAccountName;
  std::vector<std::string> imagePullSecrets;  // names
  std::vector<HostAlias> hostAliases;
  SecurityContext security;
  std::optional<bool> hostUsers;  // false: users of its own; true: the machine's
  bool shareProcessNamespace = false;
  bool setHostnameAsFqdn = false;
  bool automountToken = true;
};
bool read(const In& in, PodRun& out);  // of the whole pod object
bool read(const In& in, ContainerRun& out);
bool read(const In& in, Probe& out);

}  // namespace mangrove::api
