#include "apiserver/schema/pattern.h"

#include <boost/regex.hpp>

namespace mangrove::apiserver {

struct Pattern::Compiled {
  boost::regex regex;
};

Pattern::Pattern(std::string source, std::unique_ptr<Compiled> compiled)
    : source_(std::move(source)), compiled_(std::move(compiled)) {}
Pattern::~Pattern() = default;

Result<std::shared_ptr<const Pattern>> Pattern::compile(std::string_view source) {
  try {
    auto compiled = std::make_unique<Compiled>();
    compiled->regex.assign(source.begin(), source.end(), boost::regex::perl);
    return std::shared_ptr<const Pattern>(new Pattern(std::string(source), std::move(compiled)));
  } catch (const std::exception& e) {
    return invalid("'{}' is no regular expression: {}", source, e.what());
  }
}

bool Pattern::matches(std::string_view text) const {
  try {
    // "$" means the very end, as in RE2, and "." takes everything but a line end.
    return boost::regex_search(text.begin(), text.end(), compiled_->regex,
                               boost::match_single_line | boost::match_not_dot_newline);
  } catch (const std::exception&) {  // thrown when matching would take too long
    return false;
  }
}

}  // namespace mangrove::apiserver
