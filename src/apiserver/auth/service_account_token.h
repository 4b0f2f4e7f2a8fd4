#pragma once
// Tokens of service accounts: signed statements "this is NS/NAME", good until they expire and for
// as long as the account, and the pod they were made for, exist.
//
//   ServiceAccountTokens tokens(key, {.issuer = "https://kubernetes.default.svc"}, clock, store);
//   auto token = tokens.issue(claims);
//   auto who = tokens.verify(*token, {});       // for the API server itself
//
// Claims as Kubernetes has them, so that client libraries and pods can read them. Verified
// signatures are remembered by digest; expiry and existence are looked at every time. Owner thread,
// since it reads the store.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/auth/signing_key.h"
#include "apiserver/identity.h"
#include "base/clock.h"
#include "base/result.h"
#include "json/value.h"
#include "store/store.h"

namespace mangrove::apiserver {

struct ObjectName {
  std::string name, uid;
};

// What a token says. Empty names: not bound to such an object.
struct TokenClaims {
  std::string ns;
  ObjectName account;
  std::vector<std::string> audiences;  // empty: the API server
  WallTime issuedAt{};
  WallTime expiresAt{};
  std::string id;
  ObjectName pod, node, secret;
};
json::Object writeClaims(const TokenClaims& claims, std::string_view issuer);
Result<TokenClaims> readClaims(const json::Object& claims);

// Somebody a token stands for, and for whom the token may be shown.
struct TokenOwner {
  Identity who;
  std::vector<std::string> audiences;
};

class ServiceAccountTokens {
 public:
  struct Options {
    std::string issuer = "https://kubernetes.default.svc.cluster.local";
    // Whom a token must be meant for to be taken here. Empty: the issuer.
    std::vector<std::string> audiences = {};
    std::string jwksUri = {};  // empty: below the issuer
  };
  ServiceAccountTokens(SigningKey key, Options options, const Clock& clock,
                       const store::Store& store);

  // From now on this one signs; what earlier ones signed counts until it expires or we end.
  void setKey(SigningKey key);
  Result<std::string> issue(TokenClaims claims) const;
  // kUnauthorized with the reason. `audiences` empty: those of the API server.
  Result<TokenOwner> verify(std::string_view token, const std::vector<std::string>& audiences);

  const std::vector<std::string>& audiences() const { return options_.audiences; }
  json::Object jwks() const;           // /openid/v1/jwks
  json::Object configuration() const;  // /.well-known/openid-configuration

 private:
  Result<TokenClaims> open(std::string_view token);
  Result<> checkTime(const TokenClaims& claims) const;
  Result<> checkObjects(const TokenClaims& claims) const;

  SigningKey key_;
  std::vector<SigningKey> earlier_;
  Options options_;
  const Clock& clock_;
  const store::Store& store_;
  std::unordered_map<std::string, TokenClaims> verified_;  // by digest of the token
};

// Groups and extra facts that follow from the claims.
Identity identityOf(const TokenClaims& claims);
// The groups of an account in `ns`, without system:authenticated.
std::vector<std::string> serviceAccountGroups(std::string_view ns);

}  // namespace mangrove::apiserver
