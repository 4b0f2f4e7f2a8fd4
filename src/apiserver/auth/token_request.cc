#include "apiserver/auth/token_request.h"

#include <optional>

#include <fmt/core.h>

#include "apiserver/auth/texts.h"
#include "apiserver/core/body.h"
#include "apiserver/core/object.h"
#include "apiserver/core/strategy.h"
#include "apiserver/schema/decoding.h"
#include "base/check.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kApiVersion = "authentication.k8s.io/v1";
constexpr std::string_view kSchema = "io.k8s.api.authentication.v1.TokenRequest";

const KindInfo& coreKind(std::string_view plural) {
  const KindInfo* kind = catalogue().findPlural("", "v1", plural);
  CHECK(kind, "the tables lack {}", plural);
  return *kind;
}

Outcome<json::Value> readRequest(const Call& call) {
  auto body = readBody(call);
  if (!body) return body;
  if (!body->is_object()) return refuse(answer::badRequest("the body is not a JSON object"));
  json::Object& object = body->get_object();
  const std::string_view kind = textAt(object, "kind"), version = textAt(object, "apiVersion");
  if ((!kind.empty() && kind != "TokenRequest") || (!version.empty() && version != kApiVersion))
    return refuse(answer::badRequest(fmt::format(
        "the body is {}, Kind={}, want {}, Kind=TokenRequest", version, kind, kApiVersion)));
  object["kind"] = "TokenRequest";
  object["apiVersion"] = kApiVersion;
  auto decoded = decode(*catalogue().type(kSchema), *body, "TokenRequest");
  if (!decoded) return refuse(answer::badRequest(decoded.error().text()));
  return body;
}

// 422 in the words of the TokenRequest, which is no kind of its own in the tables.
Answer invalidSpec(const FieldErrors& errors) {
  return answer::status(
      422, "Invalid",
      fmt::format("TokenRequest.authentication.k8s.io \"\" is invalid: {}", errors.text()),
      json::Object{{"group", "authentication.k8s.io"},
                   {"kind", "TokenRequest"},
                   {"causes", errors.causes()}});
}

Outcome<int64_t> lifeOf(const json::Object& spec) {
  const json::Value* wanted = spec.if_contains("expirationSeconds");
  if (!wanted || !wanted->is_int64()) return kUsualTokenSeconds;
  const FieldPath root("spec");
  const FieldPath at = root.child("expirationSeconds");
  FieldErrors errors;
  if (wanted->get_int64() < kLeastTokenSeconds)
    errors.invalid(at, *wanted, "may not specify a duration less than 10 minutes");
  if (wanted->get_int64() > kMostTokenSeconds)
    errors.invalid(at, *wanted, "may not specify a duration larger than 2^32 seconds");
  if (!errors.empty()) return refuse(invalidSpec(errors));
  return wanted->get_int64();
}

Outcome<store::ObjectPtr> boundObject(const Context& context, std::string_view plural,
                                      const std::string& ns, const json::Object& ref) {
  const std::string name(textAt(ref, "name"));
  auto object = context.store.get(Resources::storedName("", plural), ns, name);
  if (!object) return refuse(answer::notFound(coreKind(plural), name));
  const std::string_view uid = textAt(ref, "uid");
  if (!uid.empty() && uid != object->uid())
    return refuse(answer::conflict(
        coreKind(plural), name,
        fmt::format("the UID in the bound object reference ({}) does not match the UID in record. "
                    "The object might have been deleted and then recreated",
                    uid)));
  return object;
}

ObjectName nameFor(const store::ObjectPtr& object) {
  return object ? ObjectName{std::string(object->name()), std::string(object->uid())}
                : ObjectName{};
}

Outcome<> bindToPod(const Context& context, const store::ObjectPtr& object, TokenClaims& claims) {
  auto pod = json::parse(*object->json());
  if (!pod || !pod->is_object()) return refuse(answer::internal("the pod cannot be read"));
  const json::Object* spec = findObject(pod->get_object(), "spec");
  if (!spec || textAt(*spec, "serviceAccountName") != claims.account.name)
    return refuse(answer::badRequest(
        fmt::format("cannot bind token for serviceaccount \"{}\" to pod running with different "
                    "serviceaccount name.",
                    claims.account.name)));
  claims.pod = nameFor(object);
  const std::string node(textAt(*spec, "nodeName"));
  if (node.empty()) return {};
  claims.node = nameFor(context.store.get(Resources::storedName("", "nodes"), "", node));
  if (claims.node.name.empty()) claims.node.name = node;
  return {};
}

Outcome<> bindTo(const Context& context, const json::Object& ref, TokenClaims& claims) {
  const std::string_view kind = textAt(ref, "kind"), version = textAt(ref, "apiVersion");
  const std::string_view plural = kind == "Pod"      ? "pods"
                                  : kind == "Secret" ? "secrets"
                                  : kind == "Node"   ? "nodes"
                                                     : "";
  if (plural.empty() || (!version.empty() && version != "v1"))
    return refuse(answer::badRequest(fmt::format(
        "cannot bind token to object of type {}, Kind={}; want a Pod, Secret or Node of v1",
        version.empty() ? "v1" : version, kind)));
  auto object = boundObject(context, plural, kind == "Node" ? "" : claims.ns, ref);
  if (!object) return tl::unexpected(object.error());
  if (kind == "Pod") return bindToPod(context, *object, claims);
  (kind == "Secret" ? claims.secret : claims.node) = nameFor(*object);
  return {};
}

json::Value answered(json::Value request, const TokenClaims& claims, std::string token) {
  json::Object& object = request.get_object();
  json::Object& metadata = metadataOf(object);
  metadata["name"] = claims.account.name;
  metadata["namespace"] = claims.ns;
  metadata["creationTimestamp"] = formatTime(claims.issuedAt);
  json::Object& spec = objectAt(object, "spec");
  spec["audiences"] = arrayOf(claims.audiences);
  const auto life =
      std::chrono::duration_cast<std::chrono::seconds>(claims.expiresAt - claims.issuedAt);
  spec["expirationSeconds"] = int64_t{life.count()};
  object["status"] = json::Object{{"token", std::move(token)},
                                  {"expirationTimestamp", formatTime(claims.expiresAt)}};
  return request;
}

}  // namespace

Outcome<json::Value> requestToken(Context& context, const ServiceAccountTokens& tokens,
                                  const Call& call) {
  auto account =
      context.store.get(Resources::storedName("", "serviceaccounts"), call.info.ns, call.info.name);
  if (!account) return refuse(answer::notFound(coreKind("serviceaccounts"), call.info.name));
  auto request = readRequest(call);
  if (!request) return request;
  const json::Object& spec = objectAt(request->get_object(), "spec");
  auto life = lifeOf(spec);
  if (!life) return tl::unexpected(life.error());

  TokenClaims claims;
  claims.ns = call.info.ns;
  claims.account = nameFor(account);
  claims.audiences = textsAt(spec, "audiences");
  if (claims.audiences.empty()) claims.audiences = tokens.audiences();
  claims.issuedAt = std::chrono::floor<std::chrono::seconds>(context.clock.wall());
  claims.expiresAt = claims.issuedAt + std::chrono::seconds(*life);
  claims.id = makeUid(context.rng);
  if (const json::Object* ref = findObject(spec, "boundObjectRef")) {
    if (auto ok = bindTo(context, *ref, claims); !ok) return tl::unexpected(ok.error());
  }
  auto token = tokens.issue(claims);
  if (!token) return refuse(answer::ofError(token.error()));
  return answered(std::move(*request), claims, std::move(*token));
}

}  // namespace mangrove::apiserver
