#pragma once
// Integers as Go's strconv reads them when the base is left open: 12, +12, -0x1F, 0b101, 0o17, 017,
// 1_000. Labels and annotations are read so by the systems we are compatible with.

#include <cstdint>
#include <optional>
#include <string_view>

namespace mangrove::api {

// nullopt when the text is no such number or does not fit int64.
std::optional<int64_t> parseGoInt(std::string_view text);

// Go's strconv.ParseBool: 1, t, T, TRUE, true, True and their opposites; nullopt for everything
// else.
std::optional<bool> parseGoBool(std::string_view text);

}  // namespace mangrove::api
