#pragma once
// A refusing answer of an API server → the Error callers branch on: api::errorOf, told with verb,
// object and server. Pure functions, any thread.
//
//   statusError(404, body, "get pods a/b", "10.0.0.1:6443")
//     // kNotFound, "get pods a/b at 10.0.0.1:6443: 404: pods \"b\" not found"

#include <optional>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::client {

Error statusError(int httpStatus, std::string_view body, std::string_view what,
                  std::string_view server);

// The Status object inside of a watch's ERROR event.
struct WatchError {
  Error error;
  bool tooLargeVersion =
      false;  // the asked position lies in the server's future (a restored backup)
};
WatchError watchError(std::string_view object, std::string_view what, std::string_view server);

// The Retry-After header: seconds, or nothing when it is absent, a date or nonsense.
std::optional<Duration> parseRetryAfter(std::string_view header);

}  // namespace mangrove::client
