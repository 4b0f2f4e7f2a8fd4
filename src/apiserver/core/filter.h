#pragma once
// labelSelector and fieldSelector of a list, watch or deletecollection, compiled against what the
// store knows of an object.
//
//   auto filter = ObjectFilter::of(call.info, *resource);
//   if (filter->matches(*object)) …
//
// Values; const access from any thread.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/select/field_selector.h"
#include "api/select/selector.h"
#include "apiserver/answer.h"
#include "apiserver/core/resources.h"
#include "apiserver/request.h"
#include "store/object.h"

namespace mangrove::apiserver {

class ObjectFilter {
 public:
  ObjectFilter() = default;  // everything
  // 400 for a selector that does not parse or names a field this kind cannot be selected by. A
  // request that names an object (watch of one name) selects it by metadata.name.
  static Outcome<ObjectFilter> of(const RequestInfo& info, const Resource& resource);

  bool matches(const store::Object& object) const;
  bool everything() const { return labels_.matchesEverything() && terms_.empty(); }
  // An equality on one of the kind's selectable fields, by its place: what an index can answer.
  std::optional<std::pair<size_t, std::string>> exactField() const;

 private:
  enum class Source : uint8_t { kName, kNamespace, kField };
  struct Term {
    Source source;
    size_t field;  // place in KindInfo::selectable for kField
    bool equal;
    std::string value;
  };
  Outcome<> addField(const api::FieldSelector::Term& term, const KindInfo& kind);

  api::Selector labels_;
  std::vector<Term> terms_;
};

// One requirement against labels as the store holds them.
bool holds(const api::Requirement& requirement, const store::PackedPairs& labels);

}  // namespace mangrove::apiserver
