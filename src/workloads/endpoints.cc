#include "workloads/endpoints.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "api/wire/write.h"
#include "json/view.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

using PodList = std::vector<const api::Pod*>;

constexpr std::string_view kSlicer = "endpointslice-controller.k8s.io";
constexpr std::string_view kMirrorer = "endpointslicemirroring-controller.k8s.io";

bool hasAddress(const api::Pod& pod) {
  return !pod.status.podIp.empty() && !api::isTerminated(pod);
}

bool isServing(const Service& service, const api::Pod& pod) {
  return service.publishNotReady || isReady(pod);
}

json::Object targetRef(const api::Pod& pod) {
  return {{"kind", "Pod"},
          {"namespace", pod.meta.ns.view()},
          {"name", pod.meta.name.view()},
          {"uid", pod.meta.uid.str()}};
}

// Pods of a StatefulSet are called by their own name; others have none.
std::string_view hostnameOf(const api::Pod& pod) {
  return pod.meta.labels.get("statefulset.kubernetes.io/pod-name").value_or("");
}

json::Array addresses(const PodList& pods) {
  json::Array out;
  for (const auto* pod : pods) {
    json::Object one{{"ip", pod->status.podIp.view()}, {"targetRef", targetRef(*pod)}};
    if (const auto host = hostnameOf(*pod); !host.empty()) one["hostname"] = host;
    api::put(one, "nodeName", pod->nodeName);
    out.push_back(std::move(one));
  }
  return out;
}

json::Object portJson(const ServicePort& port, int32_t number) {
  json::Object out{{"port", number}, {"protocol", port.protocol}};
  if (!port.name.empty()) out["name"] = port.name;
  if (!port.appProtocol.empty()) out["appProtocol"] = port.appProtocol;
  return out;
}

// Pods whose named ports have the same numbers share a subset.
using PortNumbers = std::vector<int32_t>;
PortNumbers numbersOf(const Service& service, const api::Pod& pod) {
  PortNumbers numbers;
  for (const auto& port : service.ports) numbers.push_back(targetPortOf(port, pod));
  return numbers;
}

std::map<PortNumbers, PodList> groupByPorts(const Service& service, const Pods& pods) {
  std::map<PortNumbers, PodList> groups;
  for (const auto& pod : pods) {
    if (!hasAddress(*pod) || pod->meta.isDeleting()) continue;
    groups[numbersOf(service, *pod)].push_back(pod.get());
  }
  return groups;
}

json::Array portsJson(const Service& service, const PortNumbers& numbers) {
  json::Array ports;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != 0) ports.push_back(portJson(service.ports[i], numbers[i]));
  return ports;
}

json::Array subsets(const Service& service, const Pods& pods) {
  json::Array out;
  for (auto& [numbers, group] : groupByPorts(service, pods)) {
    PodList ready, waiting;
    for (const auto* pod : group) (isServing(service, *pod) ? ready : waiting).push_back(pod);
    json::Object subset{{"ports", portsJson(service, numbers)}};
    if (!ready.empty()) subset["addresses"] = addresses(ready);
    if (!waiting.empty()) subset["notReadyAddresses"] = addresses(waiting);
    out.push_back(std::move(subset));
  }
  return out;
}

json::Array sliceEndpoints(const Service& service, const PodList& pods) {
  json::Array out;
  for (const auto* pod : pods) {
    const bool ready = isServing(service, *pod), leaving = pod->meta.isDeleting();
    json::Object one{
        {"addresses", json::Array{pod->status.podIp.view()}},
        {"conditions",
         json::Object{{"ready", ready && !leaving}, {"serving", ready}, {"terminating", leaving}}},
        {"targetRef", targetRef(*pod)}};
    if (const auto host = hostnameOf(*pod); !host.empty()) one["hostname"] = host;
    api::put(one, "nodeName", pod->nodeName);
    out.push_back(std::move(one));
  }
  return out;
}

json::Object labelsOf(const Service& service) {
  json::Object labels;
  for (const auto& [key, value] : service.meta.labels) labels[key.view()] = value.view();
  return labels;
}

// A slice has one list of ports; those that go are still in it.
std::vector<json::Object> slicesOf(const Service& service, const Pods& pods) {
  std::map<PortNumbers, PodList> groups;
  for (const auto& pod : pods)
    if (hasAddress(*pod)) groups[numbersOf(service, *pod)].push_back(pod.get());
  if (groups.empty()) groups[PortNumbers(service.ports.size(), 0)];
  std::vector<json::Object> out;
  for (const auto& [numbers, group] : groups)
    out.push_back(
        {{"endpoints", sliceEndpoints(service, group)}, {"ports", portsJson(service, numbers)}});
  return out;
}

void mirrorAddresses(json::View addresses, bool ready, json::Array& out) {
  for (json::View address : addresses.elements()) {
    json::Object one{{"addresses", json::Array{address["ip"].string().value_or("")}},
                     {"conditions", json::Object{{"ready", ready}}}};
    for (const char* key : {"hostname", "nodeName", "targetRef"})
      if (address[key].exists()) one[key] = json::toValue(address[key]);
    out.push_back(std::move(one));
  }
}

// What somebody's Endpoints say, as slices: one for each subset. None where their author forbids it.
std::vector<json::Object> mirrorsOf(const std::string& endpoints) {
  json::Doc doc;
  std::vector<json::Object> out;
  auto object = endpoints.empty() ? Result<json::View>(json::View()) : doc.parse(endpoints);
  if (!object) return out;
  const json::View meta = (*object)["metadata"];
  if (meta["labels"]["endpointslice.kubernetes.io/skip-mirror"].string() == "true" ||
      meta["annotations"]["control-plane.alpha.kubernetes.io/leader"].exists())
    return out;
  for (json::View subset : (*object)["subsets"].elements()) {
    json::Array list;
    mirrorAddresses(subset["addresses"], true, list);
    mirrorAddresses(subset["notReadyAddresses"], false, list);
    json::Value ports = subset["ports"].exists() ? json::toValue(subset["ports"]) : json::Array();
    out.push_back({{"endpoints", std::move(list)}, {"ports", std::move(ports)}});
  }
  return out;
}

// Creates the object, or patches the parts that differ.
void write(const Service& service, const api::Kind& kind, const std::string& name,
           json::Object labels, json::Object content, const std::string& present, Plan& plan) {
  const std::string ns(service.meta.ns.view());
  if (!present.empty()) {
    json::Object body{{"metadata", json::Object{{"labels", std::move(labels)}}}};
    for (auto& [key, value] : content) body[key] = value;
    plan.change.push_back({{kind, ns, name}, client::PatchType::kMerge, std::move(body), present});
    return;
  }
  json::Object body{{"apiVersion", kind.apiVersion()}, {"kind", kind.kind}};
  body["metadata"] = json::Object{
      {"name", name},
      {"namespace", ns},
      {"labels", std::move(labels)},
      {"ownerReferences", json::Array{ownerReference(api::kind::kService, service.meta)}}};
  for (auto& [key, value] : content) body[key] = value;
  plan.create.push_back({kind, ns, std::move(body)});
}

// The slices of one manager: written in their order as NAME, NAME.1, …; those beyond are removed. No
// service's name has a dot.
void writeSlices(const Service& service, std::string_view manager, std::vector<json::Object> wanted,
                 const std::vector<PresentSlice>& present, Plan& plan) {
  std::set<std::string> names;
  for (auto& content : wanted) {
    const std::string base = service.meta.name.str();
    const std::string name = names.empty() ? base : fmt::format("{}.{}", base, names.size());
    names.insert(name);
    const auto known = std::find_if(present.begin(), present.end(),
                                    [&](const PresentSlice& one) { return one.name == name; });
    json::Object labels = labelsOf(service);
    labels[kSliceService] = service.meta.name.view();
    labels[kManagedBy] = manager;
    if (known == present.end()) content["addressType"] = "IPv4";  // immutable
    write(service, kEndpointSlice, name, std::move(labels), std::move(content),
          known == present.end() ? "" : known->raw, plan);
  }
  for (const auto& one : present)
    if (one.managedBy == manager && !names.contains(one.name))
      plan.remove.push_back({{kEndpointSlice, std::string(service.meta.ns.view()), one.name}, {}});
}

}  // namespace

int32_t targetPortOf(const ServicePort& port, const api::Pod& pod) {
  if (!port.targetPort.isText)
    return port.targetPort.number != 0 ? port.targetPort.number : port.port;
  for (const auto& container : pod.spec->containers)
    for (const auto& open : container.ports)
      if (open.name.view() == port.targetPort.text) return open.containerPort;
  return 0;
}

Plan planEndpoints(const Service& service, const Pods& pods, const std::string& endpoints,
                   const std::vector<PresentSlice>& slices) {
  Plan plan;
  if (service.meta.isDeleting() || service.type == "ExternalName") return plan;
  if (service.selector.empty()) {
    writeSlices(service, kMirrorer, mirrorsOf(endpoints), slices, plan);
    return plan;
  }
  write(service, kEndpoints, service.meta.name.str(), labelsOf(service),
        {{"subsets", subsets(service, pods)}}, endpoints, plan);
  writeSlices(service, kSlicer, slicesOf(service, pods), slices, plan);
  return plan;
}

}  // namespace mangrove::workloads
