#include "manager/webhook/routes.h"

#include <algorithm>
#include <array>

#include "manager/webhook/configmap/validate.h"
#include "manager/webhook/node/amplify.h"
#include "manager/webhook/pod/mutate.h"
#include "manager/webhook/pod/validate.h"
#include "manager/webhook/quota/mutate.h"
#include "manager/webhook/quota/validate.h"
#include "manager/webhook/reservation/mutate.h"
#include "manager/webhook/workload/rewrite.h"

namespace mangrove::manager {
namespace {

using G = WebhookGates;
constexpr std::string_view kScheduling = "scheduling.sigs.k8s.io";
constexpr RunsOn kAny = RunsOn::kAnyThread;
constexpr RunsOn kOwner = RunsOn::kOwner;

// Columns: path, plugin, mutating, group, resource, subresource, create, update, delete, gate,
// handler, where, spares the control plane, must answer.
constexpr std::array kRoutes = {
    Route{"/mutate-pod", "pod", true, "", "pods", "", true, true, false, &G::podMutating,
          &mutatePod, kAny, true, true},
    Route{"/validate-pod", "pod", false, "", "pods", "", true, true, false, &G::podValidating,
          &validatePod, kAny, true, true},
    Route{"/validate-pod-binding", "binding", false, "", "pods", "binding", true, false, false,
          &G::bindingAdmission, &validateBinding, kOwner, false, false},
    Route{"/mutate-node-status", "node-status", true, "", "nodes", "status", true, true, false,
          &G::nodeMutating, &mutateNodeStatus, kAny, false, false},
    Route{"/validate-node", "node", false, "", "nodes", "", true, true, false, &G::nodeValidating,
          &validateNode, kAny, false, false},
    Route{"/validate-configmap", "configmap", false, "", "configmaps", "", true, true, true,
          &G::configMapValidating, &validateConfigMap, kOwner, false, true},
    Route{"/mutate-reservation", "reservation", true, "scheduling.koordinator.sh", "reservations",
          "", true, false, false, &G::reservationMutating, &mutateReservation, kAny, false, true},
    Route{"/mutate-scheduling-sigs-k8s-io-v1alpha1-elasticquota", "elasticquota", true, kScheduling,
          "elasticquotas", "", true, false, false, &G::quotaMutating, &mutateQuota, kOwner, false,
          true},
    Route{"/validate-scheduling-sigs-k8s-io-v1alpha1-elasticquota", "elasticquota", false,
          kScheduling, "elasticquotas", "", true, true, true, &G::quotaValidating, &validateQuota,
          kOwner, false, true},
    Route{"/mutate-workload", "spark", true, "sparkoperator.k8s.io", "sparkapplications", "", true,
          false, false, &G::workloadMutating, &mutateWorkload, kAny, false, false},
    Route{"/mutate-workload", "flink", true, "flink.apache.org", "flinkdeployments", "", true,
          false, false, &G::workloadMutating, &mutateWorkload, kAny, false, false},
    Route{"/mutate-workload", "pytorch", true, "kubeflow.org", "pytorchjobs", "", true, false,
          false, &G::workloadMutating, &mutateWorkload, kAny, false, false},
    Route{"/mutate-workload", "mpi", true, "kubeflow.org", "mpijobs", "", true, false, false,
          &G::workloadMutating, &mutateWorkload, kAny, false, false},
    Route{"/mutate-workload", "train", true, "trainer.kubeflow.org", "trainjobs", "", true, false,
          false, &G::workloadMutating, &mutateWorkload, kAny, false, false},
    Route{"/mutate-workload", "ray", true, "ray.io", "rayjobs", "", true, false, false,
          &G::workloadMutating, &mutateWorkload, kAny, false, false},
    Route{"/mutate-workload", "volcano", true, "batch.volcano.sh", "jobs", "", true, false, false,
          &G::workloadMutating, &mutateWorkload, kAny, false, false},
    Route{"/mutate-workload", "job", true, "batch", "jobs", "", true, false, false,
          &G::workloadMutating, &mutateWorkload, kAny, false, false},
};

}  // namespace

bool Route::wants(const AdmissionRequest& request) const {
  if (request.group != group || request.resource != resource || request.subresource != subresource)
    return false;
  switch (request.operation) {
    case Operation::kCreate:
      return create;
    case Operation::kUpdate:
      return update;
    case Operation::kDelete:
      return remove;
    case Operation::kConnect:
      break;
  }
  return false;
}

std::span<const Route> allRoutes() {
  return kRoutes;
}

const Route* routeOf(std::string_view path) {
  const auto found =
      std::find_if(kRoutes.begin(), kRoutes.end(), [&](const Route& r) { return r.path == path; });
  return found == kRoutes.end() ? nullptr : &*found;
}

bool isSpared(const Route& route, std::string_view ns, const Surroundings& around) {
  if (!route.sparesControlPlane) return false;
  const api::Labels* labels = around.labelsOf(ns);
  return labels != nullptr && labels->has(kControlPlaneLabel);
}

}  // namespace mangrove::manager
