#pragma once
// Keeps the Surroundings of the handlers true: follows profiles, namespaces, priority classes,
// quotas and the configuration, and publishes a new picture when one of them changed.
//
//   ClusterPicture picture({.client = &client, .owner = &owner, .home = &worker.mailbox()});
//   picture.start();
//   picture.now()->profiles          // any thread, at once
//
// Made, started and destroyed in the owner's thread, where informers live; now() from any thread.
// Several changes of one moment become one picture: rebuilding the index of 10 000 profiles takes
// milliseconds, and lists bring them all at once.

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/koordinator/colocation_profile.h"
#include "api/koordinator/elastic_quota.h"
#include "api/koordinator/quota_profile.h"
#include "api/object/core_objects.h"
#include "api/wire/names.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/metrics.h"
#include "client/informer/informer.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

struct PictureSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  uint64_t seed = 1;
  std::string configNamespace = "koordinator-system";
  std::string configName = "slo-controller-config";
  std::string rulesNamespace = "koordinator-system";  // of the enhanced validator
  std::string rulesName{api::object::kEnhancedValidatorConfig};
  // Gates, rules and options that do not change while we run.
  Surroundings fixed = {};
};

class ClusterPicture {
 public:
  explicit ClusterPicture(PictureSetup setup);
  ~ClusterPicture();

  void start();
  // All lists are in; kinds that the server does not know are not waited for.
  bool ready() const { return waitingFor().empty(); }
  std::string waitingFor() const;

  std::shared_ptr<const Surroundings> now() const;

  // A quota that was admitted a moment ago counts although the caches do not have it yet. It is
  // forgotten when they do, or after kPendingFor: the server may have refused it after us.
  void expect(Quota quota);
  void expectGone(const std::string& ns, const std::string& name);
  static constexpr Duration kPendingFor = std::chrono::seconds(5);
  // Forgets what has been expected for too long; before judging a quota.
  void settle();

 private:
  struct Pending {
    Quota quota;
    bool gone = false;
    MonoTime until{};
  };

  void followProfiles();
  void followNames();
  void followQuotas();
  void followConfigs();
  enum Part : unsigned { kProfiles = 1, kNamespaces = 2, kClasses = 4, kQuotas = 8, kConfig = 16 };
  void changed(Part part);
  void republish();
  std::shared_ptr<const ProfileIndex> indexNow();
  std::shared_ptr<const QuotaTree> treeNow() const;
  void publish(std::shared_ptr<const Surroundings> next);

  PictureSetup setup_;
  client::Informer<api::ColocationProfile> profiles_;
  client::Informer<api::Namespace> namespaces_;
  client::Informer<api::PriorityClass> classes_;
  client::Informer<api::ElasticQuota> quotas_;
  client::Informer<api::QuotaProfile> quotaProfiles_;
  client::Informer<api::ConfigMap> configs_, rules_;

  std::map<std::string, std::shared_ptr<const Profile>, std::less<>> compiled_;
  std::map<std::string, Pending, std::less<>> pending_;  // by "ns/name"
  GaugeFamily* sharedWeight_ = nullptr;
  Gauge brokenProfiles_;
  unsigned dirty_ = 0;
  bool posted_ = false;
  Lifetime life_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Surroundings> now_;
};

// The rules of the enhanced validator: keys `enable` and `rules` of its ConfigMap.
// Disabled: no rules. An error leaves the rules as they were.
Result<std::vector<EnhancedRule>> parseEnhancedRules(
    const std::map<std::string, std::string>& configMap);

}  // namespace mangrove::manager
