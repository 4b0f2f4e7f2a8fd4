#pragma once
// /proc/cpuinfo: who made the CPU and what it can do. Only the first processor is read; machines
// with different kinds are described by it, as the reference does.
//
//   CpuInfoText info = parseCpuInfo(text);
//   info.hasFlag("cat_l3")
//
// Views into the text given. Pure.

#include <string_view>

namespace mangrove::kernel {

// Whether a vendor as below is one of ARM's implementers.
inline bool isArm(std::string_view vendor) {
  return vendor.starts_with("0x");
}

struct CpuInfoText {
  std::string_view modelName;
  std::string_view vendor;  // GenuineIntel, AuthenticAMD; ARM: the implementer's number
  std::string_view flags;   // separated by blanks; ARM: Features
  bool hasFlag(std::string_view flag) const;
};
CpuInfoText parseCpuInfo(std::string_view text);

}  // namespace mangrove::kernel
