#pragma once
// Kubernetes' claims of devices as the scheduler sees them: what the server has, and what we have
// given and the server does not show yet. One truth for all profiles.
//
//   dra.put("default/gpu", claim);  dra.drop("default/gpu");
//   dra.promise("default/gpu", {given, "n1"}, consumer);   // until the server shows it
//   for (const std::string& device : dra.inUse()) …        // "driver/pool/device"
//
// Owner thread only.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/dynamic_resources.h"
#include "placement/cluster/storage.h"

namespace mangrove::placement {

std::string deviceKey(const api::GivenDevice& device);

// What a claim is to have.
struct ClaimPromise {
  std::vector<api::GivenDevice> devices;
  std::string node;  // "": it may be used everywhere
  std::vector<api::ClaimConsumer> consumers;
  bool shown = false;  // the server has the allocation; consumers may still be on their way
};

class ClaimBook {
 public:
  using ClaimPtr = std::shared_ptr<const api::ResourceClaim>;
  ObjectMap<api::DeviceClass> classes;
  ObjectMap<api::ResourceSlice> slices;

  void put(std::string_view key, ClaimPtr claim);  // null: gone
  ClaimPtr find(std::string_view key) const { return claims_.find(key); }
  // The claim that was made for a pod from a template; "": none yet.
  std::string madeFor(std::string_view ns, std::string_view pod, std::string_view claimName) const;

  const ClaimPromise* promised(std::string_view key) const;
  void promise(const std::string& key, ClaimPromise promise, const api::ClaimConsumer& consumer);
  // The consumer will not come after all.
  void breakPromise(const std::string& key, std::string_view consumerUid);
  const std::set<std::string>& inUse() const;

  uint64_t generation() const { return generation_; }
  void changed() { generation_++; }

 private:
  ObjectMap<api::ResourceClaim> claims_;
  std::map<std::string, std::string, std::less<>> made_;  // "ns/pod/claim name" → key
  std::map<std::string, ClaimPromise, std::less<>> promises_;
  uint64_t generation_ = 1;
  mutable std::set<std::string> inUse_;
  mutable uint64_t inUseOf_ = 0;
};

}  // namespace mangrove::placement
