// How pods are reached: services, endpoints, ingresses, network policies.

#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "apiserver/output/columns.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr size_t kShownEndpoints = 3;

constexpr Column kServiceColumns[] = {
    kName,
    {"Type", "string", "How far the service can be seen"},
    {"Cluster-IP", "string", "Its address within the cluster"},
    {"External-IP", "string", "Its addresses from outside"},
    {"Port(s)", "string", "Ports, with those of the nodes behind a colon"},
    kAge,
    kSelector};

// Addresses or names a load balancer gave.
std::string balancerText(json::View status) {
  std::set<std::string> seen;
  std::vector<std::string_view> addresses;
  for (json::View ingress : status["loadBalancer"]["ingress"].elements()) {
    const std::string_view ip = textOf(ingress["ip"]);
    const std::string_view address = ip.empty() ? textOf(ingress["hostname"]) : ip;
    if (!address.empty() && seen.emplace(address).second) addresses.push_back(address);
  }
  return join(addresses, ",");
}

std::string externalText(const TableRow& row) {
  const std::string_view type = textOf(row.spec()["type"], "ClusterIP");
  if (type == "ExternalName") return std::string(textOf(row.spec()["externalName"]));
  std::vector<std::string_view> addresses;
  const std::string balancer = type == "LoadBalancer" ? balancerText(row.status()) : "";
  if (!balancer.empty()) addresses.push_back(balancer);
  for (json::View ip : row.spec()["externalIPs"].elements()) addresses.push_back(textOf(ip));
  if (!addresses.empty()) return join(addresses, ",");
  return type == "LoadBalancer" ? "<pending>" : std::string(kNone);
}

std::string portsText(json::View ports) {
  std::vector<std::string> texts;
  for (json::View port : ports.elements()) {
    const int64_t node = intOf(port["nodePort"]);
    texts.push_back(fmt::format("{}{}/{}", intOf(port["port"]),
                                node > 0 ? fmt::format(":{}", node) : "",
                                textOf(port["protocol"], "TCP")));
  }
  return texts.empty() ? std::string(kNone) : join(texts, ",");
}

void serviceCells(const TableRow& row, Cells& out) {
  const std::string_view first = textOf(row.spec()["clusterIPs"].at(0));
  out.text(row.name());
  out.text(textOf(row.spec()["type"], "ClusterIP"));
  out.textOr(first.empty() ? textOf(row.spec()["clusterIP"]) : first, kNone);
  out.text(externalText(row));
  out.text(portsText(row.spec()["ports"]));
  out.text(row.age());
  out.text(labelsText(row.spec()["selector"]));
}

constexpr Column kEndpointsColumns[] = {
    kName, {"Endpoints", "string", "Addresses that answer, with their ports"}, kAge};

std::string hostPort(std::string_view host, int64_t port) {
  const bool six = host.find(':') != std::string_view::npos;
  return six ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string endpointsText(json::View subsets) {
  std::vector<std::string> texts;
  for (json::View subset : subsets.elements()) {
    for (json::View address : subset["addresses"].elements()) {
      const std::string_view ip = textOf(address["ip"]);
      if (subset["ports"].size() == 0) texts.emplace_back(ip);
      for (json::View port : subset["ports"].elements())
        texts.push_back(hostPort(ip, intOf(port["port"])));
    }
  }
  return texts.empty() ? std::string(kNone) : firstFew(texts, kShownEndpoints, texts.size());
}

void endpointsCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(endpointsText(row.object["subsets"]));
  out.text(row.age());
}

constexpr Column kSliceColumns[] = {kName,
                                    {"AddressType", "string", "IPv4, IPv6 or FQDN"},
                                    {"Ports", "string", "Ports of all its endpoints"},
                                    {"Endpoints", "string", "Addresses in this slice"},
                                    kAge};

void sliceCells(const TableRow& row, Cells& out) {
  std::vector<std::string> ports, addresses;
  for (json::View port : row.object["ports"].elements())
    ports.push_back(port["port"].isNumber() ? scalarOf(port["port"]) : "*");
  for (json::View endpoint : row.object["endpoints"].elements())
    for (json::View address : endpoint["addresses"].elements())
      addresses.emplace_back(textOf(address));
  out.text(row.name());
  out.text(textOf(row.object["addressType"]));
  out.textOr(firstFew(ports, kShownEndpoints, ports.size()), kUnset);
  out.textOr(firstFew(addresses, kShownEndpoints, addresses.size()), kUnset);
  out.text(row.age());
}

constexpr Column kIngressColumns[] = {kName,
                                      {"Class", "string", "Who serves it"},
                                      {"Hosts", "string", "Names it answers to"},
                                      {"Address", "string", "Where it can be reached"},
                                      {"Ports", "string", "80, and 443 with TLS"},
                                      kAge};

void ingressCells(const TableRow& row, Cells& out) {
  std::vector<std::string> hosts;
  for (json::View rule : row.spec()["rules"].elements())
    if (const auto host = textOf(rule["host"]); !host.empty()) hosts.emplace_back(host);
  out.text(row.name());
  out.textOr(textOf(row.spec()["ingressClassName"]), kNone);
  out.textOr(firstFew(hosts, 3, hosts.size()), "*");
  out.text(balancerText(row.status()));
  out.text(row.spec()["tls"].size() > 0 ? "80, 443" : "80");
  out.text(row.age());
}

constexpr Column kIngressClassColumns[] = {kName,
                                           {"Controller", "string", "Who serves the class"},
                                           {"Parameters", "string", "Its further settings"},
                                           kAge};

void ingressClassCells(const TableRow& row, Cells& out) {
  const json::View parameters = row.spec()["parameters"];
  std::string text(textOf(parameters["kind"]));
  if (const auto group = textOf(parameters["apiGroup"]); !group.empty())
    text += "." + std::string(group);
  if (parameters.isObject()) text += "/" + std::string(textOf(parameters["name"]));
  out.text(row.name());
  out.text(textOf(row.spec()["controller"]));
  out.textOr(text, kNone);
  out.text(row.age());
}

constexpr Column kPolicyColumns[] = {
    kName, {"Pod-Selector", "string", "Labels of the pods it is about"}, kAge};

void networkPolicyCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(selectorText(row.spec()["podSelector"]));
  out.text(row.age());
}

constexpr TableKind kTables[] = {
    {"", "Service", kServiceColumns, &serviceCells},
    {"", "Endpoints", kEndpointsColumns, &endpointsCells},
    {"discovery.k8s.io", "EndpointSlice", kSliceColumns, &sliceCells},
    {"networking.k8s.io", "Ingress", kIngressColumns, &ingressCells},
    {"networking.k8s.io", "IngressClass", kIngressClassColumns, &ingressClassCells},
    {"networking.k8s.io", "NetworkPolicy", kPolicyColumns, &networkPolicyCells},
};

}  // namespace

std::span<const TableKind> networkTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
