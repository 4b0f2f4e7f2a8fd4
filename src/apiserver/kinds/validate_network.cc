// Services, endpoints, ingresses and network policies.
#include <cstring>
#include <set>

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include "apiserver/kinds/names.h"
#include "apiserver/kinds/object_meta.h"
#include "apiserver/kinds/validators.h"
#include "apiserver/schema/formats.h"

namespace mangrove::apiserver {
namespace {

void checkTargetPort(const Inspect& port) {
  const json::Value* target = port.find("targetPort");
  if (target != nullptr && target->is_string())
    port.check("targetPort", portNameTrouble(target->get_string()));
  else
    checkPort(port, "targetPort");
}

void checkServicePort(const Inspect& port, bool isOneOfMany, bool mayUseNodes) {
  std::string_view name = port.text("name");
  if (name.empty() && isOneOfMany) port.required("name");
  if (!name.empty()) port.check("name", labelTrouble(name));
  if (!port.has("port")) port.invalid("port", "must be between 1 and 65535, inclusive");
  checkPort(port, "port");
  checkTargetPort(port);
  port.inRange("nodePort", 0, 65535);
  if (!mayUseNodes && port.integer("nodePort").value_or(0) != 0)
    port.forbidden("nodePort", "may not be used when `type` is 'ClusterIP'");
}

void checkServicePorts(const Inspect& spec) {
  std::string_view type = spec.text("type");
  bool mayUseNodes = type == "NodePort" || type == "LoadBalancer";
  std::set<std::string> names, numbers;
  spec.each("ports", [&](const Inspect& port) {
    checkServicePort(port, spec.array("ports").size() > 1, mayUseNodes);
    std::string name(port.text("name"));
    if (!name.empty() && !names.insert(name).second) port.duplicate("name");
    std::string key = fmt::format("{}/{}", port.text("protocol"), port.integer("port").value_or(0));
    if (!numbers.insert(key).second)
      port.errors().duplicate(port.at(), json::Object{{"port", port.value("port")},
                                                      {"protocol", port.value("protocol")}});
  });
}

void checkClusterIp(const Inspect& spec) {
  std::string_view ip = spec.text("clusterIP");
  if (ip.empty() || ip == "None" || isIp(ip)) return;
  spec.invalid("clusterIP", "must be empty, 'None' or a valid IP address");
}

bool isExternal(std::string_view type) {
  return type == "ExternalName";
}

// Addresses that mean the machine of whoever connects: the forwarder of services would open its own
// guarded ports to everybody who may write endpoints.
std::string_view specialAddress(std::string_view text) {
  in6_addr six{};
  const std::string address(text);
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) {
    in_addr four{};
    if (::inet_pton(AF_INET, address.c_str(), &four) != 1) return "";
    std::memcpy(six.s6_addr + 12, &four, sizeof four);
    std::memset(six.s6_addr + 10, 0xff, 2);
  }
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    const unsigned char* four = six.s6_addr + 12;
    if (four[0] == 0) return "may not be unspecified (0.0.0.0)";
    if (four[0] == 127) return "may not be in the loopback range (127.0.0.0/8, ::1/128)";
    if (four[0] == 169 && four[1] == 254)
      return "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
    if (four[0] == 224 && four[1] == 0 && four[2] == 0)
      return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
    return "";
  }
  if (IN6_IS_ADDR_UNSPECIFIED(&six)) return "may not be unspecified (::)";
  if (IN6_IS_ADDR_LOOPBACK(&six)) return "may not be in the loopback range (127.0.0.0/8, ::1/128)";
  if (IN6_IS_ADDR_LINKLOCAL(&six))
    return "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
  if (IN6_IS_ADDR_MC_LINKLOCAL(&six))
    return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
  return "";
}

void checkAddress(const Inspect& address) {
  if (!isIp(address.text("ip"))) return address.invalid("ip", "must be a valid IP address");
  if (const auto why = specialAddress(address.text("ip")); !why.empty()) address.invalid("ip", why);
}

void checkExternalIps(const Inspect& spec) {
  spec.eachValue("externalIPs", [&](const json::Value& address, const FieldPath& at) {
    const std::string text(address.is_string() ? std::string_view(address.get_string()) : "");
    const std::string_view why = isIp(text) ? specialAddress(text) : "must be a valid IP address";
    if (!why.empty()) spec.errors().invalid(at, address, why);
  });
}

bool fitsAddressType(std::string_view type, std::string_view address) {
  if (type == "IPv4") return isIpv4(address);
  if (type == "IPv6") return isIpv6(address);
  return subdomainTrouble(address).empty();
}

void checkBackend(const Inspect& backend) {
  bool hasService = backend.has("service"), hasResource = backend.has("resource");
  if (hasService == hasResource)
    return backend.errors().invalid(backend.at(), backend.object(),
                                    "exactly one of service and resource must be set");
  Inspect service = backend.child("service");
  if (!hasService) return;
  service.wants("name");
  Inspect port = service.child("port");
  if (port.text("name").empty() && port.integer("number").value_or(0) == 0)
    backend.errors().required(backend.at(), "port name or number is required");
}

void checkIngressPath(const Inspect& path) {
  if (!path.wants("pathType", "pathType must be specified")) return;
  std::string_view type = path.text("pathType");
  path.oneOf("pathType", {"Exact", "ImplementationSpecific", "Prefix"});
  bool mustBeAbsolute = type == "Exact" || type == "Prefix" || !path.text("path").empty();
  if (mustBeAbsolute && !path.text("path").starts_with('/'))
    path.invalid("path", "must be an absolute path");
  Inspect backend = path.child("backend");
  checkBackend(backend);
}

}  // namespace

void validateService(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  std::string_view type = spec.text("type");
  if (isExternal(type)) {
    if (spec.wants("externalName"))
      spec.check("externalName", subdomainTrouble(spec.text("externalName")));
    if (!spec.text("clusterIP").empty())
      spec.forbidden("clusterIP", "may not be set when `type` is 'ExternalName'");
  } else if (spec.text("clusterIP") != "None") {
    spec.wantsSome("ports");
  }
  if (type == "LoadBalancer" && spec.text("clusterIP") == "None")
    spec.invalid("clusterIP", "may not be set to 'None' for LoadBalancer services");
  checkServicePorts(spec);
  checkClusterIp(spec);
  checkExternalIps(spec);
  validateLabels(spec.map("selector"), spec.at().child("selector"), errors);
}

void validateServiceUpdate(const json::Object& now, const json::Object& old, FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  const json::Object& before = objectIn(old, "spec");
  bool mayChange = isExternal(spec.text("type")) || isExternal(textIn(before, "type")) ||
                   textIn(before, "clusterIP").empty() || spec.text("clusterIP").empty();
  if (!mayChange) spec.immutable("clusterIP", before);
}

void validateIngressClass(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  const std::string_view controller = spec.text("controller");
  const size_t slash = controller.find('/');
  const bool isPath = slash != std::string_view::npos && slash + 1 < controller.size() &&
                      subdomainTrouble(controller.substr(0, slash)).empty();
  if (!isPath)
    spec.invalid("controller", "must be a domain-prefixed path (such as \"acme.io/foo\")");
}

void validateIngressClassUpdate(const json::Object& now, const json::Object& old,
                                FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  spec.immutable("controller", objectIn(old, "spec"));
}

// The name is the address, in the one way to write it.
void validateIpAddress(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect meta = root.child("metadata");
  if (!isIp(meta.text("name")))
    meta.invalid("name", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  Inspect spec = root.child("spec");
  if (!spec.has("parentRef")) return spec.required("parentRef");
  Inspect parent = spec.child("parentRef");
  parent.wants("resource");
  parent.wants("name");
}

void validateIpAddressUpdate(const json::Object& now, const json::Object& old,
                             FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  spec.immutable("parentRef", objectIn(old, "spec"));
}

void validateServiceCidr(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  if (!spec.wantsSome("cidrs")) return;
  if (spec.array("cidrs").size() > 2) spec.invalid("cidrs", "may only hold up to 2 values");
  spec.eachValue("cidrs", [&](const json::Value& one, const FieldPath& at) {
    if (!one.is_string() || !isCidr(one.get_string()))
      errors.invalid(at, one, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  });
}

void validateServiceCidrUpdate(const json::Object& now, const json::Object& old,
                               FieldErrors& errors) {
  Inspect root(now, errors);
  Inspect spec = root.child("spec");
  spec.immutable("cidrs", objectIn(old, "spec"));
}

void validateEndpoints(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  root.each("subsets", [](const Inspect& subset) {
    if (subset.array("addresses").empty() && subset.array("notReadyAddresses").empty())
      subset.errors().required(subset.at(), "must specify `addresses` or `notReadyAddresses`");
    subset.each("addresses", checkAddress);
    subset.each("notReadyAddresses", checkAddress);
    subset.each("ports", [](const Inspect& port) {
      if (!port.has("port")) port.required("port");
      checkPort(port, "port");
    });
  });
}

void validateEndpointSlice(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  if (!root.wants("addressType")) return;
  root.oneOf("addressType", {"FQDN", "IPv4", "IPv6"});
  std::string_view type = root.text("addressType");
  root.each("endpoints", [&](const Inspect& endpoint) {
    if (!endpoint.wantsSome("addresses", "must contain at least 1 address")) return;
    endpoint.eachValue("addresses", [&](const json::Value& address, const FieldPath& at) {
      if (!address.is_string() || !fitsAddressType(type, address.get_string()))
        errors.invalid(at, address, fmt::format("must be of address type {}", type));
      else if (const auto why = specialAddress(address.get_string()); !why.empty())
        errors.invalid(at, address, why);
    });
  });
}

void validateEndpointSliceUpdate(const json::Object& now, const json::Object& old,
                                 FieldErrors& errors) {
  Inspect root(now, errors);
  root.immutable("addressType", old);
}

void validateIngress(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  if (spec.array("rules").empty() && !spec.has("defaultBackend"))
    errors.invalid(spec.at(), spec.object(),
                   "either `defaultBackend` or `rules` must be specified");
  spec.each("rules", [](const Inspect& rule) {
    std::string_view host = rule.text("host");
    if (host.starts_with("*.")) host.remove_prefix(2);
    if (!host.empty()) rule.check("host", subdomainTrouble(host));
    Inspect http = rule.child("http");
    if (rule.has("http") && http.wantsSome("paths")) http.each("paths", checkIngressPath);
  });
  Inspect backend = spec.child("defaultBackend");
  if (spec.has("defaultBackend")) checkBackend(backend);
}

void validateNetworkPolicy(const json::Object& object, FieldErrors& errors) {
  Inspect root(object, errors);
  Inspect spec = root.child("spec");
  Inspect selector = spec.child("podSelector");
  checkSelector(selector);
  auto checkRule = [](const Inspect& rule) {
    rule.each("ports", [](const Inspect& port) {
      const json::Value* number = port.find("port");
      if (number != nullptr && number->is_string())
        port.check("port", portNameTrouble(number->get_string()));
      else
        checkPort(port, "port");
    });
  };
  spec.each("ingress", checkRule);
  spec.each("egress", checkRule);
}

}  // namespace mangrove::apiserver
