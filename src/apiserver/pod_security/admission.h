#pragma once
// Pod security at the door: pods that break their namespace's level are refused, named in the audit
// log or warned about; workloads, which only make pods later, are warned about. A namespace whose
// level is raised is told which of its pods would be refused now. An admission plugin; owner thread.
//
// One rule is ours: the annotation by which `mangrove run` gives a pod the caller's files counts as
// what only privileged namespaces permit, and cannot be added or changed afterwards.

#include <map>
#include <optional>
#include <string>

#include "apiserver/admission/admission.h"
#include "apiserver/pod_security/policy.h"
#include "store/store.h"

namespace mangrove::apiserver::pod_security {

class PodSecurity final : public AdmissionPlugin {
 public:
  PodSecurity(const store::Store& store, Configuration configuration)
      : store_(store), configuration_(std::move(configuration)) {}
  std::string_view name() const override { return "PodSecurity"; }
  void validate(AdmissionRequest& request, Done done) override;

 private:
  std::optional<Answer> judgePod(AdmissionRequest& request) const;
  void judgeTemplate(AdmissionRequest& request, const json::Object& metadata,
                     const json::Object& spec) const;
  std::optional<Answer> judgeNamespace(AdmissionRequest& request) const;
  void warnOfExisting(AdmissionRequest& request, const LevelVersion& level) const;
  // nullopt: the request is exempt.
  std::optional<Policy> policyFor(const AdmissionRequest& request, const json::Object& spec) const;

  struct Known {
    store::Revision revision;
    Policy policy;
  };

  const store::Store& store_;
  const Configuration configuration_;
  mutable std::map<std::string, Known> known_;  // by namespace: labels are read once
};

}  // namespace mangrove::apiserver::pod_security
