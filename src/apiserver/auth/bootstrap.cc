#include "apiserver/auth/bootstrap.h"

#include "apiserver/auth/rbac_rules.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "apiserver/core/strategy.h"
#include "apiserver/core/write.h"
#include "base/check.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

// Facts, one per line.
//   role NAME [aggregates=X] [to=Y]      gathers what is labelled aggregate-to-X; is labelled
//                                        aggregate-to-Y itself
//   VERBS GROUPS RESOURCES [NAMES]       a rule; "core" is the group "", "read" is get, list and
//                                        watch, "write" everything that changes objects
//   url VERBS PATHS
//   bind NAME Kind:SUBJECT …             a ClusterRoleBinding of that role
constexpr std::string_view kTable = R"(
role cluster-admin
  * * *
  url * *
role admin aggregates=admin
role edit aggregates=edit to=admin
role view aggregates=view to=edit
role system:aggregate-to-admin to=admin
  create authorization.k8s.io localsubjectaccessreviews
  read,write rbac.authorization.k8s.io roles,rolebindings
role system:aggregate-to-edit to=edit
  read core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
  impersonate core serviceaccounts
  write core pods,pods/attach,pods/exec,pods/portforward,pods/proxy
  create core pods/eviction,serviceaccounts/token
  write core configmaps,events,persistentvolumeclaims,replicationcontrollers
  write core replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
  write apps daemonsets,deployments,deployments/rollback,deployments/scale
  write apps replicasets,replicasets/scale,statefulsets,statefulsets/scale
  write autoscaling horizontalpodautoscalers
  write batch cronjobs,jobs
  write policy poddisruptionbudgets
  write networking.k8s.io ingresses,networkpolicies
  read,write coordination.k8s.io leases
role system:aggregate-to-view to=view
  read core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods
  read core replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services
  read core services/status,bindings,events,limitranges,namespaces/status,pods/log,pods/status
  read core replicationcontrollers/status,resourcequotas,resourcequotas/status,namespaces
  read discovery.k8s.io endpointslices
  read apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale
  read apps deployments/status,replicasets,replicasets/scale,replicasets/status
  read apps statefulsets,statefulsets/scale,statefulsets/status
  read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status
  read batch cronjobs,cronjobs/status,jobs,jobs/status
  read policy poddisruptionbudgets,poddisruptionbudgets/status
  read networking.k8s.io ingresses,ingresses/status,networkpolicies
role system:auth-delegator
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
role system:basic-user
  create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews
  create authentication.k8s.io selfsubjectreviews
role system:discovery
  url get /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
role system:public-info-viewer
  url get /healthz,/healthz/*,/livez,/livez/*,/readyz,/readyz/*,/version,/version/
role system:monitoring
  url get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*
role system:service-account-issuer-discovery
  url get /.well-known/openid-configuration,/openid/v1/jwks
role system:kube-controller-manager
  create,patch,update core,events.k8s.io events
  create coordination.k8s.io leases
  get,update coordination.k8s.io leases kube-controller-manager
  create,get,update core secrets,serviceaccounts
  delete core secrets
  get core configmaps,namespaces
  create core serviceaccounts/token
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
  list,watch * *
role system:kube-scheduler
  create,patch,update core,events.k8s.io events
  create coordination.k8s.io leases
  get,list,update,watch coordination.k8s.io leases kube-scheduler,koord-scheduler
  read core nodes,namespaces,replicationcontrollers,services
  read core persistentvolumeclaims,persistentvolumes
  delete,get,list,watch core pods
  create core bindings,pods/binding
  patch,update core pods/status
  read apps replicasets,statefulsets
  read policy poddisruptionbudgets
  read storage.k8s.io csidrivers,csinodes,csistoragecapacities,storageclasses,volumeattachments
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io subjectaccessreviews
role system:volume-scheduler
  get,list,patch,update,watch core persistentvolumes,persistentvolumeclaims
  read storage.k8s.io storageclasses
role system:kubelet-api-admin
  read core nodes
  proxy core nodes
  * core nodes/log,nodes/metrics,nodes/proxy,nodes/stats
role system:node
  create authentication.k8s.io tokenreviews
  create authorization.k8s.io localsubjectaccessreviews,subjectaccessreviews
  read core configmaps,endpoints,secrets,services
  create,get,list,patch,update,watch core nodes
  patch,update core nodes/status,pods/status
  create,patch,update core,events.k8s.io events
  create,delete,get,list,watch core pods
  create core pods/eviction,serviceaccounts/token
  get core persistentvolumeclaims,persistentvolumes,serviceaccounts
  get,patch,update core persistentvolumeclaims/status
  create,delete,get,patch,update coordination.k8s.io leases
  get storage.k8s.io volumeattachments
  read storage.k8s.io csidrivers
  create,delete,get,patch,update storage.k8s.io csinodes
  read node.k8s.io runtimeclasses
role system:node-problem-detector
  get core nodes
  patch core nodes/status
  create,patch,update core,events.k8s.io events
role system:node-proxier
  list,watch core endpoints,services
  read core nodes
  create,patch,update core,events.k8s.io events
  list,watch discovery.k8s.io endpointslices
role system:persistent-volume-provisioner
  create,delete,get,list,watch core persistentvolumes
  get,list,update,watch core persistentvolumeclaims
  read storage.k8s.io storageclasses
  watch core events
  create,patch,update core,events.k8s.io events
bind cluster-admin Group:system:masters
bind system:basic-user Group:system:authenticated
bind system:discovery Group:system:authenticated
bind system:public-info-viewer Group:system:authenticated Group:system:unauthenticated
bind system:monitoring Group:system:monitoring
bind system:service-account-issuer-discovery Group:system:serviceaccounts
bind system:kube-controller-manager User:system:kube-controller-manager
bind system:kube-scheduler User:system:kube-scheduler
bind system:volume-scheduler User:system:kube-scheduler
bind system:node
bind system:node-proxier User:system:kube-proxy
)";

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> out;
  for (auto word : split(list, ',')) {
    if (word == "read") {
      out.insert(out.end(), {"get", "list", "watch"});
    } else if (word == "write") {
      out.insert(out.end(), {"create", "delete", "deletecollection", "patch", "update"});
    } else {
      out.emplace_back(word == "core" ? "" : word);
    }
  }
  return out;
}

json::Object newObject(std::string_view kind, std::string_view name) {
  json::Object metadata{{"name", name},
                        {"annotations", json::Object{{kAutoUpdate, "true"}}},
                        {"labels", json::Object{{"kubernetes.io/bootstrapping", "rbac-defaults"}}}};
  return {{"apiVersion", std::string(kGroup) + "/v1"},
          {"kind", kind},
          {"metadata", std::move(metadata)}};
}

std::string aggregateLabel(std::string_view to) {
  return std::string(kGroup) + "/aggregate-to-" + std::string(to);
}

json::Object newRole(const std::vector<std::string_view>& line) {
  json::Object role = newObject("ClusterRole", line[1]);
  for (size_t i = 2; i < line.size(); ++i) {
    auto [key, value, found] = cut(line[i], '=');
    CHECK(found, "bootstrap table: '{}'", line[i]);
    if (key == "to") objectAt(metadataOf(role), "labels")[aggregateLabel(value)] = "true";
    if (key != "aggregates") continue;
    json::Object labels{{aggregateLabel(value), "true"}};
    json::Object selector{{"matchLabels", std::move(labels)}};
    json::Array selectors;
    selectors.push_back(std::move(selector));
    role["aggregationRule"] = json::Object{{"clusterRoleSelectors", std::move(selectors)}};
  }
  role["rules"] = json::Array();
  return role;
}

Rule readRule(const std::vector<std::string_view>& line) {
  if (line[0] == "url") return {words(line[1]), {}, {}, {}, words(line[2])};
  return {words(line[0]),
          words(line[1]),
          words(line[2]),
          line.size() > 3 ? words(line[3]) : std::vector<std::string>(),
          {}};
}

json::Object newBinding(const std::vector<std::string_view>& line) {
  json::Object binding = newObject("ClusterRoleBinding", line[1]);
  binding["roleRef"] =
      json::Object{{"apiGroup", kGroup}, {"kind", "ClusterRole"}, {"name", line[1]}};
  json::Array subjects;
  for (size_t i = 2; i < line.size(); ++i) {
    auto [kind, name, found] = cut(line[i], ':');
    CHECK(found, "bootstrap table: '{}'", line[i]);
    subjects.push_back(json::Object{{"apiGroup", kGroup}, {"kind", kind}, {"name", name}});
  }
  binding["subjects"] = std::move(subjects);
  return binding;
}

bool autoUpdates(const json::Object& object) {
  const json::Object* annotations = findObject(metadataOf(object), "annotations");
  return annotations && textAt(*annotations, kAutoUpdate) == "true";
}

void addLostRules(json::Object& role, const json::Object& wanted) {
  std::vector<Rule> rules = readRules(role);
  const auto lost = uncovered(rules, readRules(wanted));
  if (lost.empty()) return;
  rules.insert(rules.end(), lost.begin(), lost.end());
  role["rules"] = writeRules(rules);
}

void addLostSubjects(json::Object& binding, const json::Object& wanted) {
  const json::Array* subjects = findArray(wanted, "subjects");
  for (size_t i = 0; subjects && i < subjects->size(); ++i) {
    json::Value& have = binding["subjects"];
    if (!have.is_array()) have = json::Array();
    bool found = false;
    for (const json::Value& subject : have.get_array()) found |= subject == (*subjects)[i];
    if (!found) have.get_array().push_back((*subjects)[i]);
  }
}

// Nodes have rights of their own (node_rights.h); earlier versions gave all of them all secrets.
void dropNodes(json::Object& binding) {
  json::Value& have = binding["subjects"];
  if (!have.is_array()) return;
  json::Array kept;
  for (const json::Value& subject : have.get_array())
    if (!subject.is_object() || textAt(subject.get_object(), "name") != group::kNodes)
      kept.push_back(subject);
  have = std::move(kept);
}

void repair(Context& context, const ResourcePtr& resource, json::Value wanted) {
  const std::string name(nameOf(wanted.get_object()));
  auto change = [wanted](json::Object& object) -> Outcome<> {
    if (!autoUpdates(object)) return {};
    if (textAt(object, "kind") == "ClusterRole") {
      // Aggregated rules are not ours to keep.
      if (!object.contains("aggregationRule")) addLostRules(object, wanted.get_object());
    } else {
      if (nameOf(object) == "system:node") dropNodes(object);
      addLostSubjects(object, wanted.get_object());
    }
    return {};
  };
  changeObject(context, resource, "", name, std::move(change), [](const auto&) {});
}

}  // namespace

std::vector<json::Value> bootstrapObjects() {
  std::vector<json::Value> objects;
  std::vector<Rule> rules;
  auto finishRole = [&] {
    if (!rules.empty()) objects.back().get_object()["rules"] = writeRules(rules);
    rules.clear();
  };
  for (auto line : split(kTable, '\n')) {
    const auto parts = splitTrimmed(line, ' ');
    if (parts.empty()) continue;
    if (line.starts_with(' ')) {
      rules.push_back(readRule(parts));
      continue;
    }
    finishRole();
    objects.emplace_back(parts[0] == "role" ? newRole(parts) : newBinding(parts));
  }
  return objects;
}

void createBootstrapObjects(Context& context, std::vector<json::Value> objects) {
  for (json::Value& object : objects) {
    json::Object& root = object.get_object();
    auto resource = context.resources.findKind(kGroup, "v1", textAt(root, "kind"));
    CHECK(resource, "no kind {}", textAt(root, "kind"));
    if (context.store.getHead(resource->stored, "", nameOf(root))) {
      repair(context, resource, std::move(object));
      continue;
    }
    stampCreate(*resource->kind, root, context.clock.wall(), context.rng);
    putObject(context, resource, std::move(object), nullptr, [](const auto&) {});
  }
}

}  // namespace mangrove::apiserver
