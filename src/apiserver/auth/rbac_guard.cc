#include "apiserver/auth/rbac_guard.h"

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "apiserver/core/write.h"
#include "json/print.h"

namespace mangrove::apiserver {

namespace {

// Owners and finalizers are what garbage collection must be able to change on anything.
json::Value withoutCollection(const json::Value& object) {
  json::Object copy = object.get_object();
  json::Object& metadata = metadataOf(copy);
  for (auto key : {"ownerReferences", "finalizers", "resourceVersion", "managedFields"})
    metadata.erase(key);
  return copy;
}

bool onlyForCollection(const AdmissionRequest& request) {
  return request.oldObject.is_object() &&
         withoutCollection(request.object) == withoutCollection(request.oldObject);
}

std::string groupsText(const Identity& who) {
  std::string out;
  for (const auto& g : who.groups) {
    if (!out.empty()) out += ' ';
    json::appendString(g, out);
  }
  return out;
}

Answer refusal(const AdmissionRequest& request, std::string_view why) {
  const KindInfo& kind = *request.resource->kind;
  return answer::forbidden(
      fmt::format("{} \"{}\" is forbidden: {}", kind.groupResource(), request.name, why),
      json::Object{{"name", request.name}, {"group", kind.group}, {"kind", kind.plural}});
}

const std::vector<Rule>& everything() {
  static const std::vector<Rule> kAll = {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  return kAll;
}

}  // namespace

bool mayDoEverything(const Rbac& rbac, const Identity& who) {
  return who.in(group::kMasters) || uncovered(rbac.rulesFor(who, ""), everything()).empty();
}

void RbacGuard::validate(AdmissionRequest& request, Done done) {
  const KindInfo& kind = *request.resource->kind;
  const bool written =
      request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  const bool free = kind.group != kRbacGroup || !written || !request.object.is_object() ||
                    request.who.in(group::kMasters) || onlyForCollection(request);
  if (free) return done(std::nullopt);
  const bool binding = kind.plural == "rolebindings" || kind.plural == "clusterrolebindings";
  done(binding ? checkBinding(request) : checkRole(request));
}

bool RbacGuard::may(const AdmissionRequest& request, std::string_view verb, std::string_view plural,
                    std::string_view roleName) {
  Attributes what;
  what.verb = verb;
  what.group = kRbacGroup;
  what.version = "v1";
  what.resource = plural;
  what.ns = request.ns;
  what.name = roleName;
  return rbac_.authorize(request.who, what).allowed;
}

std::optional<Answer> RbacGuard::checkHeld(const AdmissionRequest& request,
                                           const std::vector<Rule>& wanted) const {
  const auto missing = uncovered(rbac_.rulesFor(request.who, request.ns), wanted);
  if (missing.empty()) return std::nullopt;
  std::string text = fmt::format(
      "user \"{}\" (groups=[{}]) is attempting to grant RBAC permissions not currently held:",
      request.who.user, groupsText(request.who));
  for (const Rule& rule : missing) text += "\n" + ruleText(rule);
  return refusal(request, text);
}

std::optional<Answer> RbacGuard::checkRole(const AdmissionRequest& request) {
  const json::Object& role = request.object.get_object();
  if (may(request, "escalate", request.resource->kind->plural, request.name)) return std::nullopt;
  // Whoever changes a role that selects others by labels may end up with any rule at all: what it
  // selects, what selects it and what it loses are not in its own rules.
  const bool selects =
      role.contains("aggregationRule") ||
      (request.oldObject.is_object() && request.oldObject.get_object().contains("aggregationRule"));
  if (selects && !mayDoEverything(rbac_, request.who))
    return refusal(request,
                   "must have cluster-admin privileges to use an aggregationRule: every verb on "
                   "every resource and path");
  return checkHeld(request, readRules(role));
}

std::optional<Answer> RbacGuard::checkBinding(const AdmissionRequest& request) {
  static const json::Object kNone;
  const json::Object* ref = findObject(request.object.get_object(), "roleRef");
  const bool namespaced = ref && textAt(*ref, "kind") == "Role";
  const std::string roleName(textAt(ref ? *ref : kNone, "name"));
  const std::string_view plural = namespaced ? "roles" : "clusterroles";
  if (may(request, "bind", plural, roleName)) return std::nullopt;
  auto rules = rbac_.roleRules(namespaced ? request.ns : "", roleName);
  if (!rules) return answer::notFound(*catalogue().findPlural(kRbacGroup, "v1", plural), roleName);
  return checkHeld(request, rules->rules());
}

void RoleAggregation::changed(const Resource& resource, const store::ObjectPtr&,
                              const store::ObjectPtr&) {
  if (resource.kind->group != kRbacGroup || resource.kind->plural != "clusterroles" || planned_)
    return;
  planned_ = true;  // several changes, one look
  context_.owner.post([this] { refresh(); });
}

void RoleAggregation::refresh() {
  planned_ = false;
  for (const auto& [name, rules] : rbac_.roles().aggregated()) write(name, rules);
}

void RoleAggregation::write(const std::string& name, const std::vector<Rule>& rules) {
  auto resource = context_.resources.find(kRbacGroup, "v1", "clusterroles");
  auto change = [rules](json::Object& role) -> Outcome<> {
    if (!role.contains("aggregationRule") || readRules(role) == rules) return {};
    role["rules"] = writeRules(rules);
    return {};
  };
  // A role that went meanwhile, or a full disk: the next change tries again.
  changeObject(context_, resource, "", name, std::move(change), [](const auto&) {});
}

}  // namespace mangrove::apiserver
