#pragma once
// Who asks: from a connection and its headers to an Identity, or to the answer 401.
//
//   Authenticator authenticator(tokens, &accounts, rbac);
//   auto who = authenticator.authenticate(request.peer, request.headers, info);
//   if (!who) return respond(who.error());
//
// In this order: a verified client certificate (common name is the user, organisations are the
// groups), then a bearer token (written down, or of a service account). A credential that is given
// but wrong is always 401. Without one only the health and version paths can be read, as
// system:anonymous. Whoever is known also gets the group system:authenticated. Impersonate-*
// headers then put another identity in place, if the Authorizer lets this one do that. Owner
// thread.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/answer.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/service_account_token.h"
#include "apiserver/auth/static_tokens.h"
#include "apiserver/identity.h"
#include "apiserver/request.h"
#include "net/http/http.h"

namespace mangrove::apiserver {

class Authenticator {
 public:
  // `accounts` may be null: no service-account tokens then.
  Authenticator(StaticTokens tokens, ServiceAccountTokens* accounts, Authorizer& authorizer)
      : tokens_(std::move(tokens)), accounts_(accounts), authorizer_(authorizer) {}

  // From the next request on.
  void setTokens(StaticTokens tokens) { tokens_ = std::move(tokens); }

  Outcome<Identity> authenticate(const net::PeerInfo& peer, const net::Headers& headers,
                                 const RequestInfo& info);
  // The same before another's identity is put in place.
  Outcome<Identity> known(const net::PeerInfo& peer, const net::Headers& headers,
                          const RequestInfo& info);

  // Whose token that is, for authenticate() and for token reviews. kUnauthorized with the reason,
  // which is for reviews and logs only. `audiences` empty: those of the API server.
  Result<TokenOwner> ownerOf(std::string_view token, const std::vector<std::string>& audiences);

 private:
  StaticTokens tokens_;
  ServiceAccountTokens* accounts_;
  Authorizer& authorizer_;
};

// What everybody may read: /healthz, /livez, /readyz and what is below them, /version.
bool isPublic(const RequestInfo& info);

// `who` himself when the headers ask for nobody else. 400 for headers that make no sense, 403 when
// the Authorizer refuses the verb "impersonate" on any part of what is asked for.
Outcome<Identity> impersonate(Identity who, const net::Headers& headers, Authorizer& authorizer);

}  // namespace mangrove::apiserver
