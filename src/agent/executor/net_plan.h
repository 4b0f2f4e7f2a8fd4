#pragma once
// Classes of the network: who gets how much of the machine's way out. The plan is a value; a
// NetShaper carries it out.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::agent {

struct NetClass {
  uint16_t minor = 0;  // of 1:minor
  int64_t rate = 0;    // bytes per second that are its own
  int64_t ceil = 0;    // … that it may use when others do not
  uint32_t priority = 0;
  bool operator==(const NetClass&) const = default;
};

// A pod's address and the class it sends in.
struct NetMember {
  std::string address;
  uint16_t minor = 0;
  bool operator==(const NetMember&) const = default;
};

// A pod in the host's network and the class it sends in: by its cgroup, under v2.
struct NetGroup {
  std::string dir;  // absolute
  uint16_t minor = 0;
  bool operator==(const NetGroup&) const = default;
};

struct NetPlan {
  std::string device;
  std::vector<NetClass> classes;  // the first is the parent of the others
  uint16_t fallback = 0;          // of traffic that nobody claims
  std::vector<NetMember> members;
  std::vector<NetGroup> groups = {};
  bool operator==(const NetPlan&) const = default;
};

class NetShaper {
 public:
  virtual ~NetShaper() = default;
  // Replaces what is on the device.
  virtual Result<> apply(const NetPlan& plan) = 0;
  virtual Result<> remove(const std::string& device) = 0;
  // True when the device has our root (somebody may have taken it away).
  virtual Result<bool> isThere(const std::string& device) = 0;
};

}  // namespace mangrove::agent
