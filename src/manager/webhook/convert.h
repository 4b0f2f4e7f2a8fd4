#pragma once
// The path /convert: API servers ask it to bring objects of our kinds to another version. All kinds
// have one version, or versions that differ in name only, so that the answer is the same object
// under the other name.
//
//   reply(convertReview(body));            // a ConversionReview in, a ConversionReview out
//
// Pure; any thread.

#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::manager {

// Errors say what is wrong with the review. An object of another group than is asked for is told in
// the answer, as the API server expects it.
Result<std::string> convertReview(std::string_view body);

}  // namespace mangrove::manager
