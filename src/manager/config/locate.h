#pragma once
// Where in a JSON text the value of a path stands, so that a trouble found after decoding can point
// at what the person wrote.
//
//   locate(R"({"nodeConfigs":[{"enable":3}]})", "nodeConfigs[0].enable")   // 26
//
// Pure; any thread. The text should be valid JSON; on other text the answer is only less precise.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::manager {

// "a.b[1].c" and "labels[x.y/z]" → {"a","b","1","c"}, {"labels","x.y/z"}.
std::vector<std::string> pathSegments(std::string_view path);

// Offset of the value; of the deepest value on the way when the rest is not there.
size_t locate(std::string_view text, std::string_view path);

}  // namespace mangrove::manager
