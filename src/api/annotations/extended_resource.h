#pragma once
// Resources that the pod spec cannot show to everybody: extended-resource-spec repeats batch
// requests for readers below the kubelet, replace-resources renames resources before scheduling.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/annotations/annotation.h"
#include "api/pod/resource_list.h"

namespace mangrove::api {

struct ExtendedResourceContainer {
  ResourceList limits;
  ResourceList requests;
  bool operator==(const ExtendedResourceContainer&) const = default;
};
bool read(const In& in, ExtendedResourceContainer& out);
json::Value toJson(const ExtendedResourceContainer& value);

struct ExtendedResourceSpec {
  std::map<std::string, ExtendedResourceContainer> containers;
  bool operator==(const ExtendedResourceSpec&) const = default;
};
bool read(const In& in, ExtendedResourceSpec& out);
json::Value toJson(const ExtendedResourceSpec& value);
Result<std::optional<ExtendedResourceSpec>> parseExtendedResourceSpec(const Annotations& pod);

// "a:b,c:d,e:" — a becomes b, c becomes d, e is erased. Blanks around names are dropped, entries
// without exactly one colon skipped: never an error.
struct ReplacedResources {
  std::map<std::string, std::string> replace;
  std::vector<std::string> erase;
  bool operator==(const ReplacedResources&) const = default;
};
std::optional<ReplacedResources> replacedResourcesOf(
    const Annotations& pod);  // nullopt: absent or ""
std::string formatReplacedResources(const ReplacedResources& value);

}  // namespace mangrove::api
