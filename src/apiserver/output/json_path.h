#pragma once
// The part of JSONPath that printer columns use: `.spec.size`, `.status.conditions[0].type`,
// `.status.conditions[?(@.type=="Ready")].status`, `.metadata.annotations['a.b/c']`, `.items[*].x`.
//
//   auto path = JsonPath::parse(".status.conditions[?(@.type==\"Ready\")].status");
//   json::View first = path->first(object);        // absent when nothing is there
//
// Braces around the whole and a "$" at its start are accepted and mean nothing. Values; any thread.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/view.h"

namespace mangrove::apiserver {

class JsonPath {
 public:
  // kInvalid names the path and where it stops making sense.
  static Result<JsonPath> parse(std::string_view text);

  std::vector<json::View> all(json::View object) const;
  json::View first(json::View object) const;

  struct Step;

 private:
  std::vector<std::shared_ptr<const Step>> steps_;
};

}  // namespace mangrove::apiserver
