#pragma once
// Keeps the ElasticQuota of each ElasticQuotaProfile in step with the nodes it selects (spec 02
// §3.6). Looks again every ten seconds, because nodes change without telling profiles. Nothing is
// deleted with a profile. Owner thread.

#include <functional>
#include <memory>
#include <string>

#include "api/koordinator/elastic_quota.h"
#include "api/koordinator/quota_profile.h"
#include "client/informer/informer.h"
#include "manager/controllers/quotaprofile/quota_of_profile.h"
#include "manager/desk.h"

namespace mangrove::manager {

class QuotaProfileController {
 public:
  QuotaProfileController(Desk& desk, const CacheSetup& setup);

  // `add` brings a key now, `again` after a while.
  void start(std::function<void(std::string_view)> add,
             std::function<void(std::string_view, Duration)> again);
  void reconcile(const std::string& key, ControlLoop::Done done);
  // Every profile, for a new leader.
  void each(const std::function<void(std::string_view)>& visit) const;

 private:
  struct Step;
  std::vector<const api::Node*> nodesOf(const api::Selector& selector) const;
  void saveTreeId(std::shared_ptr<Step> step);
  void writeQuota(std::shared_ptr<Step> step);
  void finish(Step& step, const Result<client::Reply>& reply, std::string_view reason);

  Desk& desk_;
  client::Informer<api::QuotaProfile> profiles_;
  client::Informer<api::ElasticQuota> quotas_;
  std::function<void(std::string_view, Duration)> again_;
};

}  // namespace mangrove::manager
