#pragma once
// `mangrove cni`: the pods' network as a plugin that a container runtime calls (CNI, 0.3.0 to
// 1.0.0). The addresses are given out by the runner before it asks for a sandbox; the plugin looks
// its pod's one up, joins the sandbox to the bridge and says what it did. It also stands in for the
// plugin `loopback`, which runtimes call for every sandbox.
//
//   return runCni(environment, standard input, out);     // the exit code
//
// readCni, leaseOf and the answers are pure but for files; runCni changes network namespaces and is
// for a process of its own.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::runtime {

struct CniCall {
  std::string command;  // ADD, DEL, CHECK, VERSION, GC, STATUS
  std::string netns, interface, podUid, podName;
  // From the configuration.
  std::string version = "0.4.0";
  std::string type, bridge, leases, mask, gateway;
};

using GetVariable = std::function<std::string(const char* name)>;
Result<CniCall> readCni(const GetVariable& variable, std::string_view configuration);

// What the runner gave the pod: the file in `dir` that holds its uid is named after the address.
// kNotFound when it has none: the pod is somebody else's.
Result<std::string> leaseOf(const std::string& dir, std::string_view uid);

// Answers as the specification wants them.
std::string cniAdded(const CniCall& call, const std::string& address, const std::string& hardware);
std::string cniLoopback(const CniCall& call);
std::string cniVersions(const CniCall& call);
std::string cniError(const CniCall& call, const Error& error);

int runCni(const GetVariable& variable, std::string_view configuration, std::string& answer);

// The configuration that names us, for the runtime's folder.
struct CniOptions {
  std::string bridge, leases, mask, gateway;
};
inline constexpr std::string_view kCniType = "mangrove-cni";
std::string cniConfiguration(const CniOptions& options);

}  // namespace mangrove::runtime
