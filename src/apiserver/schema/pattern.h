#pragma once
// A compiled regular expression of a custom schema. Searching takes time in proportion to the text,
// whatever the pattern, so that no definition can stop the server.
//
//   auto pattern = Pattern::compile("^[a-z]+$");
//   if (!(*pattern)->matches(text)) …
//
// The syntax is RE2's, which is what Kubernetes reads them with. Immutable; any thread.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::apiserver {

class Pattern {
 public:
  static Result<std::shared_ptr<const Pattern>> compile(std::string_view source);
  ~Pattern();
  // Found anywhere in the text; anchors are the author's business.
  bool matches(std::string_view text) const;
  const std::string& source() const { return source_; }

 private:
  struct Compiled;
  Pattern(std::string source, std::unique_ptr<Compiled> compiled);
  std::string source_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace mangrove::apiserver
