#pragma once
// An IPv4 address and port as the kernel wants them. Pure function.

#include <cstdint>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/result.h"

namespace mangrove::runtime {

inline Result<sockaddr_in> placeOf(const std::string& ip, uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  if (::inet_pton(AF_INET, ip.c_str(), &out.sin_addr) != 1)
    return invalid("'{}' is no IPv4 address", ip);
  return out;
}

}  // namespace mangrove::runtime
