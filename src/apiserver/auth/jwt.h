#pragma once
// JSON Web Tokens in their compact form, signed with ES256: three pieces of base64url. Nothing here
// knows what the claims mean. Pure; any thread.
//
//   std::string token = *makeJwt(key, claims);
//   Result<json::Value> claims = openJwt(key, token);      // only when the signature is right

#include <string>
#include <string_view>

#include "apiserver/auth/signing_key.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver {

// Two dots and nothing else that tokens of other makes have; says nothing of its truth.
bool looksLikeJwt(std::string_view token);

Result<std::string> makeJwt(const SigningKey& key, const json::Object& claims);
// kUnauthorized, with the reason, for anything this key did not sign. Of the algorithms a header
// may ask for, only our own is taken.
Result<json::Value> openJwt(const SigningKey& key, std::string_view token);

}  // namespace mangrove::apiserver
