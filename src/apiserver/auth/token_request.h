#pragma once
// POST …/serviceaccounts/NAME/token: a token for an account, perhaps bound to a pod, secret or
// node. Owner thread; routes.h registers it.
//
//   Outcome<json::Value> answer = requestToken(context, tokens, call);

#include "apiserver/answer.h"
#include "apiserver/auth/service_account_token.h"
#include "apiserver/core/server.h"
#include "json/value.h"

namespace mangrove::apiserver {

// As Kubernetes has them.
inline constexpr int64_t kLeastTokenSeconds = 600;
inline constexpr int64_t kMostTokenSeconds = int64_t{1} << 32;
inline constexpr int64_t kUsualTokenSeconds = 3600;

// The TokenRequest with its status, or the refusal. `call` names namespace and account.
Outcome<json::Value> requestToken(Context& context, const ServiceAccountTokens& tokens,
                                  const Call& call);

}  // namespace mangrove::apiserver
