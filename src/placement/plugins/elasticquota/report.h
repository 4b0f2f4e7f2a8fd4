#pragma once
// The figures of a quota on its object, as far as they are not there already.
//
//   if (auto body = figuresPatch(object, numbers, {{kBorrowsSince, R"({"cpu":"…"})"}})) write(*body);
//
// Entries of zero count as absent when compared, so that an idle tree is never written. Pure; any
// thread.

#include <map>
#include <optional>
#include <string_view>

#include "api/koordinator/elastic_quota.h"
#include "base/number/units.h"
#include "json/value.h"
#include "placement/quota/ledger.h"

namespace mangrove::placement {

// Annotations of ours. Since when the quota uses more than its minimum, by resource:
// {"cpu":"2026-11-17T05:00:00Z"}. What it borrowed in the past, faded (argument fairOverTime).
inline constexpr std::string_view kBorrowsSince = "quota.mangrove.io/borrows-since";
inline constexpr std::string_view kPastUse = "quota.mangrove.io/past-use";

using Since = std::map<Interned, WallTime>;
std::string sinceText(const Since& since);  // "" when empty
// What can be read of it.
Since sinceOf(const api::ElasticQuota& object);

// A merge patch of annotations and status.used; nullopt: nothing has changed. `more`: further
// annotations as they are to be, where "" means absent.
std::optional<json::Object> figuresPatch(const api::ElasticQuota& object,
                                         const QuotaNumbers& numbers,
                                         const json::Object& more = {});

}  // namespace mangrove::placement
