#pragma once
// Bearer tokens an administrator wrote down, one line each, as kube-apiserver's token file:
//
//   token,user,uid[,"group1,group2"]
//
//   auto tokens = StaticTokens::parse(*readFile(path));
//   tokens->add(*randomToken(), {"admin", "", {"system:masters"}, {}});
//   const Identity* who = tokens->find(given);
//
// Only digests are kept, and a search looks at all of them in constant time. Const access from any
// thread.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/identity.h"
#include "base/result.h"

namespace mangrove::apiserver {

class StaticTokens {
 public:
  // Empty lines and lines that start with '#' are skipped. Errors name the line, never the token.
  static Result<StaticTokens> parse(std::string_view text);

  // kExists for a token that is there already, kInvalid for an empty token or user.
  Result<> add(std::string_view token, Identity who);
  // nullptr when nobody has it. Groups as written, system:authenticated is not among them.
  const Identity* find(std::string_view token) const;
  size_t size() const { return tokens_.size(); }

 private:
  std::vector<std::pair<std::string, Identity>> tokens_;  // digest, whose
};

}  // namespace mangrove::apiserver
