#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>

#include "base/text/strings.h"
#include "net/http/wire.h"

namespace mangrove::net {
namespace {

void addLine(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

// A line break in a value would start another header; what it was meant to say is still readable
// with a blank.
void addCleaned(std::string& out, const Headers::Field& field) {
  if (!isHeaderName(field.first)) return;
  if (isHeaderValue(field.second)) return addLine(out, field.first, field.second);
  std::string value = field.second;
  for (char& c : value)
    if (!isHeaderValue({&c, 1})) c = ' ';
  addLine(out, field.first, value);
}

bool isFraming(std::string_view name) {
  return equalIgnoringCase(name, "Content-Length") || equalIgnoringCase(name, "Transfer-Encoding");
}

bool carriesBody(const HttpRequest& request) {
  const std::string& method = request.method;
  return !request.body.empty() || method == "POST" || method == "PUT" || method == "PATCH";
}

bool isTargetCharacter(char c) {
  return c > 0x20 && c < 0x7f;
}

void addFraming(std::string& out, const ResponseFraming& framing) {
  using Body = ResponseFraming::Body;
  if (framing.body == Body::kLength) addLine(out, "Content-Length", std::to_string(framing.length));
  if (framing.body == Body::kChunked) addLine(out, "Transfer-Encoding", "chunked");
  if (!framing.keepAlive) addLine(out, "Connection", "close");
}

}  // namespace

Result<> checkSendable(const HttpRequest& request) {
  // A method is a token as header names are.
  if (!isHeaderName(request.method))
    return invalid("method '{}': want a word like GET", request.method);
  if (!request.target.starts_with('/'))
    return invalid("target '{}': want a path that starts with '/'", request.target);
  if (!std::all_of(request.target.begin(), request.target.end(), isTargetCharacter))
    return invalid("target '{}' has a blank or a character that must be percent-encoded",
                   request.target);
  return request.headers.check();
}

std::string requestHead(const HttpRequest& request, const Url& base, std::string_view userAgent) {
  std::string out;
  out.reserve(256 + request.target.size() + request.headers.size() * 64);
  out += request.method;
  out += ' ';
  out += base.path;
  out += request.target;
  out += " HTTP/1.1\r\n";
  if (!request.headers.has("Host")) addLine(out, "Host", base.hostHeader());
  if (!request.headers.has("User-Agent")) addLine(out, "User-Agent", userAgent);
  for (const auto& [name, value] : request.headers.fields())
    if (!isFraming(name)) addLine(out, name, value);
  if (carriesBody(request)) addLine(out, "Content-Length", std::to_string(request.body.size()));
  out += "\r\n";
  return out;
}

std::string responseHead(const HttpResponse& response, const ResponseFraming& framing,
                         std::string_view date) {
  std::string out;
  out.reserve(256 + response.headers.size() * 64);
  out += fmt::format("HTTP/1.1 {} {}\r\n", response.status, reasonPhrase(response.status));
  bool switching = response.status == 101;
  if (!response.headers.has("Date")) addLine(out, "Date", date);
  for (const auto& field : response.headers.fields()) {
    bool ours = isFraming(field.first) || equalIgnoringCase(field.first, "Connection");
    if (switching || !ours) addCleaned(out, field);
  }
  if (!switching) addFraming(out, framing);
  out += "\r\n";
  return out;
}

std::string chunk(std::string_view data) {
  if (data.empty()) return "";
  std::string out;
  out.reserve(data.size() + 16);
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", data.size());
  out += data;
  out += "\r\n";
  return out;
}

std::string httpDate(WallTime time) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::time_t seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm t{};
  ::gmtime_r(&seconds, &t);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[static_cast<size_t>(t.tm_wday)],
                     t.tm_mday, kMonths[static_cast<size_t>(t.tm_mon)], t.tm_year + 1900, t.tm_hour,
                     t.tm_min, t.tm_sec);
}

}  // namespace mangrove::net
