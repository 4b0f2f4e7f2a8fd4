#include "agent/qos/network/shaper.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <linux/netlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/qos/network/messages.h"
#include "base/os/fd.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("network");

Failure system(const char* what) {
  const int code = errno;
  return fail(code == EPERM || code == EACCES ? Code::kDenied : Code::kIo, "{}: {}", what,
              code == EPERM ? "not permitted (CAP_NET_ADMIN is missing)" : std::strerror(code));
}

Result<UniqueFd> openSocket() {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (fd.get() < 0) return system("open a netlink socket");
  const timeval limit{2, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return fd;
}

// Sends one message and waits for the kernel's verdict.
Result<> ask(int fd, const std::string& message) {
  if (::send(fd, message.data(), message.size(), 0) < 0) return system("send to the kernel");
  alignas(nlmsghdr) char answer[4096];
  const ssize_t size = ::recv(fd, answer, sizeof answer, 0);
  if (size < 0) return system("read the kernel's answer");
  nlmsghdr header{};
  nlmsgerr verdict{};
  if (static_cast<size_t>(size) < NLMSG_LENGTH(sizeof verdict))
    return fail(Code::kIo, "the kernel's answer is too short ({} bytes)", size);
  std::memcpy(&header, answer, sizeof header);
  std::memcpy(&verdict, answer + NLMSG_HDRLEN, sizeof verdict);
  if (header.nlmsg_type != NLMSG_ERROR || verdict.error == 0) return {};
  errno = -verdict.error;
  return system("change the network's classes");
}

Result<int> indexOf(const std::string& device) {
  const unsigned index = ::if_nametoindex(device.c_str());
  if (index == 0) return fail(Code::kNotFound, "there is no network device '{}'", device);
  return static_cast<int>(index);
}

// Walks the kernel's list of queues.
Result<uint32_t> rootHandle(int fd, int device) {
  const std::string question = listMessage();
  if (::send(fd, question.data(), question.size(), 0) < 0) return system("send to the kernel");
  uint32_t handle = 0;
  for (;;) {
    alignas(nlmsghdr) char answer[32768];
    const ssize_t size = ::recv(fd, answer, sizeof answer, 0);
    if (size < 0) return system("read the kernel's answer");
    auto left = static_cast<unsigned>(size);
    for (auto* one = reinterpret_cast<nlmsghdr*>(answer); NLMSG_OK(one, left);
         one = NLMSG_NEXT(one, left)) {
      if (one->nlmsg_type == NLMSG_DONE) return handle;
      if (one->nlmsg_type == NLMSG_ERROR) return fail(Code::kIo, "the kernel lists no queues");
      if (handle == 0)
        handle = rootHandleIn(reinterpret_cast<const char*>(one), one->nlmsg_len, device);
    }
  }
}

}  // namespace

Result<bool> NetlinkShaper::isThere(const std::string& device) {
  auto fd = openSocket();
  auto index = indexOf(device);
  if (!fd) return pass(fd.error());
  if (!index) return pass(index.error());
  auto handle = rootHandle(fd->get(), *index);
  if (!handle) return pass(handle.error());
  return *handle == kOurRoot;
}

Result<> NetlinkShaper::apply(const NetPlan& plan) {
  auto there = isThere(plan.device);
  if (!there) return pass(there.error());
  auto fd = openSocket();
  auto index = indexOf(plan.device);
  if (!fd) return pass(fd.error());
  if (!index) return pass(index.error());
  for (const std::string& message : planMessages(plan, *index, !*there)) {
    auto ok = ask(fd->get(), message);
    // No filters of before, or a kernel without the cgroup filter: the rest is worth having.
    if (!ok && ok.error().code() != Code::kDenied && isOptional(message)) continue;
    if (!ok) return ok.error().in("device {}", plan.device);
  }
  followGroups(plan.groups);
  return {};
}

// Pods in the host's network. A group that went took its program with it. Where the kernel refuses,
// the classes of the others are worth having.
void NetlinkShaper::followGroups(const std::vector<NetGroup>& groups) {
  std::map<std::string, Marked> kept;
  for (const NetGroup& group : groups) {
    auto known = marked_.extract(group.dir);
    if (!known.empty() && known.mapped().minor == group.minor) {
      kept.insert(std::move(known));
      continue;
    }
    auto priority = kernel::PacketPriority::attach(group.dir, kOurRoot | group.minor);
    if (priority)
      kept.emplace(group.dir, Marked{group.minor, *std::move(priority)});
    else if (std::exchange(trouble_, priority.error().text()) != priority.error().text())
      log.warn("{} sends in the system's class: {}", group.dir, priority.error().text());
  }
  marked_ = std::move(kept);
}

Result<> NetlinkShaper::remove(const std::string& device) {
  marked_.clear();
  auto there = isThere(device);
  if (!there) return pass(there.error());
  if (!*there) return {};
  auto fd = openSocket();
  auto index = indexOf(device);
  if (!fd) return pass(fd.error());
  if (!index) return pass(index.error());
  return ask(fd->get(), removeMessage(*index));
}

}  // namespace mangrove::agent
