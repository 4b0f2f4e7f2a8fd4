#pragma once
// What a valid CustomResourceDefinition adds to the API: one KindInfo per served version, of the
// same shape as the built-in ones, so that routes, validation, tables and discovery know no
// difference.
//
//   auto kinds = customKinds(crd);        // after validateCrd found nothing
//   for (const auto& kind : kinds->kinds) routes.add(kind);
//   for (const std::string& w : kinds->warnings) answer.warnings.push_back(w);
//
// A KindInfo owns everything it shows; keep the shared_ptr while requests use it. Immutable; any
// thread.

#include <memory>
#include <string>
#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver {

struct CustomKinds {
  std::vector<std::shared_ptr<const KindInfo>> kinds;  // served versions, in the author's order
  std::string storageVersion;
  std::vector<std::string> warnings;
};

// kInvalid with all complaints when the definition is not valid.
Result<CustomKinds> customKinds(const json::Object& crd);

}  // namespace mangrove::apiserver
