#pragma once
// What all parts of the runner know of this machine and of where they keep things. Values, fixed at
// start.

#include <functional>
#include <string>

#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "base/number/units.h"
#include "base/result.h"
#include "runtime/core/device_gear.h"

namespace mangrove::runtime {

// Which kinds of isolation this machine permits; found out once by trying.
struct Isolation {
  bool network = true;
  bool pids = true;
  bool mounts = true;
  bool ipc = true;
  // Without root: PID, mount and IPC namespaces come inside a user namespace of the pod's own.
  bool user = false;
  bool mapUsers = false;        // root inside a pod can be an unprivileged user outside
  std::string missing() const;  // "network, pid": what users are told; "" when all is there
};
// `dataDir`: where the pods' files will be.
Isolation probeIsolation(const std::string& dataDir);

// A container whose cgroup is made and whose first process is not there yet.
struct StartingContainer {
  std::string podUid, podCgroup;
  api::KubeQos qos{};
  std::string id, name;
  std::string cgroup;
};
// Whoever sets containers up beyond what their pods say; may block for a moment, called in a
// preparing thread. The container starts when it returns.
using BeforeStart = std::function<void(const StartingContainer&)>;

// What a container gets for the devices its pod was given; asked in a preparing thread. An error
// keeps the container from starting and is what the user reads.
using Equip = std::function<Result<DeviceGear>(const api::Pod& pod, std::string_view container)>;

struct NodeFacts {
  std::string nodeName;
  std::string hostIp;
  std::string dataDir;
  std::string program;  // our own binary, for shims and stand-ins
  MilliCpu cpu;
  Bytes memory;
  int64_t podPids = 4096;  // processes one pod may have
  Isolation isolation;
  bool testProtections = false;  // layers of containment may be switched off, pod by pod
  std::string nameServer;        // where pods ask for names; "": the machine's own resolvers
  BeforeStart beforeStart = {};  // null: nobody wants to know
  Equip equip = {};              // null: variables that name its cards are all a container gets
  std::string noWayOut;          // why pods do not reach beyond this machine; "": they do

  std::string podDir(std::string_view uid) const { return dataDir + "/pods/" + std::string(uid); }
  std::string logDir(std::string_view ns, std::string_view name, std::string_view uid) const;
};

}  // namespace mangrove::runtime
