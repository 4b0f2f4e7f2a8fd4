#include "runtime/core/env_expand.h"

namespace mangrove::runtime {

std::string expand(std::string_view text, const Environment& known) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t dollar = text.find('$', at);
    if (dollar == std::string_view::npos || dollar + 1 == text.size())
      return out.append(text.substr(at));
    out.append(text.substr(at, dollar - at));
    const char next = text[dollar + 1];
    const size_t close = next == '(' ? text.find(')', dollar + 2) : std::string_view::npos;
    if (next == '$') {
      out += '$';
      at = dollar + 2;
    } else if (close != std::string_view::npos) {
      const auto found = known.find(text.substr(dollar + 2, close - dollar - 2));
      out.append(found != known.end() ? std::string_view(found->second)
                                      : text.substr(dollar, close + 1 - dollar));
      at = close + 1;
    } else {
      out += '$';
      at = dollar + 1;
    }
  }
  return out;
}

std::vector<std::string> expand(const std::vector<std::string>& texts, const Environment& known) {
  std::vector<std::string> out;
  out.reserve(texts.size());
  for (const auto& text : texts) out.push_back(expand(text, known));
  return out;
}

}  // namespace mangrove::runtime
