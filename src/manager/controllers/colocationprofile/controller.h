#pragma once
// Applies ClusterColocationProfiles to pods that were created before the profile was, as long as
// they wait for a node. Every half minute, at a
// bounded rate. Owner thread.

#include <map>
#include <memory>
#include <string>

#include "api/object/core_objects.h"
#include "base/lifetime.h"
#include "base/number/rng.h"
#include "client/informer/informer.h"
#include "client/queue/token_bucket.h"
#include "manager/controller.h"
#include "manager/controllers/colocationprofile/pod_profiles.h"
#include "manager/profile/profile_index.h"

namespace mangrove::manager {

struct ProfileControllerOptions {
  bool byDefault = false;  // --colocation-profile-reconcile-by-default
  Duration interval = std::chrono::seconds(30);
  double perSecond = 10;
  double burst = 100;
};

class ColocationProfileController final : public Controller {
 public:
  explicit ColocationProfileController(const ControllerSetup& setup);
  void start() override;
  // One round over all profiles; public for tests.
  void round();

 private:
  void arm();
  using Revisions = std::map<std::string, std::string, std::less<>>;  // by profile
  ProfileIndex managed(Revisions& revisions);
  void apply(const ProfileIndex& profiles, const Revisions& revisions, std::string_view key,
             const api::Pod& pod);
  void send(std::string_view key, const api::Pod& pod, json::Value patch);

  Desk& desk_;
  ProfileControllerOptions options_;
  client::Informer<api::ColocationProfile> profiles_;
  client::Informer<api::Pod> pending_;
  client::Informer<api::Namespace> namespaces_;
  client::TokenBucket rate_;
  Rng rng_;
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::manager
