#include "apiserver/admission/builtin_services.h"

#include <functional>

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/schema/formats.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr Duration kPromise = std::chrono::seconds(30);

std::string textOf(uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                     address & 255);
}

// nullopt: not an IPv4 address.
std::optional<uint32_t> addressOf(std::string_view text) {
  uint32_t address = 0;
  int parts = 0;
  for (std::string_view part : split(text, '.')) {
    auto number = parseInt<uint32_t>(part);
    if (!number || *number > 255 || ++parts > 4) return std::nullopt;
    address = (address << 8) | *number;
  }
  return parts == 4 ? std::optional(address) : std::nullopt;
}

bool isInNet(uint32_t address) {
  return address >= kServiceNet && address - kServiceNet < kServiceAddresses;
}

bool mayHaveNodePorts(const json::Object& spec) {
  const std::string_view type = textAt(spec, "type");
  return type == "NodePort" || type == "LoadBalancer";
}

bool wantsNodePorts(const json::Object& spec) {
  const json::Value* flag = spec.if_contains("allocateLoadBalancerNodePorts");
  const bool isSpared =
      textAt(spec, "type") == "LoadBalancer" && flag && flag->is_bool() && !flag->get_bool();
  return mayHaveNodePorts(spec) && !isSpared;
}

int64_t nodePortOf(const json::Object& port) {
  const json::Value* number = port.if_contains("nodePort");
  return number && number->is_int64() ? number->get_int64() : 0;
}

Answer refusal(const AdmissionRequest& request, const FieldPath& at, json::Value value,
               std::string_view why) {
  FieldErrors errors;
  errors.invalid(at, value, why);
  return answer::unprocessable(*request.resource->kind, request.name, errors);
}

std::string keyOf(std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}", ns, name);
}

bool isService(const KindInfo& kind) {
  return kind.group.empty() && kind.plural == "services";
}

}  // namespace

template <class Key>
bool ServiceAdmission::take(Holders<Key>& holders, const Key& key, const std::string& service) {
  Holder& holder = holders[key];
  const MonoTime now = context_.clock.mono();
  const bool isFree = holder.service.empty() || holder.service == service ||
                      (!holder.isStored && now - holder.promised > kPromise);
  if (isFree) holder = {service, now, holder.isStored && holder.service == service};
  return isFree;
}

std::optional<Answer> ServiceAdmission::giveAddress(AdmissionRequest& request, json::Object& spec) {
  const std::string service = keyOf(request.ns, request.name);
  const std::string given(textAt(spec, "clusterIP"));
  if (given == "None") return std::nullopt;
  if (given.empty()) {
    const uint32_t start = static_cast<uint32_t>(context_.rng.below(kServiceAddresses - 2));
    for (uint32_t i = 0; i < kServiceAddresses - 2; ++i) {
      const std::string text = textOf(kServiceNet + 1 + (start + i) % (kServiceAddresses - 2));
      if (text.ends_with(".0") || text.ends_with(".255") || text == "10.96.0.1") continue;
      if (!take(addresses_, text, service)) continue;
      spec["clusterIP"] = text;
      spec["clusterIPs"] = json::Array{json::Value(text)};
      return std::nullopt;
    }
    return answer::internal("no service address is left in 10.96.0.0/12");
  }
  const auto address = addressOf(given);
  if (!address && !isIp(given)) return std::nullopt;  // validation says what is wrong with it
  const FieldPath spot = FieldPath("spec");
  const FieldPath at = spot.child("clusterIPs");
  if (!address || !isInNet(*address))
    return refusal(request, at, json::Array{json::Value(given)},
                   fmt::format("failed to allocate IP {0}: the provided network does not match the "
                               "current range: {0} is not in 10.96.0.0/12",
                               given));
  if (take(addresses_, given, service)) return std::nullopt;
  return refusal(request, at, json::Array{json::Value(given)},
                 fmt::format("failed to allocate IP {}: provided IP is already allocated", given));
}

std::optional<Answer> ServiceAdmission::givePorts(AdmissionRequest& request, json::Object& spec) {
  json::Value* list = spec.if_contains("ports");
  if (!list || !list->is_array() || !mayHaveNodePorts(spec)) return std::nullopt;
  const bool gives = wantsNodePorts(spec);  // one that is named is checked all the same
  const std::string service = keyOf(request.ns, request.name);
  constexpr int kPorts = kLastNodePort - kFirstNodePort + 1;
  const FieldPath root = FieldPath("spec");
  const FieldPath ports = root.child("ports");
  size_t index = 0;
  for (json::Value& value : list->get_array()) {
    const FieldPath here = ports.at(index++);
    if (!value.is_object()) continue;
    const int64_t given = nodePortOf(value.get_object());
    const FieldPath at = here.child("nodePort");
    if (given && (given < kFirstNodePort || given > kLastNodePort))
      return refusal(request, at, given,
                     fmt::format("provided port is not in the valid range. The range of valid "
                                 "ports is {}-{}",
                                 kFirstNodePort, kLastNodePort));
    if (given && !take(ports_, given, service))
      return refusal(request, at, given, "provided port is already allocated");
    const auto start = static_cast<int64_t>(context_.rng.below(kPorts));
    for (int64_t i = 0; gives && !given && i < kPorts; ++i) {
      const int64_t port = kFirstNodePort + (start + i) % kPorts;
      if (auto holder = ports_.find(port);
          holder != ports_.end() && !holder->second.service.empty())
        continue;
      take(ports_, port, service);
      value.get_object()["nodePort"] = port;
      break;
    }
  }
  return std::nullopt;
}

void ServiceAdmission::mutate(AdmissionRequest& request, Done done) {
  const bool isWrite =
      request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  if (!isService(*request.resource->kind) || !isWrite || !request.subresource.empty() ||
      !request.object.is_object())
    return done(std::nullopt);
  json::Object& object = request.object.get_object();
  if (request.oldObject.is_object()) keepServiceAddresses(object, request.oldObject.get_object());
  json::Object& spec = objectAt(object, "spec");
  if (textAt(spec, "type") == "ExternalName") return done(std::nullopt);
  if (auto refusal = giveAddress(request, spec)) return done(std::move(refusal));
  done(givePorts(request, spec));
}

void ServiceAdmission::load() {
  auto page = context_.store.list({.resource = Resources::storedName("", "services")});
  if (!page) return;
  for (const auto& object : page->items) record(*object, true);
}

void ServiceAdmission::record(const store::Object& object, bool isThere) {
  auto value = json::parse(*object.json());
  const json::Object* spec =
      value && value->is_object() ? findObject(value->get_object(), "spec") : nullptr;
  if (!spec) return;
  const Holder holder{keyOf(object.ns(), object.name()), context_.clock.mono(), true};
  const std::string address(textAt(*spec, "clusterIP"));
  auto note = [&](auto& holders, const auto& key) {
    if (isThere) {
      holders[key] = holder;
    } else if (auto at = holders.find(key);
               at != holders.end() && at->second.service == holder.service) {
      holders.erase(at);
    }
  };
  if (!address.empty() && address != "None") note(addresses_, address);
  const json::Array* ports = findArray(*spec, "ports");
  if (!ports) return;
  for (const json::Value& port : *ports)
    if (port.is_object() && nodePortOf(port.get_object()))
      note(ports_, nodePortOf(port.get_object()));
}

void ServiceAdmission::changed(const Resource& resource, const store::ObjectPtr& now,
                               const store::ObjectPtr& before) {
  if (!isService(*resource.kind)) return;
  if (before) record(*before, false);
  if (now) record(*now, true);
}

}  // namespace mangrove::apiserver
