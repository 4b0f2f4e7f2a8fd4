#pragma once
// HTTP messages as values: what the server hands to its handler and what the client sends. Plain
// data, any thread.
//
//   HttpRequest request{.method = "GET", .target = "/api/v1/nodes"};
//   request.headers.set("Accept", "application/json");
//   HttpResponse answer = HttpResponse::json(200, body);

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mangrove::net {

// Header fields in the order in which they were added; names compare without regard to case.
// Nothing is checked here but at the wire, where a line break in a value could smuggle in a header:
// the client refuses to send such a request, the server writes blanks instead.
class Headers {
 public:
  using Field = std::pair<std::string, std::string>;

  Headers() = default;
  Headers(std::initializer_list<Field> fields) : fields_(fields) {}

  // First value of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  std::string_view get(std::string_view name, std::string_view otherwise = "") const;
  bool has(std::string_view name) const { return find(name).has_value(); }
  // True when one of the comma-separated words of any such field is `token`, whatever its case.
  bool hasToken(std::string_view name, std::string_view token) const;
  size_t count(std::string_view name) const;

  void add(std::string_view name, std::string_view value);
  // Replaces every field of that name.
  void set(std::string_view name, std::string_view value);
  void remove(std::string_view name);

  const std::vector<Field>& fields() const { return fields_; }
  size_t size() const { return fields_.size(); }

  // What may not go on the wire: names that are no tokens, values with control characters.
  Result<> check() const;

 private:
  std::vector<Field> fields_;
};

// Who sent a request, as far as the connection tells.
struct PeerInfo {
  std::string address;  // "127.0.0.1:40312", or "unix"
  bool tls = false;
  bool resumed = false;  // the TLS session continued an earlier one, without a full handshake
  // A client certificate was given and is signed by the server's client CA. Only then the two names
  // below are filled.
  bool verified = false;
  std::string commonName;
  std::vector<std::string> organizations;
};

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, encoded
  Headers headers;
  std::string body;
  PeerInfo peer;  // filled by the server only
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;

  static HttpResponse text(int status, std::string body);
  static HttpResponse json(int status, std::string body);
};

// What HTTP allows as the name and as the value of a header field.
bool isHeaderName(std::string_view name);
bool isHeaderValue(std::string_view value);

// "Not Found" for 404; "Status" for what has no name.
std::string_view reasonPhrase(int status);

}  // namespace mangrove::net
