#include "api/annotations/extended_resource.h"

#include "api/wire/schema.h"
#include "base/text/strings.h"

namespace mangrove::api {

static constexpr Schema kContainer{
    unlessUnset<&ExtendedResourceContainer::limits>("limits"),
    unlessUnset<&ExtendedResourceContainer::requests>("requests"),
};
bool read(const In& in, ExtendedResourceContainer& out) {
  return kContainer.read(in, out);
}
json::Value toJson(const ExtendedResourceContainer& value) {
  return kContainer.write(value);
}

static constexpr Schema kSpec{unlessUnset<&ExtendedResourceSpec::containers>("containers")};
bool read(const In& in, ExtendedResourceSpec& out) {
  return kSpec.read(in, out);
}
json::Value toJson(const ExtendedResourceSpec& value) {
  return kSpec.write(value);
}
Result<std::optional<ExtendedResourceSpec>> parseExtendedResourceSpec(const Annotations& pod) {
  return parseAnnotation<ExtendedResourceSpec>(pod, annotation::kExtendedResourceSpec);
}

std::optional<ReplacedResources> replacedResourcesOf(const Annotations& pod) {
  const auto text = pod.get(annotation::kReplaceResources);
  if (!text || text->empty()) return std::nullopt;
  ReplacedResources out;
  for (std::string_view entry : split(*text, ',')) {
    const Halves halves = cut(entry, ':');
    if (!halves.found || halves.after.find(':') != std::string_view::npos) continue;
    const std::string from(trim(halves.before));
    const std::string to(trim(halves.after));
    if (to.empty()) {
      out.erase.push_back(from);
    } else {
      out.replace[from] = to;
    }
  }
  return out;
}

std::string formatReplacedResources(const ReplacedResources& value) {
  std::vector<std::string> parts;
  for (const auto& [from, to] : value.replace) parts.push_back(from + ":" + to);
  for (const std::string& name : value.erase) parts.push_back(name + ":");
  return join(parts, ",");
}

}  // namespace mangrove::api
