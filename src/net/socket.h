#pragma once
// The few socket calls that are plainer without Asio. Internal to net/.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::net {

inline constexpr size_t kMaxUnixPath = 107;  // sockaddr_un::sun_path less its terminating zero

// No delay for small writes, and probes that find a dead peer within about a minute. No effect on
// unix sockets.
void tuneSocket(int fd);

Result<UniqueFd> listenTcp(const std::string& address, uint16_t port);
// Replaces a socket file nobody listens on; refuses to touch anything else.
Result<UniqueFd> listenUnix(const std::string& path);
uint16_t localPort(int fd);

struct Accepted {
  UniqueFd fd;
  std::string peer;  // "127.0.0.1:40312" or "unix"
};
// Does not wait: EAGAIN when nobody is there.
Result<Accepted> acceptOne(int listener);

}  // namespace mangrove::net
