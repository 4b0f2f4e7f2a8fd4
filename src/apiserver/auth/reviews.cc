#include "apiserver/auth/reviews.h"

#include "apiserver/auth/texts.h"
#include "apiserver/core/body.h"
#include "apiserver/core/object.h"
#include "apiserver/output/accept.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kAuthentication = "authentication.k8s.io";
constexpr std::string_view kAuthorization = "authorization.k8s.io";
// Whom a SubjectAccessReview is about.
Identity subjectOf(const json::Object& spec) {
  Identity who{std::string(textAt(spec, "user")),
               std::string(textAt(spec, "uid")),
               textsAt(spec, "groups"),
               {}};
  if (const json::Object* extra = findObject(spec, "extra")) {
    for (const auto& member : *extra)
      who.extra.emplace_back(std::string(member.key()), textsAt(*extra, member.key()));
  }
  return who;
}

void checkSubject(const json::Object& spec, FieldErrors& errors) {
  if (textAt(spec, "user").empty() && textsAt(spec, "groups").empty())
    errors.invalid(FieldPath("spec").child("user"), "",
                   "at least one of user or group must be specified");
}

// A local review stays within the namespace of its path.
void checkLocal(const json::Object& object, const json::Object& spec, FieldErrors& errors) {
  const json::Object* attributes = findObject(spec, "resourceAttributes");
  if (!attributes) {
    errors.invalid(FieldPath("spec").child("nonResourceAttributes"), nullptr,
                   "disallowed on this kind of request");
  } else if (textAt(*attributes, "namespace") != namespaceOf(object)) {
    errors.invalid(FieldPath("spec").child("resourceAttributes").child("namespace"),
                   json::Value(textAt(*attributes, "namespace")), "must match metadata.namespace");
  }
}

std::optional<Answer> invalidity(const Call& call, const KindInfo& kind, json::Object& object) {
  FieldErrors errors;
  if (kind.rules.validate) kind.rules.validate(object, errors);
  const json::Object& spec = objectAt(object, "spec");
  if (kind.kind == "SubjectAccessReview" || kind.kind == "LocalSubjectAccessReview")
    checkSubject(spec, errors);
  if (kind.kind == "LocalSubjectAccessReview") {
    const std::string_view ns = namespaceOf(object);
    if (!ns.empty() && ns != call.info.ns)
      return answer::badRequest("the namespace of the review is not the one of its path");
    metadataOf(object)["namespace"] = call.info.ns;
    checkLocal(object, spec, errors);
  }
  if (errors.empty()) return std::nullopt;
  return answer::unprocessable(kind, "", errors);
}

json::Object ruleStatus(const Rule& rule, bool resource) {
  json::Object out{{"verbs", arrayOf(rule.verbs)}};
  if (!resource) {
    out["nonResourceURLs"] = arrayOf(rule.urls);
    return out;
  }
  out["apiGroups"] = arrayOf(rule.groups);
  out["resources"] = arrayOf(rule.resources);
  if (!rule.names.empty()) out["resourceNames"] = arrayOf(rule.names);
  return out;
}

}  // namespace

const std::array<std::pair<std::string_view, std::string_view>, 6> Reviews::kKinds = {{
    {kAuthentication, "tokenreviews"},
    {kAuthentication, "selfsubjectreviews"},
    {kAuthorization, "subjectaccessreviews"},
    {kAuthorization, "selfsubjectaccessreviews"},
    {kAuthorization, "localsubjectaccessreviews"},
    {kAuthorization, "selfsubjectrulesreviews"},
}};

json::Object userInfo(const Identity& who) {
  json::Object out{{"username", who.user}};
  if (!who.uid.empty()) out["uid"] = who.uid;
  if (!who.groups.empty()) out["groups"] = arrayOf(who.groups);
  if (who.extra.empty()) return out;
  json::Object extra;
  for (const auto& [key, values] : who.extra) extra[key] = arrayOf(values);
  out["extra"] = std::move(extra);
  return out;
}

Attributes readAttributes(const json::Object& spec) {
  Attributes what;
  const json::Object* resource = findObject(spec, "resourceAttributes");
  if (!resource) {
    static const json::Object kNone;
    const json::Object* path = findObject(spec, "nonResourceAttributes");
    what.isResource = false;
    what.verb = textAt(path ? *path : kNone, "verb");
    what.path = textAt(path ? *path : kNone, "path");
    return what;
  }
  what.verb = textAt(*resource, "verb");
  what.group = textAt(*resource, "group");
  what.version = textAt(*resource, "version");
  what.resource = textAt(*resource, "resource");
  what.subresource = textAt(*resource, "subresource");
  what.ns = textAt(*resource, "namespace");
  what.name = textAt(*resource, "name");
  return what;
}

bool Reviews::isReview(const KindInfo& kind) {
  for (auto [group, plural] : kKinds) {
    if (kind.group == group && kind.plural == plural) return true;
  }
  return false;
}

Reviews::Answered Reviews::tokenReview(const json::Object& spec) {
  auto owner = authenticator_.ownerOf(textAt(spec, "token"), textsAt(spec, "audiences"));
  if (!owner) return json::Object{{"user", json::Object()}, {"error", owner.error().text()}};
  json::Object status{{"authenticated", true}, {"user", userInfo(owner->who)}};
  if (!owner->audiences.empty()) status["audiences"] = arrayOf(owner->audiences);
  return status;
}

Reviews::Answered Reviews::accessReview(const Identity& who, const json::Object& spec) {
  const Decision decision = authorizer_.authorize(who, readAttributes(spec));
  json::Object status{{"allowed", decision.allowed}};
  if (!decision.reason.empty()) status["reason"] = decision.reason;
  return status;
}

Reviews::Answered Reviews::rulesReview(const Identity& who, const json::Object& spec) {
  if (textAt(spec, "namespace").empty())
    return refuse(answer::badRequest("no namespace on request: want spec.namespace"));
  json::Array resources, paths;
  for (const Rule& rule : rbac_.rulesFor(who, textAt(spec, "namespace"))) {
    if (!rule.resources.empty()) resources.push_back(ruleStatus(rule, true));
    if (!rule.urls.empty()) paths.push_back(ruleStatus(rule, false));
  }
  return json::Object{{"resourceRules", std::move(resources)},
                      {"nonResourceRules", std::move(paths)},
                      {"incomplete", false}};
}

Reviews::Answered Reviews::statusOf(const Call& call, const KindInfo& kind,
                                    const json::Object& object) {
  static const json::Object kNone;
  const json::Object* found = findObject(object, "spec");
  const json::Object& spec = found ? *found : kNone;
  if (kind.kind == "TokenReview") return tokenReview(spec);
  if (kind.kind == "SelfSubjectReview") return json::Object{{"userInfo", userInfo(call.who)}};
  if (kind.kind == "SelfSubjectAccessReview") return accessReview(call.who, spec);
  if (kind.kind == "SelfSubjectRulesReview") return rulesReview(call.who, spec);
  return accessReview(subjectOf(spec), spec);
}

Outcome<json::Value> Reviews::review(const Call& call, const Resource& resource,
                                     std::vector<std::string>& warnings) {
  const KindInfo& kind = *resource.kind;
  if (!isReview(kind)) return refuse(answer::noSuchPath(call.info.path));
  if (auto fine = requireObject(call.accept); !fine) return tl::unexpected(fine.error());
  auto object = readObject(call, resource, warnings);
  if (!object) return object;
  json::Object& root = object->get_object();
  if (kind.kind != "SelfSubjectReview") {
    if (auto refusal = invalidity(call, kind, root)) return refuse(std::move(*refusal));
  }
  metadataOf(root);  // there, even when nothing was sent
  auto status = statusOf(call, kind, root);
  if (!status) return tl::unexpected(status.error());
  root["status"] = std::move(*status);
  return object;
}

}  // namespace mangrove::apiserver
