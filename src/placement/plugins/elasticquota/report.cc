#include "placement/plugins/elasticquota/report.h"

#include <array>

#include "api/annotations/quota.h"
#include "base/text/time_text.h"

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

std::string sinceText(const Since& since) {
  std::map<std::string_view, WallTime> byName;
  for (const auto& [name, at] : since) byName[name.view()] = at;
  json::Object out;
  for (const auto& [name, at] : byName) out[name] = formatTime(at);
  return out.empty() ? "" : json::write(out);
}

Since sinceOf(const api::ElasticQuota& object) {
  Since out;
  const auto text = object.meta.annotations.get(kBorrowsSince);
  const auto read = json::parse(text.value_or("{}"));
  if (!read || !read->is_object()) return out;
  for (const auto& [name, at] : read->get_object())
    if (at.is_string())
      if (const auto time = parseTime(at.get_string())) out[Interned(name)] = *time;
  return out;
}

std::optional<json::Object> figuresPatch(const api::ElasticQuota& object,
                                         const QuotaNumbers& numbers, const json::Object& more) {
  json::Object annotations, body;
  for (const Figure& figure : kFigures) {
    const api::ResourceList amounts = quantitiesOf(numbers.*figure.number);
    if (!says(object, figure.key, amounts)) annotations[figure.key] = api::annotationText(amounts);
  }
  for (const auto& [key, wanted] : more) {
    const std::string_view text = wanted.is_string() ? std::string_view(wanted.get_string()) : "";
    const auto there = object.meta.annotations.get(key);
    if (there.value_or("") == text) continue;
    annotations[key] = text.empty() ? json::Value(nullptr) : wanted;
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
