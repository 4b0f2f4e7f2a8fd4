#include "net/loopback.h"

#include <array>
#include <string>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "base/text/strings.h"
#include "net/http/url.h"

namespace mangrove::net {

bool isOwnHost(std::string_view hostHeader) {
  auto url = Url::parse(fmt::format("http://{}", hostHeader));
  if (!url || !url->path.empty()) return false;
  const std::string host = lower(url->host);
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return host == "localhost" || host.ends_with(".localhost") ||
         ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace mangrove::net
