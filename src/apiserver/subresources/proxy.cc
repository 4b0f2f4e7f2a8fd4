#include "apiserver/subresources/proxy.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "apiserver/core/service_place.h"
#include "apiserver/subresources/admit.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "net/client/http_client.h"
#include "net/http/url.h"
#include "net/loopback.h"

namespace mangrove::apiserver {

namespace {

constexpr Duration kPatience = std::chrono::seconds(60);

std::string_view methodOf(Verb verb) {
  switch (verb) {
    case Verb::kCreate:
      return "POST";
    case Verb::kUpdate:
      return "PUT";
    case Verb::kPatch:
      return "PATCH";
    case Verb::kDelete:
    case Verb::kDeleteCollection:
      return "DELETE";
    default:
      return "GET";
  }
}

bool isForbidden(std::string_view place) {
  return net::isLoopback(place) || place.starts_with("169.254.") || place.starts_with("0.");
}

// Number of the pod's port of that name; "" when it has none.
std::string portOfPod(const json::Object& spec, std::string_view wanted) {
  const json::Array* containers = findArray(spec, "containers");
  for (const json::Value& container : containers ? *containers : json::Array()) {
    const json::Array* ports =
        container.is_object() ? findArray(container.get_object(), "ports") : nullptr;
    for (const json::Value& value : ports ? *ports : json::Array()) {
      const json::Object* port = value.if_object();
      const json::Value* number = port ? port->if_contains("containerPort") : nullptr;
      if (!number || !number->is_int64()) continue;
      if (wanted.empty() || textAt(*port, "name") == wanted)
        return std::to_string(number->get_int64());
    }
  }
  return wanted.empty() ? "80" : "";
}

Outcome<std::string> placeOfPod(const Context& context, const std::string& ns,
                                const ProxyName& name, const KindInfo& kind) {
  auto stored = context.store.get(Resources::storedName("", "pods"), ns, name.name);
  auto pod = stored ? json::parse(*stored->json()) : Result<json::Value>(nullptr);
  if (!pod || !pod->is_object()) return refuse(answer::notFound(kind, name.name));
  const json::Object* status = findObject(pod->get_object(), "status");
  const json::Object* spec = findObject(pod->get_object(), "spec");
  const std::string_view ip = status ? textAt(*status, "podIP") : "";
  if (ip.empty() || !spec)
    return refuse(answer::unavailable(fmt::format("pod {} has no address yet", name.name)));
  const bool isNumber = parseInt<uint16_t>(name.port).has_value();
  const std::string port = isNumber ? name.port : portOfPod(*spec, name.port);
  if (port.empty())
    return refuse(
        answer::badRequest(fmt::format("pod {} has no port named '{}'", name.name, name.port)));
  return fmt::format("{}:{}", ip, port);
}

Outcome<std::string> placeOf(Context& context, const Call& call, const ProxyName& name,
                             const KindInfo& kind) {
  if (kind.plural == "pods") return placeOfPod(context, call.info.ns, name, kind);
  if (!context.store.get(Resources::storedName("", "services"), call.info.ns, name.name))
    return refuse(answer::notFound(kind, name.name));
  auto place = placeOfService(context.store, call.info.ns, name.name, name.port, context.rng);
  if (place) return std::move(*place);
  return refuse(answer::unavailable(
      fmt::format("no endpoints available for service \"{}\"", call.info.name)));
}

// Lives until the answer has come; the pod's own certificate is nobody's business, as in Kubernetes.
struct Errand {
  std::unique_ptr<net::HttpClient> client;
  ResponderPtr to;
};

Answer answerOf(Result<net::HttpResponse> response) {
  if (!response)
    return answer::unavailable(
        fmt::format("error trying to reach service: {}", response.error().text()));
  Answer out;
  out.status = response->status;
  out.body = std::move(response->body);
  out.contentType = response->headers.get("Content-Type", "text/plain");
  out.location = response->headers.get("Location");
  return out;
}

void forward(Context& context, net::Loop& io, const Call& call, const std::string& base,
             ResponderPtr to) {
  net::ClientOptions options;
  auto url = net::Url::parse(base);
  if (!url) return to->answer(answer::badRequest(url.error().text()));
  options.base = std::move(*url);
  options.tls.insecureSkipVerify = true;
  options.userAgent = call.userAgent;
  auto client = net::HttpClient::create(io, std::move(options));
  if (!client) return to->answer(answer::internal(client.error().text()));
  auto errand = std::make_shared<Errand>(Errand{std::move(*client), std::move(to)});
  net::HttpRequest request;
  request.method = methodOf(call.info.verb);
  request.target = proxyTarget(call.info);
  if (!call.contentType.empty()) request.headers.set("Content-Type", call.contentType);
  if (!call.accept.empty()) request.headers.set("Accept", call.accept);
  request.body = call.body;
  errand->client->send(std::move(request), {.timeout = kPatience, .replay = net::Replay::kNever},
                       [errand, &owner = context.owner](Result<net::HttpResponse> response) {
                         owner.post([errand, answer = answerOf(std::move(response))]() mutable {
                           errand->to->answer(std::move(answer));
                           errand->client.reset();
                         });
                       });
}

}  // namespace

std::optional<ProxyName> readProxyName(std::string_view text) {
  std::vector<std::string> parts;
  for (auto part : split(text, ':')) parts.emplace_back(part);
  if (parts.size() == 1) return ProxyName{"http", parts[0], ""};
  if (parts.size() == 2) return ProxyName{"http", parts[0], parts[1]};
  if (parts.size() != 3) return std::nullopt;
  if (parts[0] != "http" && parts[0] != "https" && !parts[0].empty()) return std::nullopt;
  return ProxyName{parts[0].empty() ? "http" : parts[0], parts[1], parts[2]};
}

std::string proxyTarget(const RequestInfo& info) {
  std::string path;
  const size_t slash = info.subresource.find('/');
  if (slash != std::string::npos)
    for (auto part : split(std::string_view(info.subresource).substr(slash + 1), '/'))
      path += "/" + percentEncode(part);
  net::Query query;
  for (const auto& [name, value] : info.parameters) query.add(name, value);
  return query.appendTo(path.empty() ? "/" : path);
}

void serveProxies(Server& server, Context& context, net::Loop& io) {
  for (const char* plural : {"pods", "services"})
    server.onSubresource(
        "", plural, "proxy",
        [&context, &io](const Call& call, ResourcePtr resource, ResponderPtr to) {
          const auto name = readProxyName(call.info.name);
          if (!name)
            return to->answer(answer::badRequest(fmt::format(
                "'{}': want NAME, NAME:PORT, http:NAME:PORT or https:NAME:PORT", call.info.name)));
          auto place = placeOf(context, call, *name, *resource->kind);
          if (!place) return to->answer(place.error());
          if (isForbidden(*place))
            return to->answer(answer::forbidden(fmt::format("address {} is not allowed", *place)));
          json::Object options{{"apiVersion", "v1"},
                               {"kind", fmt::format("{}ProxyOptions", resource->kind->kind)},
                               {"path", proxyTarget(call.info)}};
          admitConnect(
              context, call, resource, std::move(options), std::move(to),
              [&context, &io, call, base = fmt::format("{}://{}", name->scheme, *place)](
                  ResponderPtr back) { forward(context, io, call, base, std::move(back)); });
        });
}

}  // namespace mangrove::apiserver
