#pragma once
// What a pod's shim is told about one run of a container: everything decided already, nothing of
// Kubernetes left in it. Written to a file by the runner, read by the shim.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::runtime {

struct MountSpec {
  std::string source;
  std::string target;  // in the container
  bool readOnly = false;
  bool isFile = false;
  std::string sub = "";  // beneath the source; made if it is not there
};

// What of the machine the container sees (core/containment.h).
inline constexpr std::string_view kViewContained = "contained", kViewMachine = "machine",
                                  kViewCaller = "caller";

struct ContainerSpecFile {
  std::string name;
  std::string id;  // 64 hexadecimal digits, one per run
  int64_t attempt = 0;
  std::vector<std::string> argv;
  std::vector<std::string> env;  // NAME=value
  std::string cwd = "/";
  int64_t uid = 0, gid = 0;
  std::vector<int64_t> groups;
  std::vector<std::string>
      cgroups;  // directories to join, below the root, e.g. sys/fs/cgroup/cpu/…
  std::string logPath;
  int64_t logMaxBytes = 10 * 1024 * 1024;  // the kubelet's defaults
  int64_t logMaxFiles = 5;
  std::string scratch;  // a directory of this run: its /tmp, /run, /var/log, upper layers
  std::vector<MountSpec> mounts;
  std::vector<std::string> devices;  // files of the machine's /dev that the container has too
  std::string messagePath = "/dev/termination-log";  // in the container
  int64_t oomScoreAdj = 0;
  bool ownPids = true;     // a PID namespace
  bool sharePids = false;  // the pod's one, with all its containers
  std::string pidsOf;      // the one of that container, if it runs
  bool ownMounts = true;   // a mount namespace with private directories and the mounts above
  std::string view{kViewContained};
  bool ownRoot = true;       // contained: private copies of the machine's directories
  int64_t capabilities = 0;  // one bit per number
  bool noNewPrivileges = true;
  std::string filter;               // file with the program of system calls; "": none
  bool maskKernel = true;           // parts of /proc and /sys hidden or read-only
  bool noDevices = true;            // device files in volumes and copies do nothing
  std::vector<std::string> hidden;  // paths of the machine that its copies leave out
  std::string dataDir;              // ours, in no copy; "": may be seen
  int64_t firstUser = 0;  // of the machine's users that stand for the pod's; 0: the same ones
  bool readOnlyRoot = false;
  bool tty = false;
  bool openStdin = false;
  bool stdinOnce = false;

  std::string text() const;  // JSON
  static Result<ContainerSpecFile> parse(std::string_view text);
};

}  // namespace mangrove::runtime
