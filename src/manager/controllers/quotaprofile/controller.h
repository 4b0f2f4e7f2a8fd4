#pragma once
// Keeps the ElasticQuota of each ElasticQuotaProfile in step with the nodes it selects. Looks again
// every ten seconds, because nodes change without telling profiles. Nothing is deleted with a
// profile. Owner thread.

#include <memory>
#include <string>

#include "api/koordinator/elastic_quota.h"
#include "api/koordinator/quota_profile.h"
#include "client/informer/informer.h"
#include "manager/controller.h"
#include "manager/controllers/quotaprofile/quota_of_profile.h"

namespace mangrove::manager {

class QuotaProfileController final : public Controller {
 public:
  explicit QuotaProfileController(const ControllerSetup& setup);

  void start() override;
  void reconcile(const std::string& key, ControlLoop::Done done) override;
  void each(const Visit& visit) const override;

 private:
  struct Step;
  std::vector<const api::Node*> nodesOf(const api::Selector& selector) const;
  void saveTreeId(std::shared_ptr<Step> step);
  void writeQuota(std::shared_ptr<Step> step);
  void finish(Step& step, const Result<client::Reply>& reply, std::string_view reason);

  Desk& desk_;
  ControlLoop& keys_;
  client::Informer<api::QuotaProfile> profiles_;
  client::Informer<api::ElasticQuota> quotas_;
};

}  // namespace mangrove::manager
