#pragma once
// How the machine's way out is divided: the system first, then services, then batch work, and a
// class of its own for a pod that asks for a limit. Pure functions, any thread.
//
//   auto plan = networkPlan({strategy, total, "eth0", members});      // classes 1:1 … 1:4
//
// On the wire of NodeSLO and annotations numbers are bits per second, in plans bytes.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/executor/net_plan.h"
#include "api/koordinator/resource_qos.h"
#include "api/pod/classes.h"
#include "base/number/quantity.h"

namespace mangrove::agent {

inline constexpr uint16_t kNetRoot = 1, kNetSystem = 2, kNetService = 3, kNetBatch = 4;
inline constexpr uint16_t kNetFirstOwn = 16;  // of pods with a limit of their own

// Of a percentage of the total (0 to 100, else nothing) or an amount of bits; bytes per second.
int64_t netShare(const std::optional<api::IntOrString>& share, int64_t totalBits);

struct NetPod {
  std::string uid;
  api::Qos qos = api::Qos::kNone;  // raw
  std::string address;             // "" of pods in the host's network
  std::optional<int64_t> limitBits;
  std::string dir = {};     // of pods in the host's network where cgroups are v2: their cgroup
  std::string second = {};  // the other address of a dual-stack pod
};
// The class each pod sends in, by uid: its QoS's, or one of its own when it has a limit.
std::map<std::string, uint16_t> netMinors(std::span<const NetPod> pods);

struct NetInputs {
  const api::ResourceQosStrategy& strategy;
  int64_t totalBits = 0;
  std::string device;
  std::vector<NetPod> pods;
  bool holdBatch = false;  // batch work gets what is its own and nothing of what others leave
};
// nullopt: nothing is known of the link's speed.
std::optional<NetPlan> networkPlan(const NetInputs& in);
// The class a pod sends in; nullopt: nobody's.
std::optional<uint16_t> netClassOf(api::Qos raw);
// net_cls.classid of a class.
int64_t classId(uint16_t minor);

// The device of the default route, from /proc/net/route; "" when there is none.
std::string defaultDevice(std::string_view routes);
// The same of IPv6, from /proc/net/ipv6_route.
std::string defaultDevice6(std::string_view routes);

}  // namespace mangrove::agent
