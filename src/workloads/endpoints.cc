#include "workloads/endpoints.h"

#include <algorithm>
#include <map>

#include "api/wire/write.h"
#include "workloads/pods.h"

namespace mangrove::workloads {
namespace {

using PodList = std::vector<const api::Pod*>;

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

// A slice has one list of ports: that of the first pod that serves, else of the first with an
// address.
PortNumbers sliceNumbers(const Service& service, const Pods& pods) {
  const api::Pod* chosen = nullptr;
  for (const auto& pod : pods) {
    if (!hasAddress(*pod) || (chosen && !isServing(service, *pod))) continue;
    chosen = pod.get();
    if (isServing(service, *pod)) break;
  }
  return chosen ? numbersOf(service, *chosen) : PortNumbers(service.ports.size(), 0);
}

json::Array sliceEndpoints(const Service& service, const Pods& pods, const PortNumbers& numbers) {
  json::Array out;
  for (const auto& pod : pods) {
    if (!hasAddress(*pod) || numbersOf(service, *pod) != numbers) continue;
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

// Creates the object, or patches the parts that differ.
void write(const Service& service, const api::Kind& kind, json::Object labels, json::Object content,
           const std::string& present, Plan& plan) {
  const std::string ns(service.meta.ns.view()), name = service.meta.name.str();
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
                   const std::string& slice) {
  Plan plan;
  if (service.selector.empty() || service.meta.isDeleting() || service.type == "ExternalName")
    return plan;
  write(service, kEndpoints, labelsOf(service), {{"subsets", subsets(service, pods)}}, endpoints,
        plan);
  json::Object labels = labelsOf(service);
  labels["kubernetes.io/service-name"] = service.meta.name.view();
  labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io";
  const PortNumbers numbers = sliceNumbers(service, pods);
  json::Object content{{"endpoints", sliceEndpoints(service, pods, numbers)},
                       {"ports", portsJson(service, numbers)}};
  if (slice.empty()) content["addressType"] = "IPv4";  // immutable
  write(service, kEndpointSlice, std::move(labels), std::move(content), slice, plan);
  return plan;
}

}  // namespace mangrove::workloads
