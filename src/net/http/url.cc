#include "net/http/url.h"

#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::net {
namespace {

constexpr uint16_t kHttpPort = 80;
constexpr uint16_t kHttpsPort = 443;

uint16_t defaultPort(Url::Scheme scheme) {
  return scheme == Url::Scheme::kHttps ? kHttpsPort : kHttpPort;
}

bool isHostCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
}
bool isIpv6Character(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) || c == ':' || c == '.';
}

Result<> checkHost(std::string_view host, bool bracketed) {
  if (host.empty()) return invalid("it names no host");
  for (char c : host)
    if (bracketed ? !isIpv6Character(c) : !isHostCharacter(c))
      return invalid("host '{}' has a character that no host name or address has", host);
  return {};
}

Result<uint16_t> parsePort(std::string_view text) {
  auto port = parseInt<uint16_t>(text);
  if (!port || *port == 0) return invalid("port '{}': want 1 to 65535", text);
  return *port;
}

// "[::1]:6443" into "::1" and "6443"; the port is empty when there is none.
struct Authority {
  std::string_view host;
  std::string_view port;
  bool hasPort = false;
  bool bracketed = false;
};

Result<Authority> splitAuthority(std::string_view text) {
  if (text.find('@') != text.npos)
    return invalid("a user name in the address is not supported, send a header instead");
  Authority parts;
  if (text.starts_with('[')) {
    size_t close = text.find(']');
    if (close == text.npos) return invalid("'[' without ']'");
    parts = {text.substr(1, close - 1), {}, false, true};
    text.remove_prefix(close + 1);
    if (!text.empty() && text[0] != ':') return invalid("'{}' after ']': want ':port'", text);
  } else {
    parts.host = cut(text, ':').before;
    text.remove_prefix(parts.host.size());
  }
  if (!text.empty()) parts.hasPort = true, parts.port = text.substr(1);
  return parts;
}

Result<> readPath(std::string_view path, Url& url) {
  if (path.find_first_of("?# \t\r\n") != path.npos)
    return invalid("path '{}' may have no query, fragment or blank", path);
  while (path.ends_with('/')) path.remove_suffix(1);
  url.path = path;
  return {};
}

Result<Url> parseUnix(std::string_view socket) {
  if (socket.starts_with("//")) socket.remove_prefix(2);
  if (!socket.starts_with('/')) return invalid("'{}': want an absolute file name", socket);
  Url url;
  url.scheme = Url::Scheme::kUnix;
  url.port = 0;
  url.socket = socket;
  return url;
}

Result<Url> parseNetwork(Url::Scheme scheme, std::string_view rest) {
  size_t pathAt = std::min(rest.find_first_of("/?#"), rest.size());
  auto parts = splitAuthority(rest.substr(0, pathAt));
  if (!parts) return pass(parts.error());
  if (auto ok = checkHost(parts->host, parts->bracketed); !ok) return pass(ok.error());
  Url url;
  url.scheme = scheme;
  url.host = parts->host;
  url.port = defaultPort(scheme);
  if (parts->hasPort) {
    auto port = parsePort(parts->port);
    if (!port) return pass(port.error());
    url.port = *port;
  }
  if (auto ok = readPath(rest.substr(pathAt), url); !ok) return pass(ok.error());
  return url;
}

Result<Url> parseAny(std::string_view text) {
  auto [scheme, rest, found] = cut(text, ':');
  if (!found) return invalid("want http://, https:// or unix://");
  std::string name = lower(scheme);
  if (name == "unix") return parseUnix(rest);
  if (name != "http" && name != "https")
    return invalid("scheme '{}': want http, https or unix", scheme);
  if (!rest.starts_with("//")) return invalid("want '//' after '{}:'", scheme);
  return parseNetwork(name == "https" ? Url::Scheme::kHttps : Url::Scheme::kHttp, rest.substr(2));
}

std::string bracketed(const std::string& host) {
  return host.find(':') == host.npos ? host : "[" + host + "]";
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  auto url = parseAny(text);
  if (!url) return url.error().in("address '{}'", text);
  return url;
}

std::string Url::text() const {
  if (scheme == Scheme::kUnix) return "unix://" + socket;
  return (scheme == Scheme::kHttps ? "https://" : "http://") + hostHeader() + path;
}

std::string Url::authority() const {
  if (scheme == Scheme::kUnix) return socket;
  return fmt::format("{}:{}", bracketed(host), port);
}

std::string Url::hostHeader() const {
  if (scheme == Scheme::kUnix) return "localhost";
  return port == defaultPort(scheme) ? bracketed(host) : authority();
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  for (std::string_view part : split(text, '&')) {
    if (part.empty()) continue;
    auto [name, value, found] = cut(part, '=');
    auto decodedName = percentDecode(name, true);
    auto decodedValue = percentDecode(value, true);
    if (!decodedName) return decodedName.error().in("query parameter '{}'", name);
    if (!decodedValue) return decodedValue.error().in("query parameter '{}'", name);
    query.pairs_.emplace_back(std::move(*decodedName), std::move(*decodedValue));
  }
  return query;
}

Query& Query::add(std::string_view name, std::string_view value) {
  pairs_.emplace_back(name, value);
  return *this;
}

std::optional<std::string_view> Query::find(std::string_view name) const {
  for (const auto& [key, value] : pairs_)
    if (key == name) return value;
  return std::nullopt;
}

std::string Query::text() const {
  std::string out;
  for (const auto& [name, value] : pairs_) {
    if (!out.empty()) out += '&';
    out += percentEncode(name);
    out += '=';
    out += percentEncode(value);
  }
  return out;
}

std::string Query::appendTo(std::string_view path) const {
  std::string out(path);
  if (pairs_.empty()) return out;
  return out += "?" + text();
}

Target Target::split(std::string_view target) {
  auto halves = cut(target, '?');
  return {halves.before, halves.after};
}

}  // namespace mangrove::net
