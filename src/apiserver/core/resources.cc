#include "apiserver/core/resources.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::apiserver {

Interned Resources::storedName(std::string_view group, std::string_view plural) {
  // The two groups of events are two views of the same objects.
  if (group == "events.k8s.io") group = "";
  return group.empty() ? Interned(plural) : Interned(fmt::format("{}.{}", plural, group));
}

Resources::Resources() {
  for (const auto& kind : catalogue().kinds()) {
    auto resource = std::make_shared<Resource>();
    resource->kind = kind;
    resource->stored = storedName(kind->group, kind->plural);
    resource->storageApiVersion = kind->storedApiVersion();
    all_.push_back(std::move(resource));
  }
}

ResourcePtr Resources::find(std::string_view group, std::string_view version,
                            std::string_view plural) const {
  for (const auto& r : all_) {
    if (r->kind->plural == plural && r->kind->group == group && r->kind->version == version)
      return r;
  }
  return nullptr;
}

ResourcePtr Resources::findKind(std::string_view group, std::string_view version,
                                std::string_view kind) const {
  for (const auto& r : all_) {
    if (r->kind->kind == kind && r->kind->group == group && r->kind->version == version) return r;
  }
  return nullptr;
}

ResourcePtr Resources::findStored(Interned stored) const {
  ResourcePtr any;
  for (const auto& r : all_) {
    if (r->stored != stored) continue;
    if (r->storageApiVersion == r->kind->apiVersion()) return r;
    any = r;
  }
  return any;
}

void Resources::putCustom(std::string_view group, std::string_view plural,
                          std::vector<ResourcePtr> versions) {
  removeCustom(group, plural);
  all_.insert(all_.end(), versions.begin(), versions.end());
  ++generation_;
}

void Resources::removeCustom(std::string_view group, std::string_view plural) {
  auto isIt = [&](const ResourcePtr& r) {
    return r->kind->isCustom && r->kind->group == group && r->kind->plural == plural;
  };
  if (std::erase_if(all_, isIt) > 0) ++generation_;
}

}  // namespace mangrove::apiserver
