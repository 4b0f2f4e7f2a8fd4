#include "apiserver/auth/service_account_token.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "apiserver/auth/jwt.h"
#include "apiserver/auth/rbac.h"
#include "apiserver/auth/texts.h"
#include "apiserver/core/object.h"
#include "apiserver/core/resources.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

// Enough for every pod of a machine; beyond that the memory is started anew.
constexpr size_t kMostRemembered = 4096;
// Clocks of clients may be behind ours, never the other way round: we are the ones who sign.
constexpr auto kLeeway = std::chrono::seconds(60);
constexpr std::string_view kExtra = "authentication.kubernetes.io/";

int64_t seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

WallTime timeAt(const json::Object& claims, std::string_view key) {
  const json::Value* value = claims.if_contains(key);
  if (!value || !value->is_int64()) return WallTime{};
  const int64_t latest = seconds(WallTime::max());
  return WallTime(std::chrono::seconds(std::clamp<int64_t>(value->get_int64(), 0, latest)));
}

json::Object nameObject(const ObjectName& name) {
  json::Object out{{"name", name.name}};
  if (!name.uid.empty()) out["uid"] = name.uid;
  return out;
}

ObjectName readName(const json::Object& parent, std::string_view key) {
  const json::Object* object = findObject(parent, key);
  if (!object) return {};
  return {std::string(textAt(*object, "name")), std::string(textAt(*object, "uid"))};
}

// "aud" may be one text or a list.
std::vector<std::string> readAudiences(const json::Object& claims) {
  const std::string_view one = textAt(claims, "aud");
  return one.empty() ? textsAt(claims, "aud") : std::vector{std::string(one)};
}

Result<> checkExists(const store::Store& store, std::string_view plural, const std::string& ns,
                     const ObjectName& wanted) {
  if (wanted.name.empty()) return {};
  const auto object = store.get(Resources::storedName("", plural), ns, wanted.name);
  if (!object)
    return fail(Code::kUnauthorized, "token: its object in {}, \"{}\", does not exist any more",
                plural, wanted.name);
  if (object->uid() != wanted.uid)
    return fail(Code::kUnauthorized, "token: {} \"{}\" is another one now, with uid {}", plural,
                wanted.name, object->uid());
  return {};
}

}  // namespace

json::Object writeClaims(const TokenClaims& claims, std::string_view issuer) {
  json::Object bound{{"namespace", claims.ns}};
  if (!claims.node.name.empty()) bound["node"] = nameObject(claims.node);
  if (!claims.pod.name.empty()) bound["pod"] = nameObject(claims.pod);
  if (!claims.secret.name.empty()) bound["secret"] = nameObject(claims.secret);
  bound["serviceaccount"] = nameObject(claims.account);
  return {{"aud", arrayOf(claims.audiences)},
          {"exp", seconds(claims.expiresAt)},
          {"iat", seconds(claims.issuedAt)},
          {"iss", issuer},
          {"jti", claims.id},
          {"kubernetes.io", std::move(bound)},
          {"nbf", seconds(claims.issuedAt)},
          {"sub", serviceAccountUser(claims.ns, claims.account.name)}};
}

Result<TokenClaims> readClaims(const json::Object& claims) {
  const json::Object* bound = findObject(claims, "kubernetes.io");
  if (!bound) return fail(Code::kUnauthorized, "token: it has no claim \"kubernetes.io\"");
  TokenClaims out;
  out.ns = textAt(*bound, "namespace");
  out.account = readName(*bound, "serviceaccount");
  out.pod = readName(*bound, "pod");
  out.node = readName(*bound, "node");
  out.secret = readName(*bound, "secret");
  out.audiences = readAudiences(claims);
  out.issuedAt = timeAt(claims, "nbf");
  out.expiresAt = timeAt(claims, "exp");
  out.id = textAt(claims, "jti");
  if (out.ns.empty() || out.account.name.empty() || out.account.uid.empty() ||
      textAt(claims, "sub") != serviceAccountUser(out.ns, out.account.name))
    return fail(Code::kUnauthorized, "token: its subject \"{}\" is no service account",
                textAt(claims, "sub"));
  return out;
}

std::vector<std::string> serviceAccountGroups(std::string_view ns) {
  return {std::string(group::kServiceAccounts), fmt::format("{}:{}", group::kServiceAccounts, ns)};
}

Identity identityOf(const TokenClaims& claims) {
  Identity who{serviceAccountUser(claims.ns, claims.account.name),
               claims.account.uid,
               serviceAccountGroups(claims.ns),
               {}};
  who.groups.emplace_back(group::kAuthenticated);
  auto add = [&](std::string_view key, std::string value) {
    who.extra.emplace_back(std::string(kExtra).append(key), std::vector{std::move(value)});
  };
  if (!claims.id.empty()) add("credential-id", "JTI=" + claims.id);
  if (!claims.node.name.empty()) add("node-name", claims.node.name);
  if (!claims.node.uid.empty()) add("node-uid", claims.node.uid);
  if (!claims.pod.name.empty()) add("pod-name", claims.pod.name);
  if (!claims.pod.uid.empty()) add("pod-uid", claims.pod.uid);
  return who;
}

ServiceAccountTokens::ServiceAccountTokens(SigningKey key, Options options, const Clock& clock,
                                           const store::Store& store)
    : key_(std::move(key)), options_(std::move(options)), clock_(clock), store_(store) {
  if (options_.audiences.empty()) options_.audiences = {options_.issuer};
  if (options_.jwksUri.empty()) options_.jwksUri = options_.issuer + "/openid/v1/jwks";
}

void ServiceAccountTokens::setKey(SigningKey key) {
  if (key.id() == key_.id()) return;
  earlier_.push_back(std::exchange(key_, std::move(key)));
}

Result<std::string> ServiceAccountTokens::issue(TokenClaims claims) const {
  if (claims.audiences.empty()) claims.audiences = options_.audiences;
  return makeJwt(key_, writeClaims(claims, options_.issuer));
}

Result<TokenClaims> ServiceAccountTokens::open(std::string_view token) {
  const std::string digest = sha256(token);
  if (auto found = verified_.find(digest); found != verified_.end()) return found->second;
  auto opened = openJwt(key_, token);
  for (const SigningKey& key : earlier_)
    if (!opened) opened = openJwt(key, token);
  if (!opened) return pass(opened.error());
  const json::Object& object = opened->get_object();
  if (textAt(object, "iss") != options_.issuer)
    return fail(Code::kUnauthorized, "token: issued by \"{}\", want \"{}\"", textAt(object, "iss"),
                options_.issuer);
  auto claims = readClaims(object);
  if (!claims) return claims;
  if (verified_.size() >= kMostRemembered) verified_.clear();
  verified_.emplace(digest, *claims);
  return claims;
}

Result<> ServiceAccountTokens::checkTime(const TokenClaims& claims) const {
  const WallTime now = clock_.wall();
  if (now >= claims.expiresAt) return fail(Code::kUnauthorized, "token: it has expired");
  if (now + kLeeway < claims.issuedAt) return fail(Code::kUnauthorized, "token: not valid yet");
  return {};
}

Result<> ServiceAccountTokens::checkObjects(const TokenClaims& claims) const {
  if (auto ok = checkExists(store_, "serviceaccounts", claims.ns, claims.account); !ok) return ok;
  if (auto ok = checkExists(store_, "pods", claims.ns, claims.pod); !ok) return ok;
  if (auto ok = checkExists(store_, "secrets", claims.ns, claims.secret); !ok) return ok;
  // The node of a bound pod is told for information; only a token of its own ends with the node.
  return claims.pod.name.empty() ? checkExists(store_, "nodes", "", claims.node) : Result<>();
}

Result<TokenOwner> ServiceAccountTokens::verify(std::string_view token,
                                                const std::vector<std::string>& audiences) {
  auto claims = open(token);
  if (!claims) return pass(claims.error());
  if (auto ok = checkTime(*claims); !ok) return pass(ok.error());
  const auto& wanted = audiences.empty() ? options_.audiences : audiences;
  TokenOwner owner;
  for (const auto& audience : claims->audiences) {
    if (std::find(wanted.begin(), wanted.end(), audience) != wanted.end())
      owner.audiences.push_back(audience);
  }
  if (owner.audiences.empty())
    return fail(Code::kUnauthorized, "token: it is meant for [{}], not for [{}]",
                join(claims->audiences, " "), join(wanted, " "));
  if (auto ok = checkObjects(*claims); !ok) return pass(ok.error());
  owner.who = identityOf(*claims);
  return owner;
}

json::Object ServiceAccountTokens::jwks() const {
  json::Array keys{key_.jwk()};
  for (const SigningKey& key : earlier_) keys.push_back(key.jwk());
  return {{"keys", std::move(keys)}};
}

json::Object ServiceAccountTokens::configuration() const {
  return {{"issuer", options_.issuer},
          {"jwks_uri", options_.jwksUri},
          {"response_types_supported", json::Array{"id_token"}},
          {"subject_types_supported", json::Array{"public"}},
          {"id_token_signing_alg_values_supported", json::Array{"ES256"}}};
}

}  // namespace mangrove::apiserver
