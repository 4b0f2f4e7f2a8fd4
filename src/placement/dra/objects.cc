#include "placement/dra/objects.h"

#include <algorithm>

#include <fmt/format.h>

namespace mangrove::placement {
namespace {

std::string madeKey(std::string_view ns, std::string_view pod, std::string_view claimName) {
  return fmt::format("{}/{}/{}", ns, pod, claimName);
}

// "": it was not made for a pod.
std::string madeKeyOf(const api::ResourceClaim& claim) {
  const auto name = claim.meta.annotations.get(api::kPodClaimName);
  if (!name) return "";
  for (const api::OwnerReference& owner : *claim.meta.owners)
    if (owner.kind == "Pod") return madeKey(claim.meta.ns.view(), owner.name.view(), *name);
  return "";
}

bool has(const std::vector<api::ClaimConsumer>& all, std::string_view uid) {
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.uid == uid; });
}

}  // namespace

std::string deviceKey(const api::GivenDevice& device) {
  return fmt::format("{}/{}/{}", device.driver, device.pool, device.device);
}

void ClaimBook::put(std::string_view key, ClaimPtr claim) {
  changed();
  if (const ClaimPtr before = claims_.find(key))
    if (const auto made = made_.find(madeKeyOf(*before));
        made != made_.end() && made->second == key)
      made_.erase(made);
  const auto promise = promises_.find(key);
  if (!claim) {
    claims_.erase(key);
    if (promise != promises_.end()) promises_.erase(promise);
    return;
  }
  if (const std::string made = madeKeyOf(*claim); !made.empty()) made_[made] = std::string(key);
  if (promise != promises_.end() && claim->allocation) {
    promise->second.shown = true;
    std::erase_if(promise->second.consumers,
                  [&](const auto& one) { return has(claim->reservedFor, one.uid); });
    if (promise->second.consumers.empty()) promises_.erase(promise);
  }
  claims_.put(std::string(key), std::move(claim));
}

std::string ClaimBook::madeFor(std::string_view ns, std::string_view pod,
                               std::string_view claimName) const {
  const auto at = made_.find(madeKey(ns, pod, claimName));
  return at == made_.end() ? "" : at->second;
}

const ClaimPromise* ClaimBook::promised(std::string_view key) const {
  const auto at = promises_.find(key);
  return at == promises_.end() ? nullptr : &at->second;
}

void ClaimBook::promise(const std::string& key, ClaimPromise promise,
                        const api::ClaimConsumer& consumer) {
  const auto at = promises_.try_emplace(key, std::move(promise)).first;
  if (!has(at->second.consumers, consumer.uid)) at->second.consumers.push_back(consumer);
  changed();
}

void ClaimBook::breakPromise(const std::string& key, std::string_view consumerUid) {
  const auto at = promises_.find(key);
  if (at == promises_.end()) return;
  std::erase_if(at->second.consumers, [&](const auto& one) { return one.uid == consumerUid; });
  if (at->second.consumers.empty()) promises_.erase(at);
  changed();
}

const std::set<std::string>& ClaimBook::inUse() const {
  if (std::exchange(inUseOf_, generation_) == generation_) return inUse_;
  inUse_.clear();
  for (const auto& [key, claim] : claims_) {
    if (!claim->allocation) continue;
    for (const api::GivenDevice& device : claim->allocation->devices)
      if (!device.adminAccess) inUse_.insert(deviceKey(device));
  }
  for (const auto& [key, promise] : promises_)
    for (const api::GivenDevice& device : promise.devices) inUse_.insert(deviceKey(device));
  return inUse_;
}

}  // namespace mangrove::placement
