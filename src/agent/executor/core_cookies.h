#pragma once
// Core scheduling: processes with the same cookie may share a core, others never run beside them.
// The kernel's calls, and the pure decision which of them make the wanted groups.
//
//   std::vector<CookieStep> steps = cookieSteps(groups, cookies.present(pids));
//
// Debian 12's kernel is built without it; kernel::Feature::kCoreScheduling says so.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::agent {

// A process and the group whose core it may share; "": everybody's again.
struct CookieWish {
  int pid = 0;
  std::string group;
};

struct CookieStep {
  enum class Kind : uint8_t { kCreate, kShare, kClear };
  Kind kind = Kind::kCreate;
  int pid = 0;
  int from = 0;  // of kShare: who has the cookie
  bool operator==(const CookieStep&) const = default;
};
// In order. `present`: cookies of all pids named; a missing one is gone and left out. Within a
// group the first cookie that no other group has is kept.
std::vector<CookieStep> cookieSteps(std::span<const CookieWish> wishes,
                                    const std::map<int, uint64_t>& present);

class CoreCookies {
 public:
  virtual ~CoreCookies() = default;
  virtual Result<uint64_t> get(int pid) = 0;
  virtual Result<> run(const CookieStep& step) = 0;
};

// prctl(PR_SCHED_CORE). Sharing and clearing go through a short-lived thread, so that ours keeps
// cookie 0.
class KernelCookies final : public CoreCookies {
 public:
  Result<uint64_t> get(int pid) override;
  Result<> run(const CookieStep& step) override;
};

}  // namespace mangrove::agent
