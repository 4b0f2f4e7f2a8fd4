#include "net/http/http.h"

#include <algorithm>
#include <array>

#include "base/text/strings.h"

namespace mangrove::net {
namespace {

bool isTokenCharacter(char c) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";  // RFC 9110 §5.6.2
  bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alphanumeric || kOthers.find(c) != kOthers.npos;
}

bool isForbiddenInValue(char c) {
  auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

struct StatusName {
  int status;
  std::string_view name;
};
constexpr std::array kStatusNames = {
    StatusName{100, "Continue"},
    StatusName{101, "Switching Protocols"},
    StatusName{200, "OK"},
    StatusName{201, "Created"},
    StatusName{202, "Accepted"},
    StatusName{204, "No Content"},
    StatusName{206, "Partial Content"},
    StatusName{301, "Moved Permanently"},
    StatusName{302, "Found"},
    StatusName{304, "Not Modified"},
    StatusName{307, "Temporary Redirect"},
    StatusName{308, "Permanent Redirect"},
    StatusName{400, "Bad Request"},
    StatusName{401, "Unauthorized"},
    StatusName{403, "Forbidden"},
    StatusName{404, "Not Found"},
    StatusName{405, "Method Not Allowed"},
    StatusName{406, "Not Acceptable"},
    StatusName{408, "Request Timeout"},
    StatusName{409, "Conflict"},
    StatusName{410, "Gone"},
    StatusName{411, "Length Required"},
    StatusName{412, "Precondition Failed"},
    StatusName{413, "Content Too Large"},
    StatusName{414, "URI Too Long"},
    StatusName{415, "Unsupported Media Type"},
    StatusName{417, "Expectation Failed"},
    StatusName{422, "Unprocessable Content"},
    StatusName{426, "Upgrade Required"},
    StatusName{429, "Too Many Requests"},
    StatusName{431, "Request Header Fields Too Large"},
    StatusName{500, "Internal Server Error"},
    StatusName{501, "Not Implemented"},
    StatusName{502, "Bad Gateway"},
    StatusName{503, "Service Unavailable"},
    StatusName{504, "Gateway Timeout"},
    StatusName{505, "HTTP Version Not Supported"},
};

HttpResponse typed(int status, std::string body, std::string_view type) {
  HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", type);
  response.body = std::move(body);
  return response;
}

}  // namespace

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [key, value] : fields_)
    if (equalIgnoringCase(key, name)) return value;
  return std::nullopt;
}

std::string_view Headers::get(std::string_view name, std::string_view otherwise) const {
  return find(name).value_or(otherwise);
}

bool Headers::hasToken(std::string_view name, std::string_view token) const {
  for (const auto& [key, value] : fields_) {
    if (!equalIgnoringCase(key, name)) continue;
    for (std::string_view word : splitTrimmed(value, ','))
      if (equalIgnoringCase(word, token)) return true;
  }
  return false;
}

size_t Headers::count(std::string_view name) const {
  return static_cast<size_t>(std::count_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return equalIgnoringCase(field.first, name);
  }));
}

void Headers::add(std::string_view name, std::string_view value) {
  fields_.emplace_back(name, value);
}

void Headers::set(std::string_view name, std::string_view value) {
  std::string kept(value);  // it may point into the field that goes
  remove(name);
  fields_.emplace_back(name, std::move(kept));
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const Field& f) { return equalIgnoringCase(f.first, name); });
}

Result<> Headers::check() const {
  for (const auto& [name, value] : fields_) {
    if (!isHeaderName(name)) return invalid("header name '{}': want letters, digits and '-'", name);
    if (!isHeaderValue(value))
      return invalid("value of header {} has a line break or another control character", name);
  }
  return {};
}

bool isHeaderName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), isTokenCharacter);
}

bool isHeaderValue(std::string_view value) {
  return std::none_of(value.begin(), value.end(), isForbiddenInValue);
}

HttpResponse HttpResponse::text(int status, std::string body) {
  return typed(status, std::move(body), "text/plain; charset=utf-8");
}

HttpResponse HttpResponse::json(int status, std::string body) {
  return typed(status, std::move(body), "application/json");
}

std::string_view reasonPhrase(int status) {
  for (const auto& known : kStatusNames)
    if (known.status == status) return known.name;
  return "Status";
}

}  // namespace mangrove::net
