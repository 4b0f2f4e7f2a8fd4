#pragma once
// ResourceQuota objects at work: a create that would exceed one is refused, one that fits is
// written into the quota's status before the object itself is; what goes away is counted again.
//
//   auto quotas = std::make_unique<QuotaAdmission>(context);
//   context.observers.push_back(quotas.get());
//   chain.add(std::move(quotas));                // last, when nobody changes the object any more
//
// Owner thread.

#include <set>
#include <string>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/quota_usage.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

class QuotaAdmission final : public AdmissionPlugin, public Observer {
 public:
  explicit QuotaAdmission(Context& context) : context_(context) {}
  std::string_view name() const override { return "ResourceQuota"; }
  void validate(AdmissionRequest& request, Done done) override;
  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;

 private:
  struct Charge;
  std::vector<store::ObjectPtr> quotasOf(std::string_view ns) const;
  void chargeNext(std::shared_ptr<Charge> charge);
  // Counts everything in the namespace anew, once, a little later.
  void recountSoon(std::string ns);
  void recount(const std::string& ns);
  Usage counted(const json::Object& quota, const std::string& ns) const;

  Context& context_;
  std::set<std::string> due_;
};

}  // namespace mangrove::apiserver
