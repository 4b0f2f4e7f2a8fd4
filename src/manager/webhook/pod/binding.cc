// Who may bind pods past the scheduler.
#include <algorithm>

#include <fmt/format.h>

#include "manager/webhook/pod/validate.h"

namespace mangrove::manager {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool isTrusted(const BindingRules& rules, std::string_view user) {
  if (rules.allowedUsers.empty()) return true;
  return std::any_of(rules.allowedUsers.begin(), rules.allowedUsers.end(),
                     [&](const std::string& part) { return user.find(part) != user.npos; });
}

bool isInScope(const BindingRules& rules, std::string_view ns) {
  if (contains(rules.excludedNamespaces, ns)) return false;
  return contains(rules.namespaces, "*") || contains(rules.namespaces, ns);
}

}  // namespace

Review validateBinding(const AdmissionRequest& request, const Surroundings& around) {
  const BindingRules& rules = *around.binding;
  if (request.operation != Operation::kCreate || request.subresource != "binding") return {};
  if (!around.gates.bindingAdmission || request.dryRun || isTrusted(rules, request.user) ||
      !isInScope(rules, request.ns))
    return {};
  if (!around.findPod) return {};
  const std::shared_ptr<const api::Pod> pod = around.findPod(request.ns, request.name);
  if (pod == nullptr) return {};
  for (const std::string& key : rules.bypassLabels)
    if (pod->meta.labels.has(key)) return {};
  for (const std::string& key : rules.bypassAnnotations)
    if (pod->meta.annotations.has(key)) return {};
  const std::string why = fmt::format(
      "user {} may not bind pod {}/{}: --binding-admission-user-name does not name it, and the pod "
      "has none of the labels that bypass this rule",
      request.user, request.ns, request.name);
  if (!rules.dryRun) return Review::refuse(kForbidden, "binding", why);
  Review out;
  out.reason = "dry-run";
  out.warnings.push_back("dry run: " + why);
  return out;
}

}  // namespace mangrove::manager
