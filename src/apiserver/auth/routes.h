#pragma once
// What of this folder is reached through requests, put into a Server's tables. Owner thread; the
// arguments must outlive the server.
//
//   serveTokens(server, context, tokens);     // serviceaccounts/token, the OpenID documents
//   serveReviews(server, reviews);            // TokenReview, SubjectAccessReview, …

#include "apiserver/auth/reviews.h"
#include "apiserver/auth/service_account_token.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

// Also /openid/v1/jwks and /.well-known/openid-configuration.
void serveTokens(Server& server, Context& context, const ServiceAccountTokens& tokens);
// Each as the subresource "" of its kind: what happens on a create instead of storing.
void serveReviews(Server& server, Reviews& reviews);

}  // namespace mangrove::apiserver
