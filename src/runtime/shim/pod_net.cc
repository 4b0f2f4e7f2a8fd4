#include "runtime/shim/pod_net.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/os/fd.h"

namespace mangrove::runtime {

namespace {

Result<sockaddr_in> inet(const std::string& text) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  if (::inet_pton(AF_INET, text.c_str(), &out.sin_addr) != 1)
    return invalid("'{}' is no IPv4 address", text);
  return out;
}

Result<UniqueFd> controlSocket() {
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return failErrno(errno, "socket");
  return fd;
}

ifreq requestFor(const std::string& name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  return request;
}

Result<> bringUp(int fd, const std::string& name) {
  ifreq request = requestFor(name);
  if (::ioctl(fd, SIOCGIFFLAGS, &request) < 0) return failErrno(errno, "interface " + name);
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  if (::ioctl(fd, SIOCSIFFLAGS, &request) < 0) return failErrno(errno, "interface " + name);
  return {};
}

Result<> setAddress(int fd, const std::string& name, unsigned long what, const std::string& text) {
  auto address = inet(text);
  if (!address) return pass(address.error());
  ifreq request = requestFor(name);
  std::memcpy(&request.ifr_addr, &*address, sizeof *address);
  if (::ioctl(fd, what, &request) < 0) return failErrno(errno, "address of " + name);
  return {};
}

Result<> addDefaultRoute(int fd, const std::string& gateway) {
  auto address = inet(gateway);
  if (!address) return pass(address.error());
  rtentry route{};
  sockaddr_in any{};
  any.sin_family = AF_INET;
  std::memcpy(&route.rt_dst, &any, sizeof any);
  std::memcpy(&route.rt_genmask, &any, sizeof any);
  std::memcpy(&route.rt_gateway, &*address, sizeof *address);
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  if (::ioctl(fd, SIOCADDRT, &route) < 0 && errno != EEXIST)
    return failErrno(errno, "default route");
  return {};
}

}  // namespace

Result<> bringUpLoopback() {
  auto fd = controlSocket();
  if (!fd) return pass(fd.error());
  return bringUp(fd->get(), "lo");
}

Result<> configureInterface(const PodAddress& a) {
  auto fd = controlSocket();
  if (!fd) return pass(fd.error());
  if (auto ok = setAddress(fd->get(), a.interface, SIOCSIFADDR, a.address); !ok) return ok;
  if (auto ok = setAddress(fd->get(), a.interface, SIOCSIFNETMASK, a.mask); !ok) return ok;
  if (auto ok = bringUp(fd->get(), a.interface); !ok) return ok;
  return a.gateway.empty() ? Result<>() : addDefaultRoute(fd->get(), a.gateway);
}

}  // namespace mangrove::runtime
