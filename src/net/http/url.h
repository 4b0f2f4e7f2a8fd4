#pragma once
// Addresses and query strings. Pure functions and values; any thread.
//
//   auto url = Url::parse("https://10.0.0.1:6443/prefix");   // also http://, unix:///run/x.sock
//   auto target = Query{}.add("labelSelector", "app in (a,b)").add("watch", "true")
//                     .appendTo("/api/v1/pods");
//   auto pairs = Query::parse("labelSelector=app%3Dweb&limit=500");
//
// Percent-encoding (base/text/encoding.h) keeps only RFC 3986's unreserved characters, so every
// consumer decodes it the same way. In queries '+' decodes to a blank, as browsers and Go send it;
// encoding always writes %20.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mangrove::net {

struct Url {
  enum class Scheme { kHttp, kHttps, kUnix };

  Scheme scheme = Scheme::kHttp;
  std::string host;    // name or address without brackets; empty for unix
  uint16_t port = 80;  // 0 for unix
  std::string path;    // prefix put before every target, without trailing '/'; "" is the usual case
  std::string socket;  // file name of the socket, for unix only

  static Result<Url> parse(std::string_view text);
  std::string text() const;
  // "host:port", "[::1]:6443" or the socket's file name: what error messages call the peer.
  std::string authority() const;
  // Value of the Host header: without the port where it is the scheme's own.
  std::string hostHeader() const;
};

// An ordered list of parameters; a name may occur more than once.
class Query {
 public:
  // Reads "a=1&b=2" (without '?').
  static Result<Query> parse(std::string_view text);
  Query& add(std::string_view name, std::string_view value);

  bool has(std::string_view name) const { return find(name).has_value(); }
  // First value of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& pairs() const { return pairs_; }

  // "a=1&b=2", encoded.
  std::string text() const;
  // `path` with "?a=1" or nothing when there are no parameters.
  std::string appendTo(std::string_view path) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// A request target in its two parts, the path still encoded: "/a%20b?x=1" is {"/a%20b", "x=1"}.
struct Target {
  std::string_view path;
  std::string_view query;
  static Target split(std::string_view target);
};

}  // namespace mangrove::net
