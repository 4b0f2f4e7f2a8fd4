#pragma once
// What may stand in a label key or value, in the rules and limits of Kubernetes. Each check returns
// "" when the text is good, otherwise a sentence that says what is wrong with it and what would be
// right.
//
//   std::string why = labelKeyTrouble("Example.com/app");   // "prefix 'Example.com' …"
//
// Pure functions, any thread.

#include <string>
#include <string_view>

namespace mangrove::api {

inline constexpr size_t kMaxLabelName = 63;  // bytes of a label value and of the name part of a key
inline constexpr size_t kMaxDnsSubdomain =
    253;  // bytes of the prefix of a key, of most object names

std::string labelKeyTrouble(std::string_view key);      // "[prefix/]name"
std::string labelValueTrouble(std::string_view value);  // may be empty

// a-z, 0-9, '-' and '.', every dotted part starting and ending with a letter or digit (RFC 1123).
bool isDnsSubdomain(std::string_view text);
bool isDnsLabel(std::string_view text);  // one part of the above, up to 63 bytes

}  // namespace mangrove::api
