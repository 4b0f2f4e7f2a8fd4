#include "apiserver/auth/authenticator.h"

#include <algorithm>

#include "apiserver/auth/jwt.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

Identity authenticated(Identity who) {
  if (!who.in(group::kAuthenticated)) who.groups.emplace_back(group::kAuthenticated);
  return who;
}

// The token of "Bearer TOKEN"; "" for every other scheme and for what is not one clear statement.
std::string_view bearerToken(const net::Headers& headers) {
  if (headers.count("Authorization") != 1) return {};
  auto [scheme, token, found] = cut(trim(headers.get("Authorization")), ' ');
  if (!found || !equalIgnoringCase(scheme, "Bearer")) return {};
  token = trim(token);
  return token.find(' ') == token.npos ? token : std::string_view();
}

std::vector<std::string> shared(const std::vector<std::string>& a,
                                const std::vector<std::string>& b) {
  std::vector<std::string> out;
  std::copy_if(a.begin(), a.end(), std::back_inserter(out),
               [&](auto& text) { return std::find(b.begin(), b.end(), text) != b.end(); });
  return out;
}

}  // namespace

bool isPublic(const RequestInfo& info) {
  if (info.isResource || info.verb != Verb::kGet) return false;
  if (info.path == "/version") return true;
  for (std::string_view root : {"/healthz", "/livez", "/readyz"}) {
    const std::string_view path = info.path;
    if (path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/'))
      return true;
  }
  return false;
}

Result<TokenOwner> Authenticator::ownerOf(std::string_view token,
                                          const std::vector<std::string>& audiences) {
  static const std::vector<std::string> kNone;
  if (const Identity* who = tokens_.find(token)) {
    // A written-down token is meant for this server and for nobody else.
    const auto& own = accounts_ ? accounts_->audiences() : kNone;
    TokenOwner owner{authenticated(*who), audiences.empty() ? own : shared(audiences, own)};
    if (owner.audiences.empty() && !audiences.empty())
      return fail(Code::kUnauthorized, "token: it is meant for [{}], not for [{}]", join(own, " "),
                  join(audiences, " "));
    return owner;
  }
  if (accounts_ && looksLikeJwt(token)) return accounts_->verify(token, audiences);
  return fail(Code::kUnauthorized, "token: nobody has it");
}

Outcome<Identity> Authenticator::known(const net::PeerInfo& peer, const net::Headers& headers,
                                       const RequestInfo& info) {
  if (peer.verified && !peer.commonName.empty())
    return authenticated({peer.commonName, "", peer.organizations, {}});
  if (headers.has("Authorization")) {
    const std::string_view token = bearerToken(headers);
    if (token.empty()) return refuse(answer::unauthorized());
    auto owner = ownerOf(token, {});
    if (!owner) return refuse(answer::unauthorized());
    return std::move(owner->who);
  }
  if (isPublic(info)) return Identity::anonymous();
  return refuse(answer::unauthorized());
}

Outcome<Identity> Authenticator::authenticate(const net::PeerInfo& peer,
                                              const net::Headers& headers,
                                              const RequestInfo& info) {
  auto who = known(peer, headers, info);
  if (!who) return who;
  return impersonate(std::move(*who), headers, authorizer_);
}

}  // namespace mangrove::apiserver
