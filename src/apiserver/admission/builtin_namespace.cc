#include "apiserver/admission/builtin_namespace.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

constexpr std::array<std::string_view, 3> kImmortal = {"default", "kube-system", "kube-public"};

bool isReview(const KindInfo& kind) {
  return kind.group == "authorization.k8s.io";
}

// The phase is among the declared fields, so that a create need not unpack its namespace; a store
// without declared fields is asked for the whole object.
bool isTerminating(const store::Object& home) {
  if (const auto fields = home.fields(); !fields.empty())
    return std::find(fields.begin(), fields.end(), "Terminating") != fields.end();
  const store::Body body = home.json();
  if (body->find("\"deletionTimestamp\"") == std::string::npos) return false;
  auto root = json::parse(*body);
  return root && root->is_object() && isBeingDeleted(root->get_object());
}

Answer terminating(const AdmissionRequest& request) {
  json::Array causes{
      json::Object{{"reason", "NamespaceTerminating"},
                   {"message", fmt::format("namespace {} is being terminated", request.ns)},
                   {"field", "metadata.namespace"}}};
  return admissionForbids(
      request,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  request.ns),
      std::move(causes));
}

}  // namespace

std::optional<Answer> NamespaceAdmission::judge(const AdmissionRequest& request) const {
  const KindInfo& kind = *request.resource->kind;
  const bool isDelete = request.operation == Operation::kDelete;
  const bool isHome = kind.group.empty() && kind.plural == "namespaces";
  const bool immortal =
      std::find(kImmortal.begin(), kImmortal.end(), request.name) != kImmortal.end();
  if (isHome && isDelete && immortal)
    return admissionForbids(request, "this namespace may not be deleted");
  if (!kind.namespaced || isDelete || isReview(kind)) return std::nullopt;
  static const Interned kNamespaces = Resources::storedName("", "namespaces");
  auto home = store_.getHead(kNamespaces, "", request.ns);
  if (!home) {
    const KindInfo* namespaces = catalogue().findPlural("", "v1", "namespaces");
    return answer::notFound(*namespaces, request.ns);
  }
  if (request.operation == Operation::kCreate && isTerminating(*home)) return terminating(request);
  return std::nullopt;
}

}  // namespace mangrove::apiserver
