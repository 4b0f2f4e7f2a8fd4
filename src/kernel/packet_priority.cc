#include "kernel/packet_priority.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mangrove::kernel {
namespace {

UniqueFd bpf(bpf_cmd command, bpf_attr& attributes) {
  return UniqueFd(static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes)));
}

Failure refused(const char* what) {
  const int code = errno;
  return fail(code == EPERM || code == EACCES ? Code::kDenied : Code::kUnsupported, "{}: {}", what,
              std::strerror(code));
}

// skb->priority = priority; return 1 (let it pass).
Result<UniqueFd> load(uint32_t priority) {
  constexpr uint8_t kAnswer = 0, kPacket = 1, kValue = 2;  // registers
  const bpf_insn program[] = {
      {BPF_ALU64 | BPF_MOV | BPF_K, kValue, 0, 0, static_cast<int32_t>(priority)},
      {BPF_STX | BPF_MEM | BPF_W, kPacket, kValue,
       static_cast<int16_t>(offsetof(struct __sk_buff, priority)), 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, kAnswer, 0, 0, 1},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_SKB;
  attributes.expected_attach_type = BPF_CGROUP_INET_EGRESS;
  attributes.insns = reinterpret_cast<uint64_t>(program);
  attributes.insn_cnt = sizeof program / sizeof *program;
  attributes.license = reinterpret_cast<uint64_t>("GPL");
  UniqueFd fd = bpf(BPF_PROG_LOAD, attributes);
  if (!fd) return refused("load a program for packets");
  return fd;
}

}  // namespace

Result<PacketPriority> PacketPriority::attach(const std::string& cgroupDir, uint32_t priority) {
  const UniqueFd group(::open(cgroupDir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group) return failErrno(errno, cgroupDir);
  auto program = load(priority);
  if (!program) return pass(program.error());
  bpf_attr attributes{};
  attributes.link_create.prog_fd = static_cast<uint32_t>(program->get());
  attributes.link_create.target_fd = static_cast<uint32_t>(group.get());
  attributes.link_create.attach_type = BPF_CGROUP_INET_EGRESS;
  UniqueFd link = bpf(BPF_LINK_CREATE, attributes);
  if (!link) return refused("give a cgroup's packets a priority");
  return PacketPriority(std::move(link));
}

}  // namespace mangrove::kernel
