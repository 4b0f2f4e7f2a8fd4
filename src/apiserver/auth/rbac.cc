#include "apiserver/auth/rbac.h"

#include <array>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr std::array<std::string_view, 4> kPlurals = {"clusterroles", "roles",
                                                      "clusterrolebindings", "rolebindings"};

bool isBinding(std::string_view plural) {
  return plural.ends_with("bindings");
}

bool isSubject(std::string_view kind) {
  return kind == "User" || kind == "Group" || kind == "ServiceAccount";
}

std::string userOf(std::string_view kind, std::string_view name, std::string_view ns) {
  return kind == "ServiceAccount" ? serviceAccountUser(ns, name) : std::string(name);
}

}  // namespace

std::string serviceAccountUser(std::string_view ns, std::string_view name) {
  return fmt::format("system:serviceaccount:{}:{}", ns, name);
}

Result<> Rbac::load(const store::Store& store) {
  roles_.clear();
  bindings_.clear();
  users_.clear();
  groups_.clear();
  std::optional<Error> first;
  for (std::string_view plural : kPlurals) {
    auto page = store.list({.resource = Resources::storedName(kRbacGroup, plural)});
    if (!page) return page.error().in("loading {}", plural);
    for (const auto& object : page->items) {
      auto value = json::parse(*object->json());
      if (value && value->is_object()) {
        put(plural, std::string(object->ns()), std::string(object->name()), value->get_object());
      } else if (!first) {
        first = Error(Code::kInvalid, fmt::format("{} {} cannot be read and permits nothing",
                                                  plural, object->path()));
      }
    }
  }
  if (first) return pass(*first);
  return {};
}

void Rbac::changed(const Resource& resource, const store::ObjectPtr& now,
                   const store::ObjectPtr& before) {
  if (resource.kind->group != kRbacGroup) return;
  const store::Object& which = now ? *now : *before;
  const std::string ns(which.ns()), name(which.name());
  if (!now) return drop(resource.kind->plural, ns, name);
  auto value = json::parse(*now->json());
  if (!value || !value->is_object()) return drop(resource.kind->plural, ns, name);
  put(resource.kind->plural, ns, name, value->get_object());
}

void Rbac::put(std::string_view plural, const std::string& ns, const std::string& name,
               const json::Object& object) {
  if (isBinding(plural)) return putBinding(ns, name, object);
  roles_.put(ns, name, object);
}

void Rbac::drop(std::string_view plural, const std::string& ns, const std::string& name) {
  if (isBinding(plural)) return dropBinding(ns, name);
  roles_.drop(ns, name);
}

Rbac::BindingPtr Rbac::readBinding(const std::string& ns, const std::string& name,
                                   const json::Object& object, RoleTable& roles) {
  static const json::Object kNone;
  auto binding = std::make_shared<Binding>();
  binding->ns = ns;
  binding->name = name;
  const json::Object* ref = findObject(object, "roleRef");
  binding->roleKind = textAt(ref ? *ref : kNone, "kind");
  binding->roleName = textAt(ref ? *ref : kNone, "name");
  // A Role is of the binding's own namespace, and what is neither kind permits nothing.
  const bool sound =
      binding->roleKind == "ClusterRole" || (binding->roleKind == "Role" && !ns.empty());
  binding->role = sound ? roles.slot(binding->roleKind == "Role" ? ns : "", binding->roleName)
                        : std::make_shared<RoleSlot>();
  const json::Array* subjects = findArray(object, "subjects");
  for (size_t i = 0; subjects && i < subjects->size(); ++i) {
    const json::Object* subject = (*subjects)[i].if_object();
    if (!subject || !isSubject(textAt(*subject, "kind"))) continue;
    // A RoleBinding may leave out the namespace of an account beside it.
    std::string where(textAt(*subject, "namespace"));
    if (where.empty()) where = ns;
    binding->subjects.push_back({std::string(textAt(*subject, "kind")),
                                 std::string(textAt(*subject, "name")), std::move(where)});
  }
  return binding;
}

ByText<Rbac::Grants>& Rbac::indexOf(const Binding::Subject& subject) {
  return subject.kind == "Group" ? groups_ : users_;
}

void Rbac::putBinding(const std::string& ns, const std::string& name, const json::Object& object) {
  auto binding = readBinding(ns, name, object, roles_);
  dropBinding(ns, name);
  bindings_[{ns, name}] = binding;
  for (size_t i = 0; i < binding->subjects.size(); ++i) {
    const auto& subject = binding->subjects[i];
    if (subject.name.empty()) continue;
    indexOf(subject)[userOf(subject.kind, subject.name, subject.ns)][ns].push_back({binding, i});
  }
}

void Rbac::dropBinding(const std::string& ns, const std::string& name) {
  auto found = bindings_.find({ns, name});
  if (found == bindings_.end()) return;
  BindingPtr binding = found->second;
  bindings_.erase(found);
  for (const auto& subject : binding->subjects) {
    auto& index = indexOf(subject);
    auto grants = index.find(userOf(subject.kind, subject.name, subject.ns));
    if (grants == index.end()) continue;
    auto here = grants->second.find(ns);
    if (here == grants->second.end()) continue;
    std::erase_if(here->second, [&](const Grant& grant) { return grant.binding == binding; });
    if (here->second.empty()) grants->second.erase(here);
    if (grants->second.empty()) index.erase(grants);
  }
  const std::string roleNs = binding->roleKind == "Role" ? ns : "";
  const std::string roleName = binding->roleName;
  binding.reset();
  roles_.prune(roleNs, roleName);
}

// `fn` sees every grant that holds for `who` in `ns`, those of the whole cluster first, until it
// returns true.
template <class Fn>
bool Rbac::visit(const Identity& who, std::string_view ns, Fn fn) const {
  auto look = [&](const ByText<Grants>& index, std::string_view subject, std::string_view where) {
    auto grants = index.find(subject);
    if (grants == index.end()) return false;
    auto here = grants->second.find(where);
    if (here == grants->second.end()) return false;
    for (const Grant& grant : here->second) {
      if (fn(grant)) return true;
    }
    return false;
  };
  auto lookAll = [&](std::string_view where) {
    if (look(users_, who.user, where)) return true;
    for (const auto& g : who.groups) {
      if (look(groups_, g, where)) return true;
    }
    return false;
  };
  return lookAll("") || (!ns.empty() && lookAll(ns));
}

Decision Rbac::authorize(const Identity& who, const Attributes& what) {
  if (who.in(group::kMasters)) return {true, ""};
  const std::string_view ns = what.isResource ? std::string_view(what.ns) : std::string_view();
  Decision decision;
  visit(who, ns, [&](const Grant& grant) {
    const auto& rules = grant.binding->role->rules;
    if (!rules || !rules->allows(what)) return false;
    decision = {true, reasonOf(grant)};
    return true;
  });
  if (!decision.allowed) decision.reason = missingRoles(who, ns);
  return decision;
}

std::string Rbac::reasonOf(const Grant& grant) {
  const Binding& binding = *grant.binding;
  const auto& subject = binding.subjects[grant.subject];
  const bool account = subject.kind == "ServiceAccount";
  return fmt::format("RBAC: allowed by {} \"{}{}{}\" of {} \"{}\" to {} \"{}{}{}\"",
                     binding.ns.empty() ? "ClusterRoleBinding" : "RoleBinding", binding.name,
                     binding.ns.empty() ? "" : "/", binding.ns, binding.roleKind, binding.roleName,
                     subject.kind, subject.name, account ? "/" : "", account ? subject.ns : "");
}

// A binding to a role that is not there is the usual reason for a surprising "no".
std::string Rbac::missingRoles(const Identity& who, std::string_view ns) const {
  std::set<std::string> missing;
  visit(who, ns, [&](const Grant& grant) {
    if (!grant.binding->role->rules)
      missing.insert(fmt::format("{}.{} \"{}\" not found", lower(grant.binding->roleKind),
                                 kRbacGroup, grant.binding->roleName));
    return false;
  });
  if (missing.empty()) return "";
  if (missing.size() == 1) return "RBAC: " + *missing.begin();
  return fmt::format("RBAC: [{}]", join(missing, ", "));
}

std::vector<Rule> Rbac::rulesFor(const Identity& who, std::string_view ns) const {
  if (who.in(group::kMasters)) return {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  std::vector<Rule> rules;
  visit(who, ns, [&](const Grant& grant) {
    const auto& granted = grant.binding->role->rules;
    if (granted) rules.insert(rules.end(), granted->rules().begin(), granted->rules().end());
    return false;
  });
  return rules;
}

}  // namespace mangrove::apiserver
