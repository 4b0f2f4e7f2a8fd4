#include "kernel/cpu_info.h"

#include "base/text/strings.h"
#include "kernel/scan.h"

namespace mangrove::kernel {

bool CpuInfoText::hasFlag(std::string_view flag) const {
  for (Words words(flags); words.next();)
    if (words.word == flag) return true;
  return false;
}

CpuInfoText parseCpuInfo(std::string_view text) {
  CpuInfoText info;
  for (Lines lines(text); lines.next();) {
    const Halves halves = cut(lines.line, ':');
    if (!halves.found) continue;
    const std::string_view key = trim(halves.before), value = trim(halves.after);
    if (key == "model name" && info.modelName.empty()) info.modelName = value;
    if ((key == "vendor_id" || key == "CPU implementer") && info.vendor.empty())
      info.vendor = value;
    if ((key == "flags" || key == "Features") && info.flags.empty()) info.flags = value;
    if (!info.modelName.empty() && !info.vendor.empty() && !info.flags.empty()) break;
  }
  return info;
}

}  // namespace mangrove::kernel
