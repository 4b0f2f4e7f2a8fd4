#include "placement/device/templates.h"

#include <algorithm>

#include "base/number/quantity.h"
#include "base/text/strings.h"
#include "json/yaml.h"

namespace mangrove::placement {
namespace {

Result<Amounts> readAmounts(const json::Value& value) {
  if (!value.is_object()) return invalid("want a map from resources to amounts");
  Amounts out;
  for (const auto& [name, amount] : value.as_object()) {
    const std::string text =
        amount.is_string() ? std::string(amount.as_string()) : json::write(amount);
    const auto parsed = Quantity::parse(text);
    if (!parsed) return parsed.error().in("{}", std::string_view(name));
    out.set(Interned(std::string_view(name)), parsed->value());
  }
  return out;
}

}  // namespace

Result<TemplatesByModel> readGpuTemplates(std::string_view yaml) {
  if (trim(yaml).empty()) return TemplatesByModel();
  auto root = json::parseYamlDocument(yaml, "data.yaml");
  if (!root) return pass(root.error());
  TemplatesByModel out;
  if (root->is_null()) return out;
  if (!root->is_object()) return invalid("data.yaml: want a map from vendor-model to templates");
  for (const auto& [model, templates] : root->as_object()) {
    if (!templates.is_object())
      return invalid("data.yaml: {}: want a map from names to resources", std::string_view(model));
    for (const auto& [name, resources] : templates.as_object()) {
      auto amounts = readAmounts(resources);
      if (!amounts)
        return amounts.error().in("data.yaml: {}: {}", std::string_view(model),
                                  std::string_view(name));
      out[std::string(model)][std::string(name)] = std::move(*amounts);
    }
  }
  return out;
}

bool needsTemplate(const GpuTemplates& templates, const DeviceRequest& request) {
  return request.gpu && request.gpu->shared &&
         std::any_of(templates.matched.begin(), templates.matched.end(),
                     [&](Interned name) { return request.gpu->perGpu.has(name); });
}

bool isTemplateAnywhere(const GpuTemplates& templates, const Amounts& each) {
  for (const auto& [model, byName] : templates.byModel)
    for (const auto& [name, amounts] : byName)
      if (amounts.equalAmounts(each)) return true;
  return false;
}

}  // namespace mangrove::placement
