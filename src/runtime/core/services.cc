#include "runtime/core/services.h"

#include <cctype>

#include <fmt/core.h>

namespace mangrove::runtime {

using api::field;
using api::Fields;
using api::In;

static bool read(const In& in, ServicePort& out) {
  static constexpr Fields fields{
      field<&ServicePort::name>("name"), field<&ServicePort::protocol>("protocol"),
      field<&ServicePort::port>("port"), field<&ServicePort::nodePort>("nodePort")};
  return fields.read(in, out);
}

static bool readClientIp(const In& in, ServiceView& out) {
  static constexpr Fields fields{field<&ServiceView::affinitySeconds>("timeoutSeconds")};
  return fields.read(in, out);
}

static bool readAffinity(const In& in, ServiceView& out) {
  static constexpr Fields fields{api::via<readClientIp>("clientIP")};
  return fields.read(in, out);
}

static bool readSpec(const In& in, ServiceView& out) {
  static constexpr Fields fields{field<&ServiceView::type>("type"),
                                 field<&ServiceView::loadBalancerClass>("loadBalancerClass"),
                                 field<&ServiceView::clusterIp>("clusterIP"),
                                 field<&ServiceView::externalName>("externalName"),
                                 field<&ServiceView::ports>("ports"),
                                 field<&ServiceView::sessionAffinity>("sessionAffinity"),
                                 api::via<readAffinity>("sessionAffinityConfig")};
  return fields.read(in, out);
}

static bool read(const In& in, ServiceIngress& out) {
  static constexpr Fields fields{field<&ServiceIngress::ip>("ip")};
  return fields.read(in, out);
}

static bool readBalancer(const In& in, ServiceView& out) {
  static constexpr Fields fields{field<&ServiceView::ingress>("ingress")};
  return fields.read(in, out);
}

static bool readStatus(const In& in, ServiceView& out) {
  static constexpr Fields fields{api::via<readBalancer>("loadBalancer")};
  return fields.read(in, out);
}

bool read(const In& in, ServiceView& out) {
  static constexpr Fields fields{field<&ServiceView::meta>("metadata"), api::via<readSpec>("spec"),
                                 api::via<readStatus>("status")};
  return fields.read(in, out);
}

static bool read(const In& in, EndpointsView::Port& out) {
  static constexpr Fields fields{field<&EndpointsView::Port::name>("name"),
                                 field<&EndpointsView::Port::port>("port")};
  return fields.read(in, out);
}

static bool read(const In& in, EndpointsView::Address& out) {
  static constexpr Fields fields{field<&EndpointsView::Address::ip>("ip"),
                                 field<&EndpointsView::Address::hostname>("hostname")};
  return fields.read(in, out);
}

static bool read(const In& in, EndpointsView::Subset& out) {
  static constexpr Fields fields{field<&EndpointsView::Subset::addresses>("addresses"),
                                 field<&EndpointsView::Subset::ports>("ports")};
  return fields.read(in, out);
}

bool read(const In& in, EndpointsView& out) {
  static constexpr Fields fields{field<&EndpointsView::meta>("metadata"),
                                 field<&EndpointsView::subsets>("subsets")};
  return fields.read(in, out);
}

static bool readSliceConditions(const In& in, SliceView::Endpoint& out) {
  static constexpr Fields fields{field<&SliceView::Endpoint::ready>("ready")};
  return fields.read(in, out);
}

static bool read(const In& in, SliceView::Endpoint& out) {
  static constexpr Fields fields{field<&SliceView::Endpoint::addresses>("addresses"),
                                 field<&SliceView::Endpoint::hostname>("hostname"),
                                 api::via<readSliceConditions>("conditions")};
  return fields.read(in, out);
}

bool read(const In& in, SliceView& out) {
  static constexpr Fields fields{
      field<&SliceView::meta>("metadata"), field<&SliceView::addressType>("addressType"),
      field<&SliceView::endpoints>("endpoints"), field<&SliceView::ports>("ports")};
  return fields.read(in, out);
}

std::string serviceOf(const SliceView& slice) {
  const auto name = slice.meta.labels.get("kubernetes.io/service-name");
  return name ? fmt::format("{}/{}", slice.meta.ns.view(), *name) : "";
}

EndpointsView joined(const std::vector<std::shared_ptr<const SliceView>>& slices) {
  EndpointsView out;
  for (const auto& slice : slices) {
    if (slice->addressType != "IPv4") continue;
    EndpointsView::Subset subset{{}, slice->ports};
    for (const auto& one : slice->endpoints)
      for (const auto& address : one.addresses)
        if (one.ready) subset.addresses.push_back({address, one.hostname});
    out.subsets.push_back(std::move(subset));
  }
  return out;
}

std::vector<Backend> backendsOf(const EndpointsView& endpoints, const ServicePort& port) {
  std::vector<Backend> out;
  for (const auto& subset : endpoints.subsets)
    for (const auto& one : subset.ports) {
      if (one.name != port.name || one.port <= 0 || one.port > 65535) continue;
      for (const auto& address : subset.addresses)
        out.push_back({address.ip, static_cast<uint16_t>(one.port)});
    }
  return out;
}

namespace {

// "my-web" → "MY_WEB".
std::string variableName(std::string_view name) {
  std::string out;
  for (char c : name)
    out += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

void addPort(const std::string& prefix, const ServiceView& service, const ServicePort& port,
             Environment& env) {
  std::string protocol = port.protocol;
  for (char& c : protocol) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string url = fmt::format("{}://{}:{}", protocol, service.clusterIp, port.port);
  const std::string base = fmt::format("{}_PORT_{}_{}", prefix, port.port, port.protocol);
  env[base] = url;
  env[base + "_PROTO"] = protocol;
  env[base + "_PORT"] = std::to_string(port.port);
  env[base + "_ADDR"] = service.clusterIp;
  if (!port.name.empty())
    env[prefix + "_SERVICE_PORT_" + variableName(port.name)] = std::to_string(port.port);
  env.emplace(prefix + "_PORT", url);
}

}  // namespace

void addServiceVariables(const ServiceView& service, Environment& env) {
  if (!service.hasAddress() || service.ports.empty()) return;
  const std::string prefix = variableName(service.meta.name.view());
  env[prefix + "_SERVICE_HOST"] = service.clusterIp;
  env[prefix + "_SERVICE_PORT"] = std::to_string(service.ports.front().port);
  for (const auto& port : service.ports) addPort(prefix, service, port, env);
}

}  // namespace mangrove::runtime
