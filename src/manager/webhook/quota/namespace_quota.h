#pragma once
// ResourceQuotas of namespaces and pods that ask for colocation by label. Such a pod
// no longer names native cpu and memory, so that Kubernetes' own check does not see it; here its
// reclaimed amounts count under the native names of the quota too.
//
//   NamespaceQuotas quotas(client::follow(setup, kind::kResourceQuota));
//   quotas.start();
//   if (quotas.any()) quotas.judge(pod, "team-a", [](Review review) { … });
//
// A quota that counts pods with amounts of their own only (scope NotBestEffort) does not count
// these. Owner thread, `done` included. The sums are pure.

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "api/object/meta.h"
#include "api/pod/pod.h"
#include "base/lifetime.h"
#include "client/informer/informer.h"
#include "manager/webhook/server.h"

namespace mangrove::manager {

struct NamespaceQuota {
  api::ObjectMeta meta;
  api::ResourceList hard;
  bool countsBestEffort = true;
};
bool read(const api::In& in, NamespaceQuota& out);

// What a pod counts with, by the names of quotas: cpu, requests.cpu, limits.cpu and so on, native
// and reclaimed amounts together.
api::ResourceList namespaceCharge(const api::PodSpec& spec);
// Of all pods in a list's page that have not ended.
Result<api::ResourceList> chargeInPage(std::string_view listBody);
// "" when it fits; names that the charge does not have are not limited.
std::string exceeded(const NamespaceQuota& quota, const api::ResourceList& used,
                     const api::ResourceList& charge);

class NamespaceQuotas {
 public:
  explicit NamespaceQuotas(client::InformerSetup setup);
  ~NamespaceQuotas();

  void start() { quotas_.start(); }
  bool any() const { return *any_; }
  // The same for other threads, also after we are gone.
  std::shared_ptr<const std::atomic<bool>> anyFlag() const { return any_; }
  void judge(const api::Pod& pod, const std::string& ns, ReviewDone done);

 private:
  struct Counting;
  void nextPage(std::shared_ptr<Counting> counting, const std::string& token);

  client::ApiClient& client_;
  Mailbox& owner_;
  client::Informer<NamespaceQuota> quotas_;
  std::shared_ptr<std::atomic<bool>> any_ = std::make_shared<std::atomic<bool>>(false);
  Lifetime life_;
};

}  // namespace mangrove::manager
