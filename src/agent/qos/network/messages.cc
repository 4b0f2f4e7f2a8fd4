#include "agent/qos/network/messages.h"

#include <algorithm>
#include <cstring>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

namespace mangrove::agent {
namespace {

constexpr uint32_t kHtbVersion = 3;
constexpr uint32_t kQuantumDivisor = 10;
constexpr int64_t kPacket = 1600;     // the longest one and its header
constexpr int64_t kBurstShare = 250;  // 4 ms worth of the rate at once
constexpr int kTickShift = 6;         // the kernel's packet clock ticks every 64 ns
constexpr uint8_t kEthernet = 1;      // with it the kernel wants no tables of rates
// Where the sender's address is in an IP header.
constexpr int kSource4 = 12, kSource6 = 8;
// Preference of filters: each belongs to one protocol.
constexpr uint32_t kByCgroup = 1, kByAddress4 = 2, kByAddress6 = 3;

// One message, grown from the front: header, tcmsg, attributes.
class Message {
 public:
  Message(uint16_t type, uint16_t flags, const tcmsg& about) {
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
    add(&header, sizeof header);
    add(&about, sizeof about);
  }
  Message& attribute(uint16_t type, const void* data, size_t size) {
    const size_t at = open(type);
    add(data, size);
    return close(at);
  }
  Message& text(uint16_t type, const char* value) {
    return attribute(type, value, std::strlen(value) + 1);
  }
  template <class T>
  Message& value(uint16_t type, const T& data) {
    return attribute(type, &data, sizeof data);
  }
  size_t open(uint16_t type) {
    const size_t at = bytes_.size();
    rtattr header{};
    header.rta_type = type;
    add(&header, sizeof header);
    return at;
  }
  Message& close(size_t at) {
    const auto size = static_cast<unsigned short>(length_ - at);
    std::memcpy(bytes_.data() + at, &size, sizeof size);
    return *this;
  }
  std::string done() {
    const auto size = static_cast<uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &size, sizeof size);
    return std::move(bytes_);
  }

 private:
  void add(const void* data, size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
    length_ = bytes_.size();
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  std::string bytes_;
  size_t length_ = 0;  // without the padding at the end
};

tcmsg about(int device, uint32_t parent, uint32_t handle, uint32_t info = 0) {
  tcmsg out{};
  out.tcm_family = AF_UNSPEC;
  out.tcm_ifindex = device;
  out.tcm_parent = parent;
  out.tcm_handle = handle;
  out.tcm_info = info;
  return out;
}

constexpr uint16_t kMake = NLM_F_CREATE | NLM_F_ACK;

std::string rootMessage(const NetPlan& plan, int device) {
  Message out(RTM_NEWQDISC, kMake | NLM_F_EXCL, about(device, TC_H_ROOT, kOurRoot));
  out.text(TCA_KIND, "htb");
  const size_t options = out.open(TCA_OPTIONS);
  tc_htb_glob glob{};
  glob.version = kHtbVersion;
  glob.rate2quantum = kQuantumDivisor;
  glob.defcls = plan.fallback;
  out.value(TCA_HTB_INIT, glob);
  return out.close(options).done();
}

uint32_t clipped(int64_t rate) {
  return static_cast<uint32_t>(std::min<int64_t>(rate, UINT32_MAX));
}

uint32_t burstTicks(int64_t rate) {
  const int64_t bytes = rate / kBurstShare + kPacket;
  return clipped(
      static_cast<int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(rate)) >>
      kTickShift);
}

std::string classMessage(const NetClass& one, uint16_t root, int device) {
  const uint32_t parent = one.minor == root ? kOurRoot : kOurRoot | root;
  Message out(RTM_NEWTCLASS, kMake | NLM_F_REPLACE, about(device, parent, kOurRoot | one.minor));
  out.text(TCA_KIND, "htb");
  const size_t options = out.open(TCA_OPTIONS);
  tc_htb_opt opt{};
  opt.rate.linklayer = opt.ceil.linklayer = kEthernet;
  opt.rate.rate = clipped(one.rate);
  opt.ceil.rate = clipped(one.ceil);
  opt.buffer = burstTicks(one.rate);
  opt.cbuffer = burstTicks(one.ceil);
  opt.prio = one.priority;
  if (one.rate > UINT32_MAX) out.value(TCA_HTB_RATE64, static_cast<uint64_t>(one.rate));
  if (one.ceil > UINT32_MAX) out.value(TCA_HTB_CEIL64, static_cast<uint64_t>(one.ceil));
  out.value(TCA_HTB_PARMS, opt);
  return out.close(options).done();
}

uint32_t filterInfo(uint32_t preference, uint16_t protocol) {
  return preference << 16 | htons(protocol);
}

std::string cgroupFilter(int device) {
  Message out(RTM_NEWTFILTER, kMake, about(device, kOurRoot, 1, filterInfo(kByCgroup, ETH_P_ALL)));
  out.text(TCA_KIND, "cgroup");
  const size_t options = out.open(TCA_OPTIONS);
  return out.close(options).done();
}

// What a packet's source is compared with, four bytes at a time.
std::string sourceKeys(const void* address, size_t size, int offset) {
  tc_u32_sel head{};
  head.flags = TC_U32_TERMINAL;
  head.nkeys = static_cast<unsigned char>(size / sizeof(uint32_t));
  std::string out(reinterpret_cast<const char*>(&head), sizeof head);
  for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
    tc_u32_key key{};
    key.mask = 0xffffffff;
    std::memcpy(&key.val, static_cast<const char*>(address) + at, sizeof key.val);
    key.off = offset + static_cast<int>(at);
    out.append(reinterpret_cast<const char*>(&key), sizeof key);
  }
  return out;
}

// Empty: no address.
std::string addressFilter(const NetMember& member, int device) {
  in_addr four{};
  in6_addr six{};
  const bool is4 = ::inet_pton(AF_INET, member.address.c_str(), &four) == 1;
  if (!is4 && ::inet_pton(AF_INET6, member.address.c_str(), &six) != 1) return "";
  const uint32_t info =
      is4 ? filterInfo(kByAddress4, ETH_P_IP) : filterInfo(kByAddress6, ETH_P_IPV6);
  Message out(RTM_NEWTFILTER, kMake, about(device, kOurRoot, 0, info));
  out.text(TCA_KIND, "u32");
  const size_t options = out.open(TCA_OPTIONS);
  out.value(TCA_U32_CLASSID, kOurRoot | member.minor);
  const std::string select =
      is4 ? sourceKeys(&four, sizeof four, kSource4) : sourceKeys(&six, sizeof six, kSource6);
  out.attribute(TCA_U32_SEL, select.data(), select.size());
  return out.close(options).done();
}

}  // namespace

std::vector<std::string> planMessages(const NetPlan& plan, int device, bool fresh) {
  std::vector<std::string> out;
  if (fresh) out.push_back(rootMessage(plan, device));
  const uint16_t root = plan.classes.empty() ? 1 : plan.classes.front().minor;
  for (const NetClass& one : plan.classes) out.push_back(classMessage(one, root, device));
  // All filters of before, then ours.
  if (!fresh) out.push_back(Message(RTM_DELTFILTER, NLM_F_ACK, about(device, kOurRoot, 0)).done());
  out.push_back(cgroupFilter(device));
  for (const NetMember& member : plan.members)
    if (std::string filter = addressFilter(member, device); !filter.empty())
      out.push_back(std::move(filter));
  return out;
}

bool isOptional(const std::string& message) {
  nlmsghdr header{};
  if (message.size() < sizeof header) return false;
  std::memcpy(&header, message.data(), sizeof header);
  return header.nlmsg_type == RTM_NEWTFILTER || header.nlmsg_type == RTM_DELTFILTER;
}

std::string removeMessage(int device) {
  return Message(RTM_DELQDISC, NLM_F_ACK, about(device, TC_H_ROOT, kOurRoot)).done();
}

std::string listMessage() {
  return Message(RTM_GETQDISC, NLM_F_DUMP, about(0, 0, 0)).done();
}

uint32_t rootHandleIn(const char* message, size_t size, int device) {
  nlmsghdr header{};
  tcmsg found{};
  if (size < NLMSG_LENGTH(sizeof found)) return 0;
  std::memcpy(&header, message, sizeof header);
  std::memcpy(&found, message + NLMSG_HDRLEN, sizeof found);
  if (header.nlmsg_type != RTM_NEWQDISC || found.tcm_ifindex != device) return 0;
  return found.tcm_parent == TC_H_ROOT ? found.tcm_handle : 0;
}

}  // namespace mangrove::agent
