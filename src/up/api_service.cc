#include "up/api_service.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/os/log.h"

namespace mangrove::up {

namespace {

const Logger logger("up");
constexpr const char* kName = "kubernetes";
constexpr const char* kNamespace = "default";
constexpr const char* kPortName = "https";
constexpr int kPort = 443;
constexpr client::Kind kEndpoints{"", "v1", "Endpoints", "endpoints", true, false};
constexpr client::Kind kSlice{"discovery.k8s.io", "v1", "EndpointSlice",
                              "endpointslices",   true, false};

json::Object head(std::string_view apiVersion, std::string_view kind, json::Object labels) {
  return {
      {"apiVersion", apiVersion},
      {"kind", kind},
      {"metadata",
       json::Object{{"name", kName}, {"namespace", kNamespace}, {"labels", std::move(labels)}}}};
}

json::Object targetPort(const ApiPlace& place) {
  return {{"name", kPortName}, {"protocol", "TCP"}, {"port", place.port}};
}

// Asks for the service's address, then writes the three objects one after the other.
struct Publication : std::enable_shared_from_this<Publication> {
  Publication(client::ApiClient& c, Mailbox& o, ApiPlace p, UniqueFn<void(std::string)> d)
      : client(c), owner(o), place(std::move(p)), done(std::move(d)) {}

  void begin() {
    client::Request request;
    request.ref = {client::kind::kService, kNamespace, kName};
    client.submit(owner, std::move(request), [self = shared_from_this()](auto reply) {
      if (reply) self->place.clusterIp = addressIn(reply->body);
      self->writes = {{client::kind::kService, apiService(self->place)},
                      {kEndpoints, apiEndpoints(self->place)},
                      {kSlice, apiSlice(self->place)}};
      self->next();
    });
  }

  void next() {
    if (at == writes.size()) return done(place.clusterIp);
    const auto& [kind, body] = writes[at++];
    client::Request request;
    request.verb = client::Verb::kPatch;
    request.patchType = client::PatchType::kApply;
    request.ref = {kind, kNamespace, kName};
    request.query.fieldManager = "mangrove-up";
    request.query.force = true;
    request.body = json::write(body);
    client.submit(owner, std::move(request), [self = shared_from_this()](auto reply) {
      if (!reply) {
        logger.warn("pods will not find the API server by its service: {}", reply.error().text());
        return self->done("");
      }
      if (self->at == 1) self->place.clusterIp = addressIn(reply->body);
      self->next();
    });
  }

  static std::string addressIn(const std::string& body) {
    auto service = json::parse(body);
    const json::Value* spec =
        service && service->is_object() ? service->get_object().if_contains("spec") : nullptr;
    const json::Value* ip =
        spec && spec->is_object() ? spec->get_object().if_contains("clusterIP") : nullptr;
    return ip && ip->is_string() ? std::string(std::string_view(ip->get_string())) : "";
  }

  client::ApiClient& client;
  Mailbox& owner;
  ApiPlace place;
  UniqueFn<void(std::string)> done;
  std::vector<std::pair<client::Kind, json::Object>> writes;
  size_t at = 0;
};

}  // namespace

json::Object apiService(const ApiPlace& place) {
  json::Object out = head("v1", "Service", {{"component", "apiserver"}, {"provider", kName}});
  json::Object spec{{"type", "ClusterIP"},
                    {"sessionAffinity", "None"},
                    {"ports", json::Array{json::Object{{"name", kPortName},
                                                       {"protocol", "TCP"},
                                                       {"port", kPort},
                                                       {"targetPort", place.port}}}}};
  if (!place.clusterIp.empty()) spec["clusterIP"] = place.clusterIp;
  out["spec"] = std::move(spec);
  return out;
}

json::Object apiEndpoints(const ApiPlace& place) {
  json::Object out = head("v1", "Endpoints", {{"endpointslice.kubernetes.io/skip-mirror", "true"}});
  out["subsets"] =
      json::Array{json::Object{{"addresses", json::Array{json::Object{{"ip", place.address}}}},
                               {"ports", json::Array{targetPort(place)}}}};
  return out;
}

json::Object apiSlice(const ApiPlace& place) {
  json::Object out =
      head("discovery.k8s.io/v1", "EndpointSlice", {{"kubernetes.io/service-name", kName}});
  out["addressType"] = "IPv4";
  out["endpoints"] = json::Array{json::Object{{"addresses", json::Array{place.address}},
                                              {"conditions", json::Object{{"ready", true}}}}};
  out["ports"] = json::Array{targetPort(place)};
  return out;
}

void publishApi(client::ApiClient& client, Mailbox& owner, ApiPlace place,
                UniqueFn<void(std::string)> done) {
  std::make_shared<Publication>(client, owner, std::move(place), std::move(done))->begin();
}

}  // namespace mangrove::up
