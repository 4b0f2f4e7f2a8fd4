#pragma once
// `mangrove top --by quota`: the trees of quotas, a line for each resource, and below who borrows
// from whom.
//
//   for (const std::string& line : quotaLines(picture, view, 20)) puts(line);
//
// Pure, any thread.

#include <string>
#include <vector>

#include "dashboard/top.h"

namespace mangrove::dashboard {

// At most so many lines of quotas, after those that are skipped; all loans.
std::vector<std::string> quotaLines(const TopPicture& picture, const TopView& view, size_t most);

}  // namespace mangrove::dashboard
