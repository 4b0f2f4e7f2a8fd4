#include "placement/plugins/elasticquota/report.h"

#include <array>

#include "api/annotations/quota.h"

namespace mangrove::placement {

namespace {

namespace annotation = api::annotation;

struct Figure {
  std::string_view key;
  Amounts QuotaNumbers::*number;
};
constexpr std::array kFigures = {
    Figure{annotation::kQuotaRuntime, &QuotaNumbers::runtime},
    Figure{annotation::kQuotaRequest, &QuotaNumbers::request},
    Figure{annotation::kQuotaChildRequest, &QuotaNumbers::childRequest},
    Figure{annotation::kQuotaGuaranteed, &QuotaNumbers::guaranteed},
    Figure{annotation::kQuotaAllocated, &QuotaNumbers::allocated},
    Figure{annotation::kQuotaNonPreemptibleRequest, &QuotaNumbers::fixedRequest},
    Figure{annotation::kQuotaNonPreemptibleUsed, &QuotaNumbers::fixedUsed},
};

// Unreadable is as good as wrong: it is written anew.
bool says(const api::ElasticQuota& object, std::string_view key, const api::ResourceList& amounts) {
  const auto there = api::parseQuotaResources(object.meta.annotations, key);
  if (!there) return false;
  return *there ? (*there)->equalAmounts(amounts) : amounts.equalAmounts({});
}

}  // namespace

std::optional<json::Object> figuresPatch(const api::ElasticQuota& object,
                                         const QuotaNumbers& numbers) {
  json::Object annotations, body;
  for (const Figure& figure : kFigures) {
    const api::ResourceList amounts = quantitiesOf(numbers.*figure.number);
    if (!says(object, figure.key, amounts)) annotations[figure.key] = api::annotationText(amounts);
  }
  const api::ResourceList used = quantitiesOf(numbers.used);
  if (!annotations.empty()) body["metadata"] = json::Object{{"annotations", annotations}};
  if (!used.equalAmounts(object.status.used)) {
    api::ResourceList shown = used;
    for (const auto& [name, amount] : object.status.used)
      if (!used.has(name.view())) shown.set(name, Quantity());
    body["status"] = json::Object{{"used", shown.toJson()}};
  }
  if (body.empty()) return std::nullopt;
  return body;
}

}  // namespace mangrove::placement
