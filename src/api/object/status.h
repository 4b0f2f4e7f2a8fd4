#pragma once
// The Status object: how an API server says that a request failed, and how that becomes an Error.
//
//   if (reply.status >= 400) return Failure(errorOf(reply.status, reply.body));
//   // Error code kConflict or kExists for 409, by reason; detail() is the HTTP status.
//
// Pure functions, any thread.

#include <string>
#include <string_view>
#include <vector>

#include "api/wire/decode.h"
#include "base/result.h"
#include "json/fwd.h"

namespace mangrove::api {

struct StatusCause {
  std::string reason;  // "FieldValueInvalid", "DisruptionBudget" …
  std::string message;
  std::string field;
};

struct Status {
  std::string status;  // "Failure" or "Success"
  std::string reason;  // "NotFound", "AlreadyExists", "Conflict" …
  std::string message;
  int32_t code = 0;
  std::string name, group, kind, uid;  // details: what it is about
  int32_t retryAfterSeconds = 0;
  std::vector<StatusCause> causes;

  bool hasCause(std::string_view causeReason) const;
  json::Object toJson() const;
};
bool read(const In& in, Status& out);

// What a caller may branch on. The reason decides, the HTTP status where the reason is unknown.
Code codeOf(const Status& status);
Error toError(const Status& status);
// The error of a refused request. A body that is no Status (a proxy's page, nothing at all) is
// shown shortened.
Error errorOf(int httpStatus, std::string_view body);

// The other direction: the reason and HTTP status that a server of ours answers for an error.
Status statusOf(const Error& error);

}  // namespace mangrove::api
