#include "apiserver/lifecycle/stored_fields.h"

namespace mangrove::apiserver {

store::ResourceSpec storedFields(const std::shared_ptr<const KindInfo>& kind, Interned stored) {
  store::ResourceSpec spec{.name = stored};
  for (std::string_view name : kind->selectable) {
    store::FieldSpec field{.name = std::string(name)};
    // What schedulers and node agents ask for all day.
    field.indexed = kind->group.empty() && kind->plural == "pods" && name == "spec.nodeName";
    field.read = [kind, name](json::View object) { return extractField(*kind, name, object); };
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

std::vector<store::ResourceSpec> storedFields(const Resources& resources) {
  std::vector<store::ResourceSpec> specs;
  for (const auto& resource : resources.all()) {
    // A second view of the same objects has its fields in the same order.
    const bool own = resource->kind->apiVersion() == resource->storageApiVersion;
    if (own && resource->kind->can("list"))
      specs.push_back(storedFields(resource->kind, resource->stored));
  }
  return specs;
}

}  // namespace mangrove::apiserver
