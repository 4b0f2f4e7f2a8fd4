#pragma once
// What the server says: a body with a status, or one of Kubernetes' Status objects that say what
// went wrong.
//
//   return answer::notFound(pods, "web-0");
//   return answer::unprocessable(deployments, "web", errors);
//
// Values; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/schema/field_error.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver {

struct Answer {
  int status = 200;
  std::string body;
  std::string contentType = "application/json";
  std::vector<std::string> warnings;  // become Warning headers
  std::optional<int> retryAfterSeconds;
  std::string location;    // of a redirect or a created object; usually ""
  std::string etag;        // names this content; who has it already is answered 304. Usually ""
  bool immutable = false;  // never changes under its URL: clients need not ask again
  // What admission found out, for the audit log alone; usually empty.
  std::vector<std::pair<std::string, std::string>> auditNotes = {};

  bool good() const { return status < 400; }
};

// An answer in place of a value: what a step of the request path returns when the request ends
// here.
template <class T = void>
using Outcome = tl::expected<T, Answer>;
using Refusal = tl::unexpected<Answer>;
inline Refusal refuse(Answer answer) {
  return Refusal(std::move(answer));
}

namespace answer {

Answer json(int status, std::string body);
// A Status object. `details` may be null.
Answer status(int code, std::string_view reason, std::string_view message,
              json::Value details = nullptr);
Answer success(std::string_view message = "", json::Value details = nullptr);

Answer badRequest(std::string_view message);                                // 400 BadRequest
Answer unauthorized();                                                      // 401
Answer forbidden(std::string_view message, json::Value details = nullptr);  // 403
Answer notFound(const KindInfo& kind, std::string_view name);               // 404 with details
Answer noSuchPath(std::string_view path);                                   // 404 without kind
Answer methodNotAllowed(std::string_view what);                             // 405
Answer alreadyExists(const KindInfo& kind, std::string_view name);          // 409 AlreadyExists
Answer conflict(const KindInfo& kind, std::string_view name, std::string_view why);  // 409 Conflict
Answer gone(std::string_view message);                                               // 410 Expired
Answer tooLarge(std::string_view message);                                           // 413
Answer unsupportedMediaType(std::string_view got, std::string_view want);            // 415
Answer unprocessable(const KindInfo& kind, std::string_view name,
                     const FieldErrors& errors);  // 422 Invalid
// The same about something else than an object of a kind: "CreateOptions" of "meta.k8s.io".
Answer invalid(std::string_view group, std::string_view kind, std::string_view name,
               const FieldErrors& errors);
Answer tooManyRequests(std::string_view message, int retryAfterSeconds);  // 429
Answer internal(std::string_view message);                                // 500
Answer unavailable(std::string_view message, int retryAfterSeconds = 1);  // 503
Answer timeout(std::string_view message);                                 // 504
// An Error of the layers below in the server's words; the code decides.
Answer ofError(const Error& error);

}  // namespace answer
}  // namespace mangrove::apiserver
