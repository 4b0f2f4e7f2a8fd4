#pragma once
// Applies ClusterColocationProfiles to pods that were created before the profile was, as long as
// they wait for a node (spec 02 §3.7, gate ColocationProfileController). Every half minute, at a
// bounded rate. Owner thread.

#include <memory>
#include <string>

#include "api/core_objects.h"
#include "base/rng.h"
#include "client/informer.h"
#include "client/token_bucket.h"
#include "manager/controllers/colocationprofile/pod_profiles.h"
#include "manager/desk.h"

namespace mangrove::manager {

struct ProfileControllerOptions {
  bool byDefault = false;  // --colocation-profile-reconcile-by-default
  Duration interval = std::chrono::seconds(30);
  double perSecond = 10;
  double burst = 100;
};

class ColocationProfileController {
 public:
  ColocationProfileController(Desk& desk, const CacheSetup& setup,
                              ProfileControllerOptions options);
  void start();
  void lead(bool leads) { leads_ = leads; }
  // One round over all profiles; public for tests.
  void round();

 private:
  void arm();
  void apply(const Profile& profile, const std::string& revision);
  void patchPod(const Profile& profile, const std::string& revision, std::string_view key);

  Desk& desk_;
  ProfileControllerOptions options_;
  client::Informer<api::ColocationProfile> profiles_;
  client::Informer<api::Pod> pending_;
  client::Informer<api::Namespace> namespaces_;
  client::TokenBucket rate_;
  Rng rng_;
  Timer timer_;
  bool leads_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mangrove::manager
