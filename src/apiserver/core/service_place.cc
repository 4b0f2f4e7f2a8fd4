#include "apiserver/core/service_place.h"

#include <vector>

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "apiserver/core/resources.h"

namespace mangrove::apiserver {

namespace {

int64_t numberAt(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_int64() ? value->get_int64() : 0;
}

std::optional<json::Object> stored(const store::Store& store, const char* plural,
                                   const std::string& ns, const std::string& name) {
  auto found = store.get(Resources::storedName("", plural), ns, name);
  auto object = found ? json::parse(*found->json()) : Result<json::Value>(nullptr);
  if (!object || !object->is_object()) return std::nullopt;
  return std::move(object->get_object());
}

// What the service calls the port that is asked for; nullopt: it has no such port.
std::optional<std::string> portName(const json::Object& service, std::string_view wanted) {
  const json::Object* spec = findObject(service, "spec");
  const json::Array* ports = spec ? findArray(*spec, "ports") : nullptr;
  if (!ports) return std::nullopt;
  for (const json::Value& value : *ports) {
    if (!value.is_object()) continue;
    const json::Object& port = value.get_object();
    const std::string_view name = textAt(port, "name");
    const bool fits = wanted.empty()
                          ? ports->size() == 1
                          : name == wanted || std::to_string(numberAt(port, "port")) == wanted;
    if (fits) return std::string(name);
  }
  return std::nullopt;
}

void addPlaces(const json::Object& subset, const std::string& name, std::vector<std::string>& out) {
  const json::Array* addresses = findArray(subset, "addresses");
  const json::Array* ports = findArray(subset, "ports");
  if (!addresses || !ports) return;
  for (const json::Value& port : *ports) {
    if (!port.is_object() || textAt(port.get_object(), "name") != name) continue;
    for (const json::Value& address : *addresses)
      if (address.is_object())
        out.push_back(fmt::format("{}:{}", textAt(address.get_object(), "ip"),
                                  numberAt(port.get_object(), "port")));
  }
}

}  // namespace

std::optional<std::string> placeOfService(const store::Store& store, const std::string& ns,
                                          const std::string& name, std::string_view port,
                                          Rng& rng) {
  const auto service = stored(store, "services", ns, name);
  const auto called = service ? portName(*service, port) : std::nullopt;
  const auto endpoints = called ? stored(store, "endpoints", ns, name) : std::nullopt;
  const json::Array* subsets = endpoints ? findArray(*endpoints, "subsets") : nullptr;
  std::vector<std::string> places;
  for (const json::Value& subset : subsets ? *subsets : json::Array())
    if (subset.is_object()) addPlaces(subset.get_object(), *called, places);
  if (places.empty()) return std::nullopt;
  return places[rng.below(places.size())];
}

}  // namespace mangrove::apiserver
