#pragma once
// How scalars look in JSON text. One place, so that a view, a value and a quantity given as a
// number print alike.

#include <cstdint>
#include <string>
#include <string_view>

namespace mangrove::json {

// With quotes. Escapes what RFC 8259 demands and nothing else; UTF-8 passes through.
void appendString(std::string_view text, std::string& out);
void appendInteger(int64_t number, std::string& out);
void appendUnsigned(uint64_t number, std::string& out);

// Shortest digits that read back as the same double, laid out as Go does: plain notation from 1e-6
// up to below 1e21 (0.000001, 100000000000000000000), exponents outside (1e-7, 1e+21), no ".0" on
// whole numbers. JSON has no NaN and no infinity; both become null.
void appendDouble(double number, std::string& out);

}  // namespace mangrove::json
