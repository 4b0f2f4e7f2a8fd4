#include "apiserver/auth/routes.h"

#include "apiserver/auth/token_request.h"

namespace mangrove::apiserver {

void serveTokens(Server& server, Context& context, const ServiceAccountTokens& tokens) {
  auto handler = [&context, &tokens](const Call& call, ResourcePtr, ResponderPtr to) {
    if (call.info.verb != Verb::kCreate)
      return to->answer(answer::methodNotAllowed("a token can only be created: POST"));
    auto object = requestToken(context, tokens, call);
    to->answer(object ? answer::json(201, json::write(*object)) : object.error());
  };
  server.onSubresource("", "serviceaccounts", "token", std::move(handler));

  server.onPath("/openid/v1/jwks", [&tokens](const Call&, ResponderPtr to) {
    Answer keys = answer::json(200, json::write(tokens.jwks()));
    keys.contentType = "application/jwk-set+json";
    to->answer(std::move(keys));
  });
  server.onPath("/.well-known/openid-configuration", [&tokens](const Call&, ResponderPtr to) {
    to->answer(answer::json(200, json::write(tokens.configuration())));
  });
}

void serveReviews(Server& server, Reviews& reviews) {
  auto handler = [&reviews](const Call& call, ResourcePtr resource, ResponderPtr to) {
    std::vector<std::string> warnings;
    auto object = reviews.review(call, *resource, warnings);
    Answer answer = object ? answer::json(201, json::write(*object)) : object.error();
    for (auto& text : warnings) answer.warnings.push_back(std::move(text));
    to->answer(std::move(answer));
  };
  for (auto [group, plural] : Reviews::kKinds)
    server.onSubresource(std::string(group), std::string(plural), "", handler);
}

}  // namespace mangrove::apiserver
