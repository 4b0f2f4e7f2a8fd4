#pragma once
// The secrets of a server that live in its data directory. At start; any thread.
//
//   auto key = openSigningKey(dir + "/service-account.key");      // made when it is not there
//   auto tokens = openTokens(dir + "/tokens.csv");                // none when it is not there

#include <string>

#include "apiserver/auth/signing_key.h"
#include "apiserver/auth/static_tokens.h"
#include "base/result.h"

namespace mangrove::apiserver {

// A new key is written with mode 0600. One that cannot be read is an error, never replaced: every
// token made with it would end.
Result<SigningKey> openSigningKey(const std::string& path);
Result<StaticTokens> openTokens(const std::string& path);

}  // namespace mangrove::apiserver
