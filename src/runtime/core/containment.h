#pragma once
// How tightly a container is held: a pure function from what its pod asks for to what the shim does.
//
//   auto held = containmentOf(pod, *container.run, {.canMapUsers = true});
//   // held->view == View::kContained, held->capabilities has fourteen bits, held->seccomp
//
// Three views of the machine. Contained (the default): private copies of the machine's programs and
// configuration, nothing else of it. Machine: a privileged container; everything, devices included.
// Caller: what `mangrove run` makes; the files, network and processes of the one who called, and no
// capability that he would not have as this user.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/core/pod_model.h"

namespace mangrove::runtime {

enum class View { kContained, kMachine, kCaller };

// The one layer that a test switches off, to see that nothing else stopped the attempt before it.
// Words as in the annotation below; honoured only by a runner whose own environment permits it.
inline constexpr std::string_view kWithoutAnnotation = "mangrove.io/test-without";
inline constexpr std::string_view kWithoutSwitch = "MANGROVE_TEST_PROTECTIONS";
using Without = std::set<std::string, std::less<>>;  // "seccomp", "capabilities", …

// The pod runs as the command of a caller; the value is a file of his with the environment, which
// only he and root can read. May be set only by who may create privileged pods, and never changed.
inline constexpr std::string_view kCallerAnnotation = "mangrove.io/caller-environment";

struct Containment {
  View view = View::kContained;
  uint64_t capabilities = 0;    // one bit per number of the kernel's list
  bool noNewPrivileges = true;  // set-user-id programs give nothing
  bool seccomp = true;          // the filter of system calls
  bool maskKernel = true;       // parts of /proc and /sys hidden or read-only
  bool noDevices = true;        // device files on volumes and in private directories do nothing
  bool hideSecrets = true;      // of /etc, and the data directory
  bool own = true;              // private copies instead of the machine's directories
  bool operator==(const Containment&) const = default;
};

// kInvalid names a field that cannot be honoured, and what would be right.
Result<Containment> containmentOf(const RunPod& pod, const api::ContainerRun& run,
                                  const Without& without = {});

// What a container runtime gives by default: what packages' programs expect of root, nothing that
// reaches beyond the container.
uint64_t defaultCapabilities();
uint64_t allCapabilities();
std::optional<int> capabilityNumber(std::string_view name);  // "NET_ADMIN", "CAP_NET_ADMIN"

// The first of 65 536 users of the machine that stand for the pod's users, root first; 0: the pod
// uses the machine's own. Follows from the pod's uid, so a restart comes to the same.
int64_t firstUserOf(const RunPod& pod, bool kernelMaps, const Without& without = {});
inline constexpr int64_t kMappedUsers = 65'536;

// Whose environment the pod takes over; nullopt for ordinary pods.
std::optional<std::string> callerEnvironment(const RunPod& pod);
Without withoutOf(const RunPod& pod, bool permitted);

}  // namespace mangrove::runtime
