#pragma once
// Environment and command lines: $(NAME) is replaced by variables that are known, $$ is a dollar,
// what is not known stays as it is. Pure.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::runtime {

using Environment = std::map<std::string, std::string, std::less<>>;

std::string expand(std::string_view text, const Environment& known);
std::vector<std::string> expand(const std::vector<std::string>& texts, const Environment& known);

}  // namespace mangrove::runtime
