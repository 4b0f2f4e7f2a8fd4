#include "api/workload/components.h"

#include "api/wire/names.h"

namespace mangrove::api {
namespace {

struct Interpreter {
  std::string_view resource;
  Result<std::vector<Component>> (*components)(json::View object);
};
constexpr Interpreter kInterpreters[] = {
    {"sparkapplications", &sparkComponents},
    {"flinkdeployments", &flinkComponents},
    {"pytorchjobs", &replicaSpecComponents},
    {"tfjobs", &replicaSpecComponents},
    {"mpijobs", &replicaSpecComponents},
    {"trainjobs", &trainJobComponents},
    {"rayjobs", &rayComponents},
    {"jobs", &jobComponents},
};

}  // namespace

bool read(const In& in, NodeClaim& out) {
  static constexpr Fields fields{
      field<&NodeClaim::nodeSelector>("nodeSelector"),
      field<&NodeClaim::tolerations>("tolerations"),
      field<&NodeClaim::affinity>("affinity"),
      field<&NodeClaim::priorityClassName>("priorityClassName"),
      field<&NodeClaim::schedulerName>("schedulerName"),
  };
  return fields.read(in, out);
}

bool readSettings(const In& in, Settings& out) {
  if (!in.view.isObject()) return in.wants("an object");
  for (auto [key, value] : in.view.members()) {
    RawJson raw;
    std::string& text = out[std::string(key)];
    if (value.isString() ? !read(in.member(key, value), text) : !read(in.member(key, value), raw))
      return false;
    if (!value.isString()) text = raw.text;
  }
  return true;
}

Result<std::optional<std::vector<Component>>> componentsOf(std::string_view resource,
                                                           json::View object) {
  for (const Interpreter& one : kInterpreters) {
    if (one.resource != resource) continue;
    auto parts = one.components(object);
    if (!parts) return pass(parts.error());
    return std::move(*parts);
  }
  return std::nullopt;
}

ResourceList times(const ResourceList& one, int64_t count) {
  ResourceList out, power = one;
  for (int64_t left = count; left > 0; left >>= 1) {
    if ((left & 1) != 0) out.add(power);
    power.add(ResourceList(power));
  }
  return out;
}

ResourceList atLeast(const std::vector<Component>& components) {
  ResourceList out;
  for (const Component& one : components) out.add(times(one.requests, one.minReplicas));
  return out;
}

ResourceList inBand(const ResourceList& native, PriorityBand band) {
  ResourceList out;
  for (const auto& [name, amount] : native) {
    const std::string_view translatedName = translated(name.view(), band);
    const std::string_view sold = translatedName.empty() ? name.view() : translatedName;
    const bool isCores = name.view() == resource::kCpu && sold != resource::kCpu;
    out.set(sold, isCores ? Quantity::of(amount.milliValue()) : amount);
  }
  return out;
}

}  // namespace mangrove::api
