#pragma once
// The field selectors of list and watch requests: "spec.nodeName=n1,status.phase!=Running".
//
//   auto wanted = FieldSelector::parse(query);
//   wanted->matches([&](std::string_view field) { return valueOf(pod, field); });
//   wanted->exact("spec.nodeName")                    // "n1": an index can answer it
//
// Values hold '\', ',' and '=' escaped by '\'. Which fields a kind has is the server's business:
// the getter returns "" for one that is not there. Values; const access from any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::api {

class FieldSelector {
 public:
  struct Term {
    std::string field;
    bool equal = true;
    std::string value;
    bool operator==(const Term&) const = default;
  };
  FieldSelector() = default;  // matches everything
  static Result<FieldSelector> parse(std::string_view text);
  static FieldSelector equals(std::string_view field, std::string_view value);

  template <class Getter>  // Getter: text of a field by its name
  bool matches(Getter&& valueOf) const {
    for (const Term& term : terms_)
      if ((valueOf(std::string_view(term.field)) == term.value) != term.equal) return false;
    return true;
  }
  bool matchesEverything() const { return terms_.empty(); }
  std::optional<std::string_view> exact(std::string_view field) const;

  std::string text() const;  // "==" is written "="
  const std::vector<Term>& terms() const { return terms_; }
  bool operator==(const FieldSelector&) const = default;

 private:
  std::vector<Term> terms_;
};

}  // namespace mangrove::api
