#pragma once
// Which of the two cgroup interfaces a file belongs to.

#include <cstdint>

namespace mangrove::kernel {

enum class CgroupVersion : uint8_t { kV1 = 1, kV2 = 2 };

}  // namespace mangrove::kernel
