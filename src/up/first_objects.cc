#include "up/first_objects.h"

#include <memory>

#include "base/os/log.h"
#include "runtime/core/claims.h"
#include "runtime/cri/runtime_class.h"

namespace mangrove::up {

namespace {

const Logger log("up");
constexpr const char* kNamespace = "koordinator-system";

json::Object meta(std::string_view name, std::string_view ns) {
  json::Object out{{"name", name}};
  if (!ns.empty()) out["namespace"] = ns;
  return out;
}

FirstObject priorityClass(std::string_view name, int value, std::string_view about) {
  return {client::kind::kPriorityClass,
          "",
          {{"apiVersion", "scheduling.k8s.io/v1"},
           {"kind", "PriorityClass"},
           {"metadata", meta(name, "")},
           {"value", value},
           {"preemptionPolicy", "PreemptLowerPriority"},
           {"description", about}}};
}

// Claims without a class get directories of this machine.
FirstObject localStorage() {
  json::Object body{{"apiVersion", "storage.k8s.io/v1"},
                    {"kind", "StorageClass"},
                    {"metadata", meta("mangrove-local", "")},
                    {"provisioner", runtime::kLocalProvisioner},
                    {"reclaimPolicy", "Delete"},
                    {"volumeBindingMode", "Immediate"}};
  body["metadata"].get_object()["annotations"] =
      json::Object{{"storageclass.kubernetes.io/is-default-class", "true"}};
  return {client::kind::kStorageClass, "", std::move(body)};
}

// The range that cluster addresses are taken from, where clients look for it.
FirstObject serviceRange() {
  static constexpr api::Kind kServiceCidr{"networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs",
                                          false};
  return {kServiceCidr,
          "",
          {{"apiVersion", "networking.k8s.io/v1"},
           {"kind", "ServiceCIDR"},
           {"metadata", meta("kubernetes", "")},
           {"spec", json::Object{{"cidrs", json::Array{"10.96.0.0/12"}}}}}};
}

// Pods of this class are processes of this machine, whatever container runtime it has.
FirstObject ownRuntimeClass() {
  return {runtime::cri::kRuntimeClass,
          "",
          {{"apiVersion", "node.k8s.io/v1"},
           {"kind", "RuntimeClass"},
           {"metadata", meta(runtime::cri::kOwnRuntimeClass, "")},
           {"handler", runtime::cri::kOwnRuntimeClass}}};
}

// Whoever may look at a namespace may look at what its pods use.
FirstObject metricsReader() {
  json::Object body{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                    {"kind", "ClusterRole"},
                    {"metadata", meta("system:aggregated-metrics-reader", "")}};
  body["metadata"].get_object()["labels"] =
      json::Object{{"rbac.authorization.k8s.io/aggregate-to-view", "true"}};
  body["rules"] = json::Array{json::Object{{"apiGroups", json::Array{"metrics.k8s.io"}},
                                           {"resources", json::Array{"pods", "nodes"}},
                                           {"verbs", json::Array{"get", "list"}}}};
  return {client::kind::kClusterRole, "", std::move(body)};
}

// One machine: report and recompute quickly, keep more in hand than a fleet would, suppress
// best-effort CPU by quota (a small machine has too few CPUs to hand out as sets) and only near the
// end: the kernel's idle class comes first, and `mangrove bench impact` measures this profile.
FirstObject sloConfig() {
  json::Object colocation{{"enable", true},
                          {"metricAggregateDurationSeconds", 60},
                          {"metricReportIntervalSeconds", 3},
                          {"cpuReclaimThresholdPercent", 70},
                          {"memoryReclaimThresholdPercent", 70},
                          {"memoryCalculatePolicy", "usage"},
                          {"degradeTimeMinutes", 5},
                          {"updateTimeThresholdSeconds", 60},
                          {"resourceDiffThreshold", 0.05}};
  json::Object threshold{{"clusterStrategy", json::Object{{"enable", true},
                                                          {"cpuSuppressThresholdPercent", 95},
                                                          {"cpuSuppressPolicy", "cfsQuota"},
                                                          {"memoryEvictThresholdPercent", 85},
                                                          {"memoryEvictLowerPercent", 80}}}};
  json::Object body{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  body["metadata"] = meta("slo-controller-config", kNamespace);
  body["metadata"].get_object()["labels"] =
      json::Object{{"koordinator.sh/configmap-type", "slo-controller-config"}};
  body["data"] = json::Object{{"colocation-config", json::writePretty(colocation)},
                              {"resource-threshold-config", json::writePretty(threshold)}};
  return {client::kind::kConfigMap, kNamespace, std::move(body)};
}

struct Creation : std::enable_shared_from_this<Creation> {
  Creation(client::ApiClient& c, Mailbox& o, Fn d) : client(c), owner(o), done(std::move(d)) {}
  void next() {
    if (at == objects.size()) return done ? done() : void();
    const FirstObject& object = objects[at++];
    client::Request request;
    request.verb = client::Verb::kCreate;
    request.ref = {object.kind, object.ns, ""};
    request.body = json::write(object.body);
    client.submit(owner, std::move(request),
                  [self = shared_from_this()](Result<client::Reply> reply) {
                    if (!reply && reply.error().code() != Code::kExists)
                      log.warn("{}", reply.error().text());
                    self->next();
                  });
  }
  client::ApiClient& client;
  Mailbox& owner;
  Fn done;
  std::vector<FirstObject> objects = firstObjects();
  size_t at = 0;
};

}  // namespace

std::vector<FirstObject> firstObjects() {
  return {{client::kind::kNamespace,
           "",
           {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", meta(kNamespace, "")}}},
          priorityClass("koord-prod", 9000, "Services that must not notice their neighbours"),
          priorityClass("koord-mid", 7000, "Work on resources that are likely to stay free"),
          priorityClass("koord-batch", 5000, "Batch work on reclaimed resources"),
          priorityClass("koord-free", 3000, "Work that gets what is left over"),
          localStorage(),
          ownRuntimeClass(),
          metricsReader(),
          sloConfig(),
          serviceRange()};
}

void createFirstObjects(client::ApiClient& client, Mailbox& owner, Fn done) {
  std::make_shared<Creation>(client, owner, std::move(done))->next();
}

}  // namespace mangrove::up
