#pragma once
// What the scheduler tells about gangs over HTTP: "gangs" lists all, "gang/<namespace>/<name>" one.

#include <optional>
#include <string_view>

#include "json/value.h"
#include "placement/plugins/coscheduling/gang_book.h"

namespace mangrove::placement {

// nullopt: no such page or gang.
std::optional<json::Value> gangPage(const GangBook& book, const KeptNodes& kept,
                                    std::string_view path);
// Of two profiles' pages: each gang as the profile sees it that has its members.
json::Value joinGangPages(json::Value first, json::Value other, std::string_view path);

}  // namespace mangrove::placement
