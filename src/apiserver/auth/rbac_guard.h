#pragma once
// Nobody gives away more than he has: whoever writes a role must hold its rules himself or have the
// verb "escalate" on it, and whoever binds a role must hold its rules or have the verb "bind".
// An admission plugin; owner thread.
//
//   context.admission.add(std::make_unique<RbacGuard>(rbac));

#include <optional>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/auth/rbac.h"

namespace mangrove::apiserver {

class RbacGuard final : public AdmissionPlugin {
 public:
  explicit RbacGuard(Rbac& rbac) : rbac_(rbac) {}
  std::string_view name() const override { return "RbacGuard"; }
  void validate(AdmissionRequest& request, Done done) override;

 private:
  std::optional<Answer> checkRole(const AdmissionRequest& request);
  std::optional<Answer> checkBinding(const AdmissionRequest& request);
  // The refusal when `who` does not hold all of `wanted` in the request's namespace.
  std::optional<Answer> checkHeld(const AdmissionRequest& request,
                                  const std::vector<Rule>& wanted) const;
  bool may(const AdmissionRequest& request, std::string_view verb, std::string_view plural,
           std::string_view roleName);

  Rbac& rbac_;
};

// Every verb on every resource and path, in all namespaces.
bool mayDoEverything(const Rbac& rbac, const Identity& who);

// Keeps the `rules` of aggregated ClusterRoles in the store as they follow from the others, so that
// people can see them; the decisions do not wait for it. An Observer, to be listed after the Rbac
// it looks at; owner thread. Must outlive the messages in context.owner.
class RoleAggregation final : public Observer {
 public:
  RoleAggregation(Context& context, const Rbac& rbac) : context_(context), rbac_(rbac) {}
  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;
  // Starts the writes that are needed; also after Rbac::load.
  void refresh();

 private:
  void write(const std::string& name, const std::vector<Rule>& rules);

  Context& context_;
  const Rbac& rbac_;
  bool planned_ = false;
};

}  // namespace mangrove::apiserver
