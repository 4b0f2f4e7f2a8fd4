#include "apiserver/answer.h"

#include <fmt/core.h>

namespace mangrove::apiserver::answer {

namespace {

json::Object detailsOf(const KindInfo& kind, std::string_view name) {
  json::Object details;
  if (!name.empty()) details["name"] = name;
  if (!kind.group.empty()) details["group"] = kind.group;
  details["kind"] = kind.plural;
  return details;
}

// What Kubernetes answers when the object is concerned: `pods "web-0" not found`.
std::string about(const KindInfo& kind, std::string_view name, std::string_view what) {
  return fmt::format("{} \"{}\" {}", kind.groupResource(), name, what);
}

}  // namespace

Answer json(int status, std::string body) {
  Answer a;
  a.status = status;
  a.body = std::move(body);
  return a;
}

Answer status(int code, std::string_view reason, std::string_view message, json::Value details) {
  json::Object object{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::Object()}};
  object["status"] = code < 400 ? "Success" : "Failure";
  if (!message.empty()) object["message"] = message;
  if (!reason.empty()) object["reason"] = reason;
  if (!details.is_null()) object["details"] = std::move(details);
  object["code"] = code;
  return json(code, json::write(object));
}

Answer success(std::string_view message, json::Value details) {
  return status(200, "", message, std::move(details));
}

Answer badRequest(std::string_view message) {
  return status(400, "BadRequest", message);
}
Answer unauthorized() {
  return status(401, "Unauthorized", "Unauthorized");
}
Answer forbidden(std::string_view message, json::Value details) {
  return status(403, "Forbidden", message, std::move(details));
}

Answer notFound(const KindInfo& kind, std::string_view name) {
  return status(404, "NotFound", about(kind, name, "not found"), detailsOf(kind, name));
}

// Clients know this sentence; the path is for people.
Answer noSuchPath(std::string_view path) {
  return status(404, "NotFound",
                fmt::format("the server could not find the requested resource ({})", path),
                json::Object());
}

Answer methodNotAllowed(std::string_view what) {
  return status(405, "MethodNotAllowed", what);
}

Answer alreadyExists(const KindInfo& kind, std::string_view name) {
  return status(409, "AlreadyExists", about(kind, name, "already exists"), detailsOf(kind, name));
}

Answer conflict(const KindInfo& kind, std::string_view name, std::string_view why) {
  auto text = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind.groupResource(),
                          name, why);
  return status(409, "Conflict", text, detailsOf(kind, name));
}

Answer gone(std::string_view message) {
  return status(410, "Expired", message);
}
Answer tooLarge(std::string_view message) {
  return status(413, "RequestEntityTooLarge", message);
}

Answer unsupportedMediaType(std::string_view got, std::string_view want) {
  return status(415, "UnsupportedMediaType",
                fmt::format("content type '{}' is not understood here; want {}", got, want));
}

Answer unprocessable(const KindInfo& kind, std::string_view name, const FieldErrors& errors) {
  return invalid(kind.group, kind.kind, name, errors);
}

Answer invalid(std::string_view group, std::string_view kind, std::string_view name,
               const FieldErrors& errors) {
  json::Object details;
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  details["kind"] = kind;
  details["causes"] = errors.causes();
  auto text = fmt::format("{}{}{} \"{}\" is invalid: {}", kind, group.empty() ? "" : ".", group,
                          name, errors.text());
  return status(422, "Invalid", text, std::move(details));
}

namespace {

Answer later(int code, std::string_view reason, std::string_view message, int seconds) {
  Answer a = status(code, reason, message, json::Object{{"retryAfterSeconds", seconds}});
  a.retryAfterSeconds = seconds;
  return a;
}

}  // namespace

Answer tooManyRequests(std::string_view message, int seconds) {
  return later(429, "TooManyRequests", message, seconds);
}
Answer internal(std::string_view message) {
  return status(500, "InternalError", message);
}
Answer unavailable(std::string_view message, int seconds) {
  return later(503, "ServiceUnavailable", message, seconds);
}
Answer timeout(std::string_view message) {
  return status(504, "Timeout", message);
}

Answer ofError(const Error& error) {
  const std::string text = error.text();
  switch (error.code()) {
    case Code::kInvalid:
      return badRequest(text);
    case Code::kNotFound:
      return status(404, "NotFound", text);
    case Code::kExists:
      return status(409, "AlreadyExists", text);
    case Code::kConflict:
      return status(409, "Conflict", text);
    case Code::kDenied:
      return forbidden(text);
    case Code::kUnauthorized:
      return unauthorized();
    case Code::kGone:
      return gone(text);
    case Code::kTooMany:
      return tooManyRequests(text, 1);
    case Code::kTooLarge:
      return tooLarge(text);
    case Code::kTimeout:
      return timeout(text);
    case Code::kUnsupported:
      return methodNotAllowed(text);
    case Code::kUnavailable:
    case Code::kCancelled:
    case Code::kIo:
      return unavailable(text);
    case Code::kInternal:
      break;
  }
  return internal(text);
}

}  // namespace mangrove::apiserver::answer
