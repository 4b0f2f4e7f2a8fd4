#include "api/object/status.h"

#include <algorithm>

#include "json/value.h"

namespace mangrove::api {
namespace {

struct KnownReason {
  std::string_view reason;
  int http;
  Code code;
};
// First entry per HTTP status and per code is the one used when only that is known.
constexpr KnownReason kReasons[] = {
    {"BadRequest", 400, Code::kInvalid},
    {"Unauthorized", 401, Code::kUnauthorized},
    {"Forbidden", 403, Code::kDenied},
    {"NotFound", 404, Code::kNotFound},
    {"MethodNotAllowed", 405, Code::kUnsupported},
    {"NotAcceptable", 406, Code::kUnsupported},
    {"Conflict", 409, Code::kConflict},
    {"AlreadyExists", 409, Code::kExists},
    {"Expired", 410, Code::kGone},
    {"Gone", 410, Code::kGone},
    {"RequestEntityTooLarge", 413, Code::kTooLarge},
    {"UnsupportedMediaType", 415, Code::kUnsupported},
    {"Invalid", 422, Code::kInvalid},
    {"TooManyRequests", 429, Code::kTooMany},
    {"InternalError", 500, Code::kUnavailable},
    {"ServiceUnavailable", 503, Code::kUnavailable},
    {"Timeout", 504, Code::kTimeout},
    {"ServerTimeout", 500, Code::kTimeout},
    {"StorageReadError", 500, Code::kUnavailable},
};
constexpr size_t kShownBody = 200;  // bytes of an answer that is no Status

bool readCauses(const In& in, Status& out) {
  return read(in, out.causes);
}

bool readDetails(const In& in, Status& out) {
  static constexpr Fields fields{
      field<&Status::name>("name"),
      field<&Status::group>("group"),
      field<&Status::kind>("kind"),
      field<&Status::uid>("uid"),
      field<&Status::retryAfterSeconds>("retryAfterSeconds"),
      via<readCauses>("causes"),
  };
  return fields.read(in, out);
}

Code codeOfHttp(int http) {
  for (const auto& known : kReasons)
    if (known.http == http) return known.code;
  if (http == 408) return Code::kTimeout;
  return http >= 500 ? Code::kUnavailable : Code::kInvalid;
}

std::string shortened(std::string_view body) {
  std::string out(body.substr(0, kShownBody));
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < ' '; }, ' ');
  return body.size() > kShownBody ? out + "…" : out;
}

void put(json::Object& to, std::string_view key, const std::string& value) {
  if (!value.empty()) to[key] = value;
}

}  // namespace

static bool read(const In& in, StatusCause& out) {
  static constexpr Fields fields{
      field<&StatusCause::reason>("reason"),
      field<&StatusCause::message>("message"),
      field<&StatusCause::field>("field"),
  };
  return fields.read(in, out);
}

bool read(const In& in, Status& out) {
  static constexpr Fields fields{
      field<&Status::status>("status"),   field<&Status::reason>("reason"),
      field<&Status::message>("message"), field<&Status::code>("code"),
      via<readDetails>("details"),
  };
  return fields.read(in, out);
}

bool Status::hasCause(std::string_view causeReason) const {
  return std::ranges::any_of(causes, [&](const auto& c) { return c.reason == causeReason; });
}

json::Object Status::toJson() const {
  json::Object details;
  put(details, "name", name);
  put(details, "group", group);
  put(details, "kind", kind);
  put(details, "uid", uid);
  json::Array list;
  for (const StatusCause& cause : causes) {
    json::Object one;
    put(one, "reason", cause.reason);
    put(one, "message", cause.message);
    put(one, "field", cause.field);
    list.emplace_back(std::move(one));
  }
  if (!list.empty()) details["causes"] = std::move(list);
  if (retryAfterSeconds != 0) details["retryAfterSeconds"] = retryAfterSeconds;
  json::Object out{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::Object()}};
  put(out, "status", status);
  put(out, "message", message);
  put(out, "reason", reason);
  if (!details.empty()) out["details"] = std::move(details);
  out["code"] = code;
  return out;
}

Code codeOf(const Status& status) {
  for (const auto& known : kReasons)
    if (known.reason == status.reason) return known.code;
  return codeOfHttp(status.code);
}

Error toError(const Status& status) {
  std::string sentence = status.message;
  if (sentence.empty()) sentence = status.reason;
  if (sentence.empty()) sentence = fmt::format("the server answered {}", status.code);
  return Error(codeOf(status), std::move(sentence), status.code);
}

Error errorOf(int httpStatus, std::string_view body) {
  auto status = decodeText<Status>(body);
  const bool isStatus = status && (!status->reason.empty() || !status->message.empty());
  if (isStatus) {
    status->code = httpStatus;
    return toError(*status);
  }
  std::string sentence = fmt::format("the server answered {}", httpStatus);
  if (!body.empty()) sentence += ": " + shortened(body);
  return Error(codeOfHttp(httpStatus), std::move(sentence), httpStatus);
}

Status statusOf(const Error& error) {
  Status status;
  status.status = "Failure";
  status.message = error.text();
  status.reason = "InternalError";
  status.code = 500;
  for (const auto& known : kReasons) {
    if (known.code != error.code()) continue;
    status.reason = known.reason;
    status.code = known.http;
    break;
  }
  return status;
}

}  // namespace mangrove::api
