#include "client/http/status_error.h"

#include <algorithm>

#include "api/object/status.h"
#include "base/text/strings.h"

namespace mangrove::client {

namespace {
// A day: larger values are mistakes, and must not put a component to sleep.
constexpr int64_t kMaxRetryAfter = 24 * 3600;
}  // namespace

Error statusError(int httpStatus, std::string_view body, std::string_view what,
                  std::string_view server) {
  Error inner = api::errorOf(httpStatus, body);
  return Error(inner.code(),
               fmt::format("{} at {}: {}: {}", what, server, inner.detail(), inner.text()),
               inner.detail());
}

WatchError watchError(std::string_view object, std::string_view what, std::string_view server) {
  constexpr int kUnknown = 500;
  auto status = api::decodeText<api::Status>(object);
  int code = status && status->code > 0 ? status->code : kUnknown;
  WatchError out{statusError(code, object, what, server)};
  if (!status) return out;
  out.tooLargeVersion = status->hasCause("ResourceVersionTooLarge") ||
                        status->message.starts_with("Too large resource version");
  return out;
}

std::optional<Duration> parseRetryAfter(std::string_view header) {
  auto seconds = parseInt<int64_t>(trim(header));
  if (!seconds || *seconds < 0) return std::nullopt;
  return std::chrono::seconds(std::min(*seconds, kMaxRetryAfter));
}

}  // namespace mangrove::client
