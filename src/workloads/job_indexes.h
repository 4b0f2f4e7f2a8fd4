#pragma once
// The completed indexes of an Indexed Job as its status writes them: "0,2-4". Pure functions, any
// thread.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace mangrove::workloads {

std::set<int32_t> parseIndexes(std::string_view text);  // parts that are no range are passed over
std::string formatIndexes(const std::set<int32_t>& indexes);

}  // namespace mangrove::workloads
