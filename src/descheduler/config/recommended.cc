#include "descheduler/config/recommended.h"

#include <span>

#include "base/asset.h"

namespace mangrove::descheduler {

// The chart's files/config/descheduler.yaml, part of the binary (cmake/Embed.cmake).
std::span<const Asset> recommendedAssets();

DeschedulerConfig recommendedConfig() {
  return *readConfig(recommendedAssets().front().bytes, "the recommended configuration");
}

}  // namespace mangrove::descheduler
