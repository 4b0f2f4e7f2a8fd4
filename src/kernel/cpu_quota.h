#pragma once
// How much CPU time a group may use per period: the one encoding of "no limit".
//
//   CpuQuota::ofUs(50000).text(CgroupVersion::kV2)      // "50000"
//   CpuQuota::none().text(CgroupVersion::kV1)           // "-1"
//
// A value; any thread.

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

#include "kernel/cgroup_version.h"

namespace mangrove::kernel {

inline constexpr int64_t kCfsPeriodUs = 100000;  // the kernel's default, and the kubelet's
inline constexpr int64_t kLeastQuotaUs = 1000;   // the kernel refuses less

// CPU time per period, or no limit, which is more than any amount: quotas compare and add as what
// they allow. "-1" of v1, "max" of v2 and a missing limit of a pod become this at the door.
class CpuQuota {
 public:
  static constexpr CpuQuota none() { return CpuQuota(kNone); }
  static constexpr CpuQuota ofUs(int64_t us) { return CpuQuota(us < 0 ? kNone : us); }

  constexpr bool isNone() const { return us_ == kNone; }
  // Microseconds per period; the largest number for none.
  constexpr int64_t us() const { return us_; }
  // As v1 writes it: "-1" for none.
  constexpr int64_t signedUs() const { return isNone() ? -1 : us_; }
  // What the file of that version takes: "-1", "max", "50000". v2 keeps the period it has.
  std::string text(CgroupVersion version) const;
  // cpu.max with its period: "max 100000".
  std::string withPeriod(int64_t periodUs = kCfsPeriodUs) const;

  friend constexpr CpuQuota operator+(CpuQuota a, CpuQuota b) {
    return a.isNone() || b.isNone() ? none() : CpuQuota(a.us_ + b.us_);
  }
  constexpr auto operator<=>(const CpuQuota&) const = default;

 private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  explicit constexpr CpuQuota(int64_t us) : us_(us) {}
  int64_t us_;
};

}  // namespace mangrove::kernel
