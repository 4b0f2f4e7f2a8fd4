#pragma once
// The part of admission that looks further than the picture: quotas that ask which pods they have,
// bindings that ask for their pod, bookings of pods on quotas. One for the webhook server and for
// in-process admission.
//
//   OwnerJudge judge({.client = &client, .owner = &owner, .home = &home, .clock = &clock,
//                     .picture = &picture});
//   judge.start();
//   judge.judge(route, request, [](Review review) { … });     // handlers of RunsOn::kOwner
//   judge.secondLook(request, [](Review review) { … });       // after a pod was found good
//
// Owner thread, `done` included; a request lives until its `done` has run. Answers that come when
// we are gone are dropped.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "manager/webhook/cluster_picture.h"
#include "manager/webhook/quota/desk.h"
#include "manager/webhook/quota/namespace_quota.h"
#include "manager/webhook/routes.h"

namespace mangrove::manager {

struct OwnerJudgeSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;
  Clock* clock = nullptr;
  ClusterPicture* picture = nullptr;
  // Labels of all nodes, for configuration checks; empty: not checked.
  std::function<std::vector<NodeLabels>()> nodes = {};
  int quotaMaxRetries = 3;
  Duration quotaRetryJitter{};
  Duration quotaMaxTotalJitter = std::chrono::seconds(1);
};

class OwnerJudge {
 public:
  explicit OwnerJudge(OwnerJudgeSetup setup);
  ~OwnerJudge();

  void start() { namespaceQuotas_.start(); }
  void judge(const Route& route, const AdmissionRequest& request, ReviewDone done);
  void secondLook(const AdmissionRequest& request, ReviewDone done);

  // Whether an accepted pod needs a second look; any thread, also after we are gone.
  using NeedsSecondLook = std::function<bool(const AdmissionRequest&, const Surroundings&)>;
  NeedsSecondLook needsSecondLook() const;

 private:
  void judgeQuota(const Route& route, const AdmissionRequest& request, ReviewDone done);
  Review judgeQuotaWith(const PodsOfQuota& pods, const Route& route,
                        const AdmissionRequest& request);
  void expect(const AdmissionRequest& request);
  void judgeBinding(const Route& route, const AdmissionRequest& request, ReviewDone done);
  void charge(const AdmissionRequest& request, const api::Pod& pod, const std::string& ns,
              ReviewDone done);

  OwnerJudgeSetup setup_;
  QuotaDesk desk_;
  NamespaceQuotas namespaceQuotas_;
  Lifetime life_;
};

}  // namespace mangrove::manager
