#pragma once
// RBAC: the Authorizer over Role, ClusterRole, RoleBinding and ClusterRoleBinding objects.
//
//   Rbac rbac;
//   rbac.load(store);                       // once, before the first request
//   context.observers.push_back(&rbac);     // then every change as it becomes durable
//   rbac.authorize(who, Attributes::of(info));
//
// Bindings are indexed by subject and roles compiled, so a decision looks only at what is bound to
// the caller and his groups: about a microsecond, whatever the number of bindings. Members of
// system:masters may do everything. Owner thread.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rbac_roles.h"
#include "apiserver/auth/rbac_rules.h"
#include "apiserver/auth/texts.h"
#include "apiserver/core/server.h"
#include "store/store.h"

namespace mangrove::apiserver {

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

class Rbac final : public Authorizer, public Observer {
 public:
  // Everything anew. What cannot be read is left out and permits nothing; the Error names the
  // first.
  Result<> load(const store::Store& store);

  Decision authorize(const Identity& who, const Attributes& what) override;
  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;

  // One object, as stored; `plural` is one of roles, clusterroles, rolebindings,
  // clusterrolebindings.
  void put(std::string_view plural, const std::string& ns, const std::string& name,
           const json::Object& object);
  void drop(std::string_view plural, const std::string& ns, const std::string& name);

  // All rules that hold for `who` in `ns` ("": at cluster scope only), for rules reviews and the
  // escalation check. system:masters gets everything.
  std::vector<Rule> rulesFor(const Identity& who, std::string_view ns) const;
  // Null when there is no such role; ns "" is a ClusterRole.
  std::shared_ptr<const RuleSet> roleRules(const std::string& ns, const std::string& name) const {
    return roles_.rules(ns, name);
  }
  const RoleTable& roles() const { return roles_; }

 private:
  struct Binding {
    std::string ns, name;  // ns "" is a ClusterRoleBinding
    std::string roleKind, roleName;
    RolePtr role;
    struct Subject {
      std::string kind, name, ns;
    };
    std::vector<Subject> subjects;
  };
  using BindingPtr = std::shared_ptr<const Binding>;
  struct Grant {
    BindingPtr binding;
    size_t subject;
  };
  // Namespace of the binding → what is granted there; "" is everywhere.
  using Grants = ByText<std::vector<Grant>>;

  static BindingPtr readBinding(const std::string& ns, const std::string& name,
                                const json::Object& object, RoleTable& roles);
  static std::string reasonOf(const Grant& grant);
  ByText<Grants>& indexOf(const Binding::Subject& subject);
  void putBinding(const std::string& ns, const std::string& name, const json::Object& object);
  void dropBinding(const std::string& ns, const std::string& name);
  template <class Fn>
  bool visit(const Identity& who, std::string_view ns, Fn fn) const;
  std::string missingRoles(const Identity& who, std::string_view ns) const;

  RoleTable roles_;
  std::map<std::pair<std::string, std::string>, BindingPtr> bindings_;
  ByText<Grants> users_;  // service accounts too, by their user name
  ByText<Grants> groups_;
};

// "system:serviceaccount:NS:NAME"
std::string serviceAccountUser(std::string_view ns, std::string_view name);

}  // namespace mangrove::apiserver
