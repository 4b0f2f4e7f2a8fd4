#include "runtime/node/network/netlink.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/fd.h"

namespace mangrove::runtime {

namespace {

// A message being built: header, interface, attributes that may nest.
class LinkMessage {
 public:
  LinkMessage(uint16_t type, uint16_t flags) : LinkMessage(type, flags, ifinfomsg{}) {}
  template <class Head>
  LinkMessage(uint16_t type, uint16_t flags, const Head& head) {
    append(nlmsghdr{0, type, static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags), 1, 0});
    append(head);
  }
  ifinfomsg& info() { return *reinterpret_cast<ifinfomsg*>(bytes_.data() + sizeof(nlmsghdr)); }

  LinkMessage& text(uint16_t type, const std::string& value) {
    return attribute(type, value.c_str(), value.size() + 1);
  }
  LinkMessage& number(uint16_t type, uint32_t value) {
    return attribute(type, &value, sizeof value);
  }
  LinkMessage& hardware(const HardwareAddress& value) {
    return attribute(IFLA_ADDRESS, value.data(), value.size());
  }
  size_t open(uint16_t type) {
    const size_t at = bytes_.size();
    append(rtattr{0, type});
    return at;
  }
  void close(size_t at) {
    const auto length = static_cast<uint16_t>(bytes_.size() - at);
    std::memcpy(bytes_.data() + at, &length, sizeof length);
  }
  void interface() { append(ifinfomsg{}); }

  const std::string& finish() {
    const auto length = static_cast<uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &length, sizeof length);
    return bytes_;
  }

 private:
  template <class T>
  void append(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  LinkMessage& attribute(uint16_t type, const void* data, size_t size) {
    append(rtattr{static_cast<uint16_t>(RTA_LENGTH(size)), type});
    bytes_.append(static_cast<const char*>(data), size);
    bytes_.append(RTA_ALIGN(size) - size, '\0');
    return *this;
  }
  std::string bytes_;
};

Result<> transact(LinkMessage& message, const std::string& what) {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd) return failErrno(errno, "netlink");
  const std::string& bytes = message.finish();
  if (::send(fd.get(), bytes.data(), bytes.size(), 0) < 0) return failErrno(errno, what);
  alignas(nlmsghdr) char answer[4096];
  const ssize_t n = ::recv(fd.get(), answer, sizeof answer, 0);
  if (n < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(nlmsgerr))) return failErrno(EIO, what);
  const auto* error = reinterpret_cast<nlmsgerr*>(NLMSG_DATA(reinterpret_cast<nlmsghdr*>(answer)));
  if (error->error != 0) return failErrno(-error->error, what);
  return {};
}

Result<> changeAddress(uint16_t type, uint16_t flags, const std::string& interface,
                       const std::string& address) {
  in_addr ip{};
  if (::inet_pton(AF_INET, address.c_str(), &ip) != 1)
    return invalid("'{}' is no IPv4 address", address);
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = 32;
  head.ifa_index = ::if_nametoindex(interface.c_str());
  LinkMessage message(type, flags, head);
  message.number(IFA_LOCAL, ip.s_addr).number(IFA_ADDRESS, ip.s_addr);
  return transact(message, "address " + address + " of " + interface);
}

}  // namespace

// Without an address of its own a bridge takes the lowest of its ports', which come and go.
Result<> makeBridge(const std::string& name, const HardwareAddress& hardware) {
  if (::if_nametoindex(name.c_str()) != 0) return {};
  LinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.info().ifi_flags = IFF_UP;
  message.info().ifi_change = IFF_UP;
  message.text(IFLA_IFNAME, name).hardware(hardware);
  const size_t link = message.open(IFLA_LINKINFO);
  message.text(IFLA_INFO_KIND, "bridge");
  message.close(link);
  return transact(message, "bridge " + name);
}

Result<> makeVeth(const std::string& name, const std::string& bridge, NetworkOf peerPlace,
                  const HardwareAddress& hardware) {
  const unsigned master = ::if_nametoindex(bridge.c_str());
  if (master == 0) return failErrno(errno, "bridge " + bridge);
  (void)removeLink(name);
  LinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.info().ifi_flags = IFF_UP;
  message.info().ifi_change = IFF_UP;
  message.text(IFLA_IFNAME, name).number(IFLA_MASTER, master);
  const size_t link = message.open(IFLA_LINKINFO);
  message.text(IFLA_INFO_KIND, "veth");
  const size_t data = message.open(IFLA_INFO_DATA);
  const size_t peer = message.open(VETH_INFO_PEER);
  message.interface();
  message.text(IFLA_IFNAME, "eth0").hardware(hardware);
  if (peerPlace.fd >= 0)
    message.number(IFLA_NET_NS_FD, static_cast<uint32_t>(peerPlace.fd));
  else
    message.number(IFLA_NET_NS_PID, static_cast<uint32_t>(peerPlace.pid));
  message.close(peer);
  message.close(data);
  message.close(link);
  return transact(message, "virtual interface " + name);
}

Result<> removeLink(const std::string& name) {
  const unsigned index = ::if_nametoindex(name.c_str());
  if (index == 0) return {};
  LinkMessage message(RTM_DELLINK, 0);
  message.info().ifi_index = static_cast<int>(index);
  return transact(message, "removing interface " + name);
}

Result<> addAddress(const std::string& interface, const std::string& address) {
  auto added = changeAddress(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, interface, address);
  if (!added && added.error().code() == Code::kExists) return {};
  return added;
}

Result<> removeAddress(const std::string& interface, const std::string& address) {
  return changeAddress(RTM_DELADDR, 0, interface, address);
}

}  // namespace mangrove::runtime
