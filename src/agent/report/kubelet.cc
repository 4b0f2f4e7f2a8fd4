#include "agent/report/kubelet.h"

#include "base/clock.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "json/view.h"

namespace mangrove::agent {
namespace {

// The reference's buckets: 1 ms times 4, seven of them.
std::vector<double> requestBounds() {
  std::vector<double> bounds;
  for (double b = 0.001; bounds.size() < 7; b *= 4) bounds.push_back(b);
  return bounds;
}

}  // namespace

Result<std::string> kubeletUrl(const api::Node& node, const KubeletOptions& options) {
  for (const api::NodeAddress& address : node.status.addresses) {
    if (address.type != std::string_view(options.addressType)) continue;
    std::string host(address.address.view());
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    if (options.plainHttp) return fmt::format("http://{}:{}", host, options.readOnlyPort);
    if (node.status.kubeletPort <= 0)
      return fail(Code::kUnavailable, "node {} does not say where its kubelet listens",
                  node.meta.name.view());
    return fmt::format("https://{}:{}", host, node.status.kubeletPort);
  }
  return fail(Code::kUnavailable, "node {} has no address of type {}", node.meta.name.view(),
              options.addressType);
}

Result<std::vector<PodPtr>> parsePodList(std::string_view body) {
  json::Doc doc;
  auto view = doc.parse(body);
  if (!view) return view.error().in("kubelet /pods");
  std::vector<PodPtr> pods;
  for (json::View item : (*view)["items"].elements()) {
    auto pod = api::decode<api::Pod>(item);
    if (!pod) return pod.error().in("kubelet /pods");
    pods.push_back(std::make_shared<const api::Pod>(*std::move(pod)));
  }
  return pods;
}

KubeletClient::KubeletClient(std::unique_ptr<net::HttpClient> http, KubeletOptions options,
                             Registry* metrics)
    : http_(std::move(http)), options_(std::move(options)) {
  if (metrics != nullptr)
    durations_ =
        &metrics->histograms("koordlet_kubelet_request_duration_seconds",
                             "Requests to the kubelet.", {"verb", "path", "code"}, requestBounds());
}

Result<std::unique_ptr<KubeletClient>> KubeletClient::make(net::Loop& loop, const std::string& url,
                                                           KubeletOptions options,
                                                           Registry* metrics) {
  auto base = net::Url::parse(url);
  if (!base) return pass(base.error());
  net::ClientOptions http;
  http.base = *base;
  http.tls.insecureSkipVerify = options.caFile.empty();
  if (!options.caFile.empty()) {
    auto authority = readFile(options.caFile);
    if (!authority) return authority.error().in("--kubelet-certificate-authority");
    http.tls.caPem = *std::move(authority);
  }
  http.maxConnections = 2;
  http.userAgent = "koordlet";
  auto client = net::HttpClient::create(loop, http);
  if (!client) return client.error().in("kubelet {}", url);
  return std::unique_ptr<KubeletClient>(
      new KubeletClient(*std::move(client), std::move(options), metrics));
}

void KubeletClient::get(Mailbox& owner, std::string path,
                        std::function<void(Result<std::string>)> done) {
  net::HttpRequest request;
  request.target = path;
  std::string token = options_.token;
  if (!options_.tokenFile.empty())
    if (auto text = readFile(options_.tokenFile)) token = trim(*text);
  if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
  const MonoTime begun = realClock().mono();
  http_->send(std::move(request), {.timeout = options_.timeout},
              [&owner, path, begun, durations = durations_,
               done = std::move(done)](Result<net::HttpResponse> answer) {
                if (durations != nullptr)
                  durations->with({"get", path, answer ? std::to_string(answer->status) : "0"})
                      .observe(std::chrono::duration<double>(realClock().mono() - begun).count());
                Result<std::string> body = fail(Code::kUnavailable, "");
                if (!answer)
                  body = answer.error().in("kubelet {}", path);
                else if (answer->status != 200)
                  body = fail(Code::kUnavailable, "kubelet {}: HTTP {}", path, answer->status);
                else
                  body = std::move(answer->body);
                owner.post([done, body = std::move(body)]() mutable { done(std::move(body)); });
              });
}

void KubeletClient::pods(Mailbox& owner, std::function<void(Result<std::vector<PodPtr>>)> done) {
  get(owner, "/pods/", [done = std::move(done)](const Result<std::string>& body) {
    done(body ? parsePodList(*body) : Result<std::vector<PodPtr>>(pass(body.error())));
  });
}

void KubeletClient::config(Mailbox& owner, std::function<void(Result<KubeletConfig>)> done) {
  get(owner, "/configz", [done = std::move(done)](const Result<std::string>& body) {
    done(body ? parseKubeletConfig(*body) : Result<KubeletConfig>(pass(body.error())));
  });
}

}  // namespace mangrove::agent
