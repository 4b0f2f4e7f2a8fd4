#pragma once
// What the linter found, told as `explain` and `check` tell: for `check config` and `check
// cluster`. Pure functions.

#include "cli/voice.h"
#include "manager/webhook/configmap/lint.h"

namespace mangrove::cli {

// The findings of one more file.
void addTo(manager::Lint& all, manager::Lint more);
Told configVerdict(const manager::Lint& lint);
// "1 error", "2 errors".
std::string counted(size_t count, std::string_view one, std::string_view many);

}  // namespace mangrove::cli
