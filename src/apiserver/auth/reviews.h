#pragma once
// The kinds that are questions: created, answered, never stored. TokenReview, SelfSubjectReview,
// SubjectAccessReview and its Self and Local forms, SelfSubjectRulesReview.
//
//   Reviews reviews(authenticator, rbac);
//   Outcome<json::Value> answer = reviews.review(call, resource, warnings);
//
// Owner thread; routes.h registers them.

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/answer.h"
#include "apiserver/auth/authenticator.h"
#include "apiserver/auth/rbac.h"
#include "apiserver/core/call.h"
#include "apiserver/core/resources.h"
#include "json/value.h"

namespace mangrove::apiserver {

class Reviews {
 public:
  // Group and plural of each.
  static const std::array<std::pair<std::string_view, std::string_view>, 6> kKinds;

  // `authorizer` decides for access reviews; `rbac` lists rules.
  Reviews(Authenticator& authenticator, Rbac& rbac, Authorizer& authorizer)
      : authenticator_(authenticator), rbac_(rbac), authorizer_(authorizer) {}

  static bool isReview(const KindInfo& kind);
  // The object of the call's body with its status filled in. 404 for kinds that are no reviews.
  Outcome<json::Value> review(const Call& call, const Resource& resource,
                              std::vector<std::string>& warnings);

 private:
  using Answered = Outcome<json::Object>;  // the status
  Answered tokenReview(const json::Object& spec);
  Answered accessReview(const Identity& who, const json::Object& spec);
  Answered rulesReview(const Identity& who, const json::Object& spec);
  Answered statusOf(const Call& call, const KindInfo& kind, const json::Object& object);

  Authenticator& authenticator_;
  Rbac& rbac_;
  Authorizer& authorizer_;
};

// UserInfo as the authentication API writes it.
json::Object userInfo(const Identity& who);
// What an access review asks for; `spec` has passed its validation.
Attributes readAttributes(const json::Object& spec);

}  // namespace mangrove::apiserver
