#pragma once
// Kubernetes' own devices (resource.k8s.io/v1): what drivers offer in slices, sorts of devices,
// claims of pods and what was given for them. As far as an allocator needs it; what it does not
// serve is kept as a word for the refusal (DeviceRequest::unserved).
//
// Values; const access from any thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/object/meta.h"
#include "api/select/label_selector.h"
#include "api/wire/decode.h"

namespace mangrove::api {

// Exactly one of them is set.
struct DeviceAttribute {
  std::optional<int64_t> number;
  std::optional<bool> truth;
  std::optional<std::string> text;
  std::optional<std::string> version;
  bool operator==(const DeviceAttribute&) const = default;
};
bool read(const In& in, DeviceAttribute& out);

struct OfferedCapacity {
  Quantity value;
  bool operator==(const OfferedCapacity&) const = default;
};
bool read(const In& in, OfferedCapacity& out);

struct DeviceTaint {
  std::string key, value, effect;
  bool operator==(const DeviceTaint&) const = default;
};
bool read(const In& in, DeviceTaint& out);

struct DeviceToleration {
  std::string key, op, value, effect;
  bool tolerates(const DeviceTaint& taint) const;
  bool operator==(const DeviceToleration&) const = default;
};
bool read(const In& in, DeviceToleration& out);

struct OfferedDevice {
  std::string name;
  std::map<std::string, DeviceAttribute> attributes;  // "memory", "gpu.example.com/memory"
  std::map<std::string, OfferedCapacity> capacity;
  std::vector<DeviceTaint> taints;
  std::string nodeName;  // where a slice leaves it to its devices
  std::optional<NodeSelector> nodeSelector;
  bool allNodes = false;
  // It is one of several ways to cut the same hardware, or can be given to several at once, or waits
  // for conditions: such a device is passed over.
  std::string special;
};
bool read(const In& in, OfferedDevice& out);

struct ResourceSlice {
  ObjectMeta meta;
  std::string driver;
  std::string pool;
  int64_t generation = 0;  // of the pool: older slices do not count any more
  int64_t slices = 0;      // that the pool has in this generation
  std::string nodeName;
  std::optional<NodeSelector> nodeSelector;
  bool allNodes = false;
  std::vector<OfferedDevice> devices;
};
bool read(const In& in, ResourceSlice& out);

struct DeviceClass {
  ObjectMeta meta;
  std::vector<std::string> selectors;  // expressions
  std::string config;                  // JSON of the list; "" for none
};
bool read(const In& in, DeviceClass& out);

struct DeviceRequest {
  std::string name;
  std::string deviceClass;
  std::vector<std::string> selectors;  // expressions
  bool all = false;                    // every device that matches, instead of `count`
  int64_t count = 1;
  std::vector<DeviceToleration> tolerations;
  std::string unserved;  // what it asks for that no allocator here does; "" for nothing
};
bool read(const In& in, DeviceRequest& out);

struct DeviceConstraint {
  std::vector<std::string> requests;  // empty: all
  std::string matchAttribute;         // all devices have the same value of it, or
  std::string distinctAttribute;      // each another one
};
bool read(const In& in, DeviceConstraint& out);

struct GivenDevice {
  std::string request, driver, pool, device;
  bool adminAccess = false;  // looks at it while others have it
  bool operator==(const GivenDevice&) const = default;
};
bool read(const In& in, GivenDevice& out);

struct ClaimAllocation {
  std::vector<GivenDevice> devices;
  std::optional<NodeSelector> nodes;  // unset: everywhere
};

struct ClaimConsumer {
  std::string apiGroup, resource, name, uid;
  bool operator==(const ClaimConsumer&) const = default;
};
bool read(const In& in, ClaimConsumer& out);

struct ResourceClaim {
  ObjectMeta meta;
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::string config;  // JSON of the list; "" for none
  std::optional<ClaimAllocation> allocation;
  std::vector<ClaimConsumer> reservedFor;
};
bool read(const In& in, ResourceClaim& out);

// Of a claim made from a template: which of the pod's claims it is.
inline constexpr std::string_view kPodClaimName = "resource.kubernetes.io/pod-claim-name";
// Keeps a claim that is allocated from going while somebody may use its devices.
inline constexpr std::string_view kClaimFinalizer = "resource.kubernetes.io/delete-protection";
// So many pods may share one claim.
inline constexpr size_t kMostConsumers = 256;

}  // namespace mangrove::api
