#pragma once
// Ratios that parse and cannot be used: normalization outside of 1 to 5, amplification below 1. The
// reference accepts them and fails later, node by node; so do we, with a warning beforehand.

#include <string_view>

#include "manager/config/finding.h"
#include "manager/webhook/configmap/entries.h"

namespace mangrove::manager {

// Adds a warning for each; nothing for keys that have no ratios. Pure; any thread.
void checkRatios(std::string_view key, const ReadKey& read, FindingsAbout& out);

}  // namespace mangrove::manager
