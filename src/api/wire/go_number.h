#pragma once
// Integers as Go's strconv reads them when the base is left open: 12, +12, -0x1F, 0b101, 0o17, 017,
// 1_000. Labels and annotations are read so by the systems we are compatible with.

#include <cstdint>
#include <optional>
#include <string_view>

namespace mangrove::api {

// nullopt when the text is no such number or does not fit int64.
std::optional<int64_t> parseGoAnyBase(std::string_view text);

}  // namespace mangrove::api
