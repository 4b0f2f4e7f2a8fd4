#include "net/own_address.h"

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace mangrove::net {

namespace {

// IPv4 as it is written in IPv6 (::ffff:…), so that both spellings are one address.
using Bytes16 = std::array<unsigned char, 16>;

Bytes16 mapped(const in_addr& four) {
  Bytes16 out{};
  out[10] = out[11] = 0xff;
  std::memcpy(out.data() + 12, &four, sizeof four);
  return out;
}

Bytes16 bytesOf(const in6_addr& six) {
  Bytes16 out{};
  std::memcpy(out.data(), &six, sizeof six);
  return out;
}

std::optional<Bytes16> parsed(std::string_view text) {
  const std::string address(text);
  in_addr four{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return mapped(four);
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) == 1) return bytesOf(six);
  return std::nullopt;
}

std::optional<Bytes16> bytesOf(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET)
    return mapped(reinterpret_cast<const sockaddr_in*>(address)->sin_addr);
  if (address->sa_family == AF_INET6)
    return bytesOf(reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
  return std::nullopt;
}

}  // namespace

bool isOwnAddress(std::string_view address) {
  const auto wanted = parsed(address);
  ifaddrs* first = nullptr;
  if (!wanted || ::getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
  for (const ifaddrs* one = all.get(); one != nullptr; one = one->ifa_next)
    if (bytesOf(one->ifa_addr) == wanted) return true;
  return false;
}

}  // namespace mangrove::net
