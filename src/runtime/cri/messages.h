#pragma once
// What of the container runtime interface (runtime.v1) the runner says and hears: each message as a
// struct, written to and read from protobuf. Fields nobody here needs are skipped.
//
//   std::string bytes = write(RunSandbox{config, "runc"});
//   Result<ContainerStatus> status = readContainerStatus(answer);
//
// Pure; any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::runtime::cri {

using Texts = std::map<std::string, std::string>;

enum class NamespaceMode : uint8_t { kPod = 0, kContainer = 1, kNode = 2, kTarget = 3 };
struct Namespaces {
  NamespaceMode network = NamespaceMode::kPod;
  NamespaceMode pid = NamespaceMode::kContainer;
  NamespaceMode ipc = NamespaceMode::kPod;
  std::string target = {};  // the container whose processes are seen too
  bool operator==(const Namespaces&) const = default;
};

enum class Seccomp : uint8_t { kRuntimeDefault = 0, kUnconfined = 1, kLocalhost = 2 };
struct SeccompProfile {
  Seccomp type = Seccomp::kRuntimeDefault;
  std::string file = {};  // of kLocalhost
  bool operator==(const SeccompProfile&) const = default;
};

struct SandboxConfig {
  std::string name, uid, ns;
  uint32_t attempt = 0;
  std::string hostname, logDirectory;
  Texts labels, annotations;
  std::string cgroupParent;
  Namespaces namespaces;
  std::optional<int64_t> user, group;
  std::vector<int64_t> groups;
  bool privileged = false;
  Texts sysctls;
  bool operator==(const SandboxConfig&) const = default;
};

struct Mount {
  std::string source, target;
  bool readOnly = false;
  bool operator==(const Mount&) const = default;
};
struct Device {
  std::string path;  // the same inside and outside
  bool operator==(const Device&) const = default;
};

struct Resources {
  int64_t shares = 0;
  int64_t period = 0, quota = 0;  // 0: no limit
  int64_t memory = 0;
  int64_t oomScoreAdj = 0;
  bool operator==(const Resources&) const = default;
};

struct ContainerConfig {
  std::string name;
  uint32_t attempt = 0;
  std::string image;                       // as the runtime knows it
  std::string wantedImage;                 // as its pod names it
  std::vector<std::string> command, args;  // empty: the image's own
  std::string workingDir;
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<Mount> mounts;
  std::vector<Device> devices;
  Texts labels, annotations;
  std::string logPath;  // below the sandbox's
  bool openStdin = false, stdinOnce = false, tty = false;
  Resources resources;
  std::vector<std::string> addCapabilities, dropCapabilities;
  bool privileged = false;
  Namespaces namespaces;
  std::optional<int64_t> user, group;  // nullopt: the image's
  std::vector<int64_t> groups;
  bool readOnlyRoot = false;
  bool noNewPrivileges = false;
  std::vector<std::string> maskedPaths, readOnlyPaths;
  SeccompProfile seccomp;
  bool operator==(const ContainerConfig&) const = default;
};

struct Credentials {
  std::string username, password, auth, server, identityToken, registryToken;
  bool operator==(const Credentials&) const = default;
};

// ---- requests ----

std::string writeSandboxConfig(const SandboxConfig& config);
std::string writeRunSandbox(const SandboxConfig& config, std::string_view handler);
// Of the calls that take nothing but an id: stop, remove, start, reopen.
std::string writeId(std::string_view id);
std::string writeIdVerbose(std::string_view id);
std::string writeListSandboxes(const Texts& labels);
std::string writeListContainers(std::string_view sandbox);
std::string writeCreateContainer(std::string_view sandbox, const ContainerConfig& config,
                                 const SandboxConfig& pod);
std::string writeStopContainer(std::string_view id, int64_t seconds);
struct ExecOrder {
  std::string container;
  std::vector<std::string> command;
  bool tty = false, in = false, out = true, err = true;
};
std::string writeExecSync(const ExecOrder& order, int64_t seconds);
std::string writeExec(const ExecOrder& order);
std::string writeAttach(const ExecOrder& order);
std::string writeImage(std::string_view image);  // of ImageStatus and RemoveImage
std::string writePull(std::string_view image, const std::optional<Credentials>& credentials,
                      const SandboxConfig* pod);
std::string writeStatus(bool verbose);

// ---- answers ----

struct Version {
  std::string runtime, runtimeVersion;
};
struct RuntimeStatus {
  bool ready = false, networkReady = false;
  std::string trouble;  // why one of them is not
  Texts info;           // what it says of itself, JSON by name
};
struct Sandbox {
  std::string id, name, uid, ns;
  uint32_t attempt = 0;
  bool ready = false;
  int64_t createdAt = 0;
  std::string ip;  // of a status only
  Texts labels;
  Texts info;
};
enum class ContainerState : uint8_t { kCreated = 0, kRunning = 1, kExited = 2, kUnknown = 3 };
struct ContainerStatus {
  std::string id, name;
  uint32_t attempt = 0;
  ContainerState state = ContainerState::kUnknown;
  int64_t createdAt = 0, startedAt = 0, finishedAt = 0;  // ns since 1970
  int exitCode = 0;
  std::string image, imageRef, reason, message;
  Texts labels;
  Texts info;
};
struct Image {
  std::string id;
  std::vector<std::string> tags, digests;
  Bytes size;
  std::optional<int64_t> user;
  std::string userName;
  bool pinned = false;
};
struct ExecResult {
  std::string out, err;
  int exitCode = 0;
};

Result<Version> readVersion(std::string_view bytes);
Result<RuntimeStatus> readStatus(std::string_view bytes);
// The one text of an answer: an id, an image's reference, an address.
Result<std::string> readText(std::string_view bytes);
Result<std::vector<Sandbox>> readSandboxes(std::string_view bytes);
Result<Sandbox> readSandboxStatus(std::string_view bytes);
Result<std::vector<ContainerStatus>> readContainers(std::string_view bytes);
Result<ContainerStatus> readContainerStatus(std::string_view bytes);
Result<ExecResult> readExecResult(std::string_view bytes);
// nullopt: the runtime does not have it.
Result<std::optional<Image>> readImageStatus(std::string_view bytes);
Result<std::vector<Image>> readImages(std::string_view bytes);
struct ImageDisk {
  std::string mount;
  Bytes used;
};
Result<std::vector<ImageDisk>> readImageDisk(std::string_view bytes);

// The first process, from what a runtime says of itself when asked to be verbose ("info", JSON);
// 0 when it does not tell.
int64_t pidIn(const Texts& info);

}  // namespace mangrove::runtime::cri
