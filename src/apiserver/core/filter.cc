#include "apiserver/core/filter.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

bool listed(const api::Requirement& requirement, std::string_view value) {
  const auto& values = requirement.values();
  return std::any_of(values.begin(), values.end(), [&](Interned v) { return v.view() == value; });
}

bool compares(const api::Requirement& requirement, std::string_view value, bool greater) {
  auto left = parseInt<int64_t>(value);
  auto right = parseInt<int64_t>(requirement.values().front().view());
  return left && right && (greater ? *left > *right : *left < *right);
}

}  // namespace

bool holds(const api::Requirement& requirement, const store::PackedPairs& labels) {
  using api::Operator;
  const auto value = labels.find(requirement.key().view());
  switch (requirement.op()) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      return value && listed(requirement, *value);
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !value || !listed(requirement, *value);
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value;
    case Operator::kGreater:
      return value && compares(requirement, *value, true);
    case Operator::kLess:
      return value && compares(requirement, *value, false);
  }
  return false;
}

Outcome<ObjectFilter> ObjectFilter::of(const RequestInfo& info, const Resource& resource) {
  ObjectFilter filter;
  auto labels = api::Selector::parse(info.parameter("labelSelector"));
  if (!labels) return refuse(answer::badRequest(labels.error().in("labelSelector").value().text()));
  filter.labels_ = std::move(*labels);
  auto fields = api::FieldSelector::parse(info.parameter("fieldSelector"));
  if (!fields) return refuse(answer::badRequest(fields.error().in("fieldSelector").value().text()));
  for (const auto& term : fields->terms()) {
    if (auto added = filter.addField(term, *resource.kind); !added)
      return tl::unexpected(added.error());
  }
  if (!info.name.empty()) filter.terms_.push_back({Source::kName, 0, true, info.name});
  return filter;
}

Outcome<> ObjectFilter::addField(const api::FieldSelector::Term& term, const KindInfo& kind) {
  if (term.field == "metadata.name") {
    terms_.push_back({Source::kName, 0, term.equal, term.value});
    return {};
  }
  if (term.field == "metadata.namespace") {
    terms_.push_back({Source::kNamespace, 0, term.equal, term.value});
    return {};
  }
  auto at = std::find(kind.selectable.begin(), kind.selectable.end(), term.field);
  if (at == kind.selectable.end()) {
    return refuse(
        answer::badRequest(fmt::format("field label not supported: {}; {} can be selected by "
                                       "metadata.name, metadata.namespace{}{}",
                                       term.field, kind.plural, kind.selectable.empty() ? "" : ", ",
                                       join(kind.selectable, ", "))));
  }
  terms_.push_back(
      {Source::kField, static_cast<size_t>(at - kind.selectable.begin()), term.equal, term.value});
  return {};
}

bool ObjectFilter::matches(const store::Object& object) const {
  for (const Term& term : terms_) {
    const std::string_view value = term.source == Source::kName        ? object.name()
                                   : term.source == Source::kNamespace ? object.ns()
                                                                       : object.field(term.field);
    if ((value == term.value) != term.equal) return false;
  }
  if (labels_.matchesEverything()) return true;
  const auto labels = object.labels();
  const auto& wanted = labels_.requirements();
  return !labels_.matchesNothing() &&
         std::all_of(wanted.begin(), wanted.end(), [&](const auto& r) { return holds(r, labels); });
}

std::optional<std::pair<size_t, std::string>> ObjectFilter::exactField() const {
  for (const Term& term : terms_) {
    if (term.source == Source::kField && term.equal) return {{term.field, term.value}};
  }
  return std::nullopt;
}

}  // namespace mangrove::apiserver
