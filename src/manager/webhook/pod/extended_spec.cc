#include "manager/webhook/pod/extended_spec.h"

#include <string>

#include "api/wire/names.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

namespace resource = api::resource;

api::ResourceList batchOf(const json::Object& resources, std::string_view part) {
  api::ResourceList out;
  const json::Object* list = findObject(resources, part);
  if (list == nullptr) return out;
  for (std::string_view name : {resource::kBatchCpu, resource::kBatchMemory})
    if (auto amount = amountIn(*list, name)) out.set(name, *amount);
  return out;
}

void collect(const json::Object& podSpec, std::string_view list, api::ExtendedResourceSpec& out) {
  const json::Array* containers = findArray(podSpec, list);
  if (containers == nullptr) return;
  for (const json::Value& element : *containers) {
    const json::Object* container = element.if_object();
    const json::Object* resources = container ? findObject(*container, "resources") : nullptr;
    if (resources == nullptr) continue;
    api::ExtendedResourceContainer entry{batchOf(*resources, "limits"),
                                         batchOf(*resources, "requests")};
    if (entry.limits.empty() && entry.requests.empty()) continue;
    out.containers[std::string(textIn(*container, "name").value_or(""))] = std::move(entry);
  }
}

}  // namespace

api::ExtendedResourceSpec batchSpecOf(const json::Object& podSpec) {
  api::ExtendedResourceSpec out;
  collect(podSpec, kInitContainers, out);
  collect(podSpec, kContainers, out);
  return out;
}

Result<> writeExtendedSpec(json::Object& pod) {
  const json::Object* podSpec = findObject(pod, "spec");
  if (podSpec == nullptr) return {};
  const api::ExtendedResourceSpec wanted = batchSpecOf(*podSpec);
  const auto present = annotationOf(pod, api::annotation::kExtendedResourceSpec);
  if (!present && wanted.containers.empty()) return {};
  if (present) {
    auto read = api::decodeLikeGo<api::ExtendedResourceSpec>(*present);
    if (!read) return read.error().in("annotation {}", api::annotation::kExtendedResourceSpec);
    if (*read && **read == wanted) return {};
  }
  setText(objectIn(metadataOf(pod), "annotations"), api::annotation::kExtendedResourceSpec,
          api::annotationText(wanted));
  return {};
}

}  // namespace mangrove::manager
