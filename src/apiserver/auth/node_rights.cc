#include "apiserver/auth/node_rights.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/auth/rbac_rules.h"
#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kPrefix = "system:node:";
constexpr std::string_view kLeases = "kube-node-lease";
constexpr std::string_view kGuardedLabels = "node-restriction.kubernetes.io/";
// What a node may have for its pods.
constexpr std::string_view kNeeded[] = {"secrets", "configmaps", "persistentvolumeclaims",
                                        "serviceaccounts"};

// What every node may do whatever runs on it. Reading secrets and the like is not here.
const RuleSet& plainRules() {
  static const std::vector<std::string> kRead = {"get", "list", "watch"};
  static const std::vector<std::string> kKeep = {"create", "delete", "get", "patch", "update"};
  static const RuleSet kRules(std::vector<Rule>{
      {{"create"}, {"authentication.k8s.io"}, {"tokenreviews"}, {}, {}},
      {{"create"}, {"authorization.k8s.io"}, {"subjectaccessreviews"}, {}, {}},
      {{"create"}, {"authorization.k8s.io"}, {"localsubjectaccessreviews"}, {}, {}},
      {kRead, {""}, {"services", "nodes", "pods"}, {}, {}},
      {{"create", "patch", "update"}, {""}, {"nodes"}, {}, {}},
      {{"patch", "update"}, {""}, {"nodes/status", "pods/status"}, {}, {}},
      {{"create", "delete"}, {""}, {"pods"}, {}, {}},
      {{"create"}, {""}, {"pods/eviction"}, {}, {}},
      {{"create", "patch", "update"}, {"", "events.k8s.io"}, {"events"}, {}, {}},
      {{"create", "get", "list", "watch"},
       {"certificates.k8s.io"},
       {"certificatesigningrequests"},
       {},
       {}},
      {kRead, {"storage.k8s.io"}, {"csidrivers"}, {}, {}},
      {kKeep, {"storage.k8s.io"}, {"csinodes"}, {}, {}},
      {kRead, {"node.k8s.io"}, {"runtimeclasses"}, {}, {}},
      {{"get"}, {""}, {"persistentvolumes"}, {}, {}},
  });
  return kRules;
}

// The place of spec.nodeName among the declared fields of pods.
std::optional<size_t> nodeField() {
  const KindInfo* pods = catalogue().findPlural("", "v1", "pods");
  const auto found = std::find(pods->selectable.begin(), pods->selectable.end(), "spec.nodeName");
  if (found == pods->selectable.end()) return std::nullopt;
  return static_cast<size_t>(found - pods->selectable.begin());
}

template <class Fits>
bool anyPodOn(const store::Store& store, const std::string& node, const std::string& ns,
              Fits fits) {
  static const std::optional<size_t> kField = nodeField();
  store::Query query;
  query.resource = Resources::storedName("", "pods");
  query.ns = ns;
  query.filter = [&](const store::Object& pod) {  // a store without declared fields is asked below
    const auto fields = pod.fields();
    return !kField || fields.empty() || fields[*kField] == node;
  };
  auto page = store.list(query);
  if (!page) return false;
  for (const auto& stored : page->items) {
    auto pod = json::parse(*stored->json());
    const json::Object* spec =
        pod && pod->is_object() ? findObject(pod->get_object(), "spec") : nullptr;
    if (spec && textAt(*spec, "nodeName") == node && fits(pod->get_object(), *spec)) return true;
  }
  return false;
}

bool isReferred(const store::Store& store, const std::string& node, const Attributes& what) {
  const bool kept =
      std::find(std::begin(kNeeded), std::end(kNeeded), what.resource) != std::end(kNeeded);
  // A list or watch of all of them would show those of other nodes; one name is what pods refer to.
  if (!kept || what.group != "" || what.name.empty() || what.ns.empty()) return false;
  const bool reads = what.verb == "get" || what.verb == "list" || what.verb == "watch";
  const bool token =
      what.resource == "serviceaccounts" && what.subresource == "token" && what.verb == "create";
  const bool claim = what.resource == "persistentvolumeclaims" && what.subresource == "status";
  if (!(reads && what.subresource.empty()) && !token && !claim) return false;
  return anyPodOn(store, node, what.ns, [&](const json::Object&, const json::Object& spec) {
    return podRefersTo(spec, what.resource, what.name);
  });
}

bool isOwnLease(const std::string& node, const Attributes& what) {
  return what.group == "coordination.k8s.io" && what.resource == "leases" && what.ns == kLeases &&
         (what.name == node || (what.name.empty() && what.verb == "create"));
}

std::string_view label(const json::Object* labels, std::string_view key) {
  return labels ? textAt(*labels, key) : std::string_view();
}

// Labels by which administrators keep workloads off nodes that were broken into.
bool changesGuardedLabel(const json::Object& now, const json::Object* before) {
  static const json::Object kNone;
  const json::Object* fresh = findObject(metadataOf(now), "labels");
  const json::Object* old = before ? findObject(metadataOf(*before), "labels") : nullptr;
  for (const auto* list : {fresh ? fresh : &kNone, old ? old : &kNone})
    for (const auto& [key, value] : *list)
      if (std::string_view(key).find(kGuardedLabels) != std::string_view::npos &&
          label(fresh, key) != label(old, key))
        return true;
  return false;
}

// Taints keep pods off a node; one that was broken into would take its own off.
bool changesTaints(const json::Object& now, const json::Object* before) {
  if (!before) return false;
  const auto taints = [](const json::Object& node) {
    const json::Object* spec = findObject(node, "spec");
    const json::Array* list = spec ? findArray(*spec, "taints") : nullptr;
    return list ? *list : json::Array();
  };
  return taints(now) != taints(*before);
}

}  // namespace

std::optional<std::string> nodeNameOf(const Identity& who) {
  if (!who.in(group::kNodes) || !who.user.starts_with(kPrefix)) return std::nullopt;
  if (who.user.size() == kPrefix.size()) return std::nullopt;
  return who.user.substr(kPrefix.size());
}

Decision NodeAuthorizer::authorize(const Identity& who, const Attributes& what) {
  const auto node = nodeNameOf(who);
  if (node && what.isResource) {
    if (plainRules().allows(what)) return {true, "node rule"};
    if (isOwnLease(*node, what)) return {true, "lease of the node itself"};
    if (isReferred(store_, *node, what)) return {true, "a pod of the node refers to it"};
  }
  Decision decision = others_.authorize(who, what);
  if (node && !decision.allowed && decision.reason.empty())
    decision.reason = fmt::format("no relationship found between node '{}' and this object", *node);
  return decision;
}

void NodeRestriction::validate(AdmissionRequest& request, Done done) {
  const bool isNodeUser = request.who.in(group::kNodes);
  if (!isNodeUser) return done(std::nullopt);
  const auto node = nodeNameOf(request.who);
  if (!node)
    return done(admissionForbids(
        request, fmt::format("user \"{}\" is in the group of nodes without a node's name",
                             request.who.user)));
  if (auto why = refusal(request, *node)) return done(admissionForbids(request, *why));
  done(std::nullopt);
}

std::optional<std::string> NodeRestriction::refusal(const AdmissionRequest& request,
                                                    const std::string& node) const {
  const KindInfo& kind = *request.resource->kind;
  const json::Object* object = request.object.if_object();
  const std::string name =
      !request.name.empty() || !object ? request.name : std::string(nameOf(*object));
  if (kind.plural == "pods" && kind.group.empty()) return ofPod(request, node);
  if (kind.plural == "serviceaccounts" && request.subresource == "token")
    return ofToken(request, node);
  const bool own = kind.plural == "nodes" || kind.plural == "csinodes";
  const bool lease = kind.plural == "leases";
  if ((own || lease) && name != node)
    return fmt::format("node \"{}\" is not allowed to modify {} \"{}\"", node, kind.plural, name);
  if (lease && request.ns != kLeases)
    return fmt::format("node \"{}\" may keep leases in namespace {} only", node, kLeases);
  if (kind.plural == "nodes" && object &&
      changesGuardedLabel(*object, request.oldObject.if_object()))
    return fmt::format("node \"{}\" is not allowed to set labels with the prefix {}", node,
                       kGuardedLabels);
  if (kind.plural == "nodes" && request.subresource.empty() && object &&
      changesTaints(*object, request.oldObject.if_object()))
    return fmt::format("node \"{}\" is not allowed to modify taints", node);
  return std::nullopt;
}

std::optional<std::string> NodeRestriction::ofPod(const AdmissionRequest& request,
                                                  const std::string& node) const {
  const json::Value& about = request.oldObject.is_object() ? request.oldObject : request.object;
  const json::Object* pod = about.if_object();
  if (request.operation == Operation::kCreate && request.subresource.empty() && pod &&
      textAt(*pod, "kind") != "Eviction") {
    const json::Object* notes = findObject(metadataOf(*pod), "annotations");
    if (!notes || !notes->contains("kubernetes.io/config.mirror"))
      return fmt::format(
          "pod does not have \"kubernetes.io/config.mirror\" annotation, node "
          "\"{}\" can only create mirror pods",
          node);
    const json::Object* spec = findObject(*pod, "spec");
    // What a pod of the node refers to may be read by the node: it must not be able to say so.
    for (std::string_view plural : kNeeded)
      if (spec && podRefersTo(*spec, plural, ""))
        return fmt::format(
            "node \"{}\" can not create pods that reference secrets, configmaps, "
            "persistentvolumeclaims or serviceaccounts: this one refers to {}",
            node, plural);
  }
  static const Interned kPods = Resources::storedName("", "pods");
  auto stored = store_.getHead(kPods, request.ns, request.name);
  auto known = stored ? json::parse(*stored->json()) : json::parse(pod ? json::write(*pod) : "{}");
  const json::Object* spec =
      known && known->is_object() ? findObject(known->get_object(), "spec") : nullptr;
  if (spec && textAt(*spec, "nodeName") == node) return std::nullopt;
  return fmt::format("node \"{}\" can only change pods with spec.nodeName set to itself", node);
}

std::optional<std::string> NodeRestriction::ofToken(const AdmissionRequest& request,
                                                    const std::string& node) const {
  const json::Object* object = request.object.if_object();
  const json::Object* spec = object ? findObject(*object, "spec") : nullptr;
  const json::Object* bound = spec ? findObject(*spec, "boundObjectRef") : nullptr;
  if (!bound || textAt(*bound, "kind") != "Pod")
    return fmt::format("node \"{}\" may ask for tokens that are bound to a pod of its own only",
                       node);
  const std::string wanted(textAt(*bound, "name")), uid(textAt(*bound, "uid"));
  const bool own =
      anyPodOn(store_, node, request.ns, [&](const json::Object& pod, const json::Object& podSpec) {
        return nameOf(pod) == wanted && uidOf(pod) == uid &&
               textAt(podSpec, "serviceAccountName") == request.name;
      });
  if (own) return std::nullopt;
  return fmt::format("node \"{}\" has no pod \"{}\" with this service account", node, wanted);
}

}  // namespace mangrove::apiserver
