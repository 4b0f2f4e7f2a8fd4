#include "agent/executor/core_cookies.h"

#include <cerrno>
#include <cstring>
#include <set>
#include <thread>

#include <sys/prctl.h>

namespace mangrove::agent {
namespace {

// linux/prctl.h of Debian 12 has them, older headers do not.
constexpr int kSchedCore = 62;
constexpr unsigned long kGet = 0, kCreate = 1, kShareTo = 2, kShareFrom = 3;
constexpr unsigned long kOneThread = 0, kWholeProcess = 1;

Result<> core(unsigned long command, int pid, unsigned long scope, uint64_t* cookie = nullptr) {
  if (::prctl(kSchedCore, command, pid, scope, cookie) == 0) return {};
  return fail(errno == ESRCH ? Code::kNotFound : Code::kIo, "core scheduling of process {}: {}",
              pid, std::strerror(errno));
}

// The group's cookie that already exists: the first one that belongs to nobody else.
int leaderOf(const std::vector<int>& pids, const std::map<int, uint64_t>& present,
             const std::set<uint64_t>& taken) {
  for (int pid : pids) {
    const uint64_t cookie = present.at(pid);
    if (cookie != 0 && taken.count(cookie) == 0) return pid;
  }
  return 0;
}

}  // namespace

std::vector<CookieStep> cookieSteps(std::span<const CookieWish> wishes,
                                    const std::map<int, uint64_t>& present) {
  using Kind = CookieStep::Kind;
  std::vector<CookieStep> steps;
  std::map<std::string, std::vector<int>> groups;
  for (const CookieWish& one : wishes)
    if (present.count(one.pid) != 0) groups[one.group].push_back(one.pid);
  std::set<uint64_t> taken;
  for (const auto& [group, pids] : groups) {
    if (group.empty()) {
      for (int pid : pids)
        if (present.at(pid) != 0) steps.push_back({Kind::kClear, pid, 0});
      continue;
    }
    int leader = leaderOf(pids, present, taken);
    const uint64_t cookie = leader != 0 ? present.at(leader) : 0;
    if (leader == 0) steps.push_back({Kind::kCreate, leader = pids.front(), 0});
    if (cookie != 0) taken.insert(cookie);
    for (int pid : pids)
      if (pid != leader && (cookie == 0 || present.at(pid) != cookie))
        steps.push_back({Kind::kShare, pid, leader});
  }
  return steps;
}

Result<uint64_t> KernelCookies::get(int pid) {
  uint64_t cookie = 0;
  if (auto ok = core(kGet, pid, kOneThread, &cookie); !ok) return pass(ok.error());
  return cookie;
}

Result<> KernelCookies::run(const CookieStep& step) {
  if (step.kind == CookieStep::Kind::kCreate) return core(kCreate, step.pid, kWholeProcess);
  Result<> out;
  std::thread([&] {
    if (step.kind == CookieStep::Kind::kShare)
      if (out = core(kShareFrom, step.from, kOneThread); !out) return;
    out = core(kShareTo, step.pid, kWholeProcess);
  }).join();
  return out;
}

}  // namespace mangrove::agent
