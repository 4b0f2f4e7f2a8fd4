#include "apiserver/schema/pattern.h"

#include <re2/re2.h>

namespace mangrove::apiserver {

namespace {

constexpr int64_t kMostMemory =
    4 << 20;  // of one compiled pattern; Go's own limit is of this order

RE2::Options options() {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(kMostMemory);
  return out;
}

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(std::string_view source)
      : regex(re2::StringPiece(source.data(), source.size()), options()) {}
  RE2 regex;
};

Pattern::Pattern(std::string source, std::unique_ptr<Compiled> compiled)
    : source_(std::move(source)), compiled_(std::move(compiled)) {}
Pattern::~Pattern() = default;

Result<std::shared_ptr<const Pattern>> Pattern::compile(std::string_view source) {
  auto compiled = std::make_unique<Compiled>(source);
  if (!compiled->regex.ok())
    return invalid("'{}' is no regular expression: {}", source, compiled->regex.error());
  return std::shared_ptr<const Pattern>(new Pattern(std::string(source), std::move(compiled)));
}

bool Pattern::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled_->regex);
}

}  // namespace mangrove::apiserver
