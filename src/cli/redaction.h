#pragma once
// Objects as they may be shown to strangers: without values of environment variables, without
// anything that looks like a key or a token, without the copies of itself that tools leave behind.
//
//   std::string shown = json::writePretty(redacted(pod));
//
// Pure functions.

#include <string>

#include "json/value.h"

namespace mangrove::cli {

inline constexpr std::string_view kRedacted = "(redacted)";

json::Value redacted(const json::Value& object);

}  // namespace mangrove::cli
