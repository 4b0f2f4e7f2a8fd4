#pragma once
// Every pod gets what it needs to talk to the API server, as in Kubernetes: a projected volume
// `kube-api-access-…` with the token of its account, the authority's certificate and its namespace,
// mounted where clients look for it. `automountServiceAccountToken: false` of the pod, or else of
// the account, forgoes it. A pod without pull secrets of its own gets its account's.
//
//   chain.add(std::make_unique<TokenVolumes>(store, rng));     // after PodAdmission: the account
//
// Owner thread.

#include <string>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "base/number/rng.h"
#include "store/store.h"

namespace mangrove::apiserver {

inline constexpr std::string_view kTokenMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

class TokenVolumes final : public AdmissionPlugin {
 public:
  TokenVolumes(const store::Store& store, Rng& rng) : store_(store), rng_(rng) {}
  std::string_view name() const override { return "ServiceAccountTokens"; }
  void mutate(AdmissionRequest& request, Done done) override;

 private:
  void give(AdmissionRequest& request);

  const store::Store& store_;
  Rng& rng_;
};

// Mounts the volume into every container that has nothing at that place, and adds it to the pod if
// anybody does. `name` is taken when the pod has no such volume yet. Pure.
void addTokenVolume(json::Object& spec, const std::string& name);
// What `old` got is kept when the manifest that knows nothing of it is sent again. Pure.
void keepTokenVolume(json::Object& spec, const json::Object& old);

}  // namespace mangrove::apiserver
