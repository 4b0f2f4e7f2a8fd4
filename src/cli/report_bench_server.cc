#include "cli/report_bench_server.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "cli/manager_bench_requests.h"
#include "client/bench/api/objects.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::cli {
namespace {

namespace kind = client::kind;
using client::Request;

client::Ref metricOf(int64_t index, const char* subresource = "") {
  return {kind::kNodeMetric, "", client::benchNodeName(index), subresource};
}

// A whole object with the status of a report, as the reference's agent puts it.
Request wholeReport(int64_t index, const std::string& version, const std::string& body) {
  auto object = json::parse(createMetric(index).body);
  object->as_object()["metadata"] =
      json::Object{{"name", client::benchNodeName(index)}, {"resourceVersion", version}};
  if (auto report = json::parse(body)) object->as_object()["status"] = report->at("status");
  Request out;
  out.verb = client::Verb::kUpdate;
  out.ref = metricOf(index, "status");
  out.body = json::write(*object);
  return out;
}

}  // namespace

Result<std::unique_ptr<ReportServer>> ReportServer::open(const ReportBenchOptions& options,
                                                         const std::string& status) {
  std::unique_ptr<ReportServer> out(new ReportServer(options));
  if (auto ok = out->connect(); !ok) return pass(ok.error());
  if (auto ok = out->fill(status); !ok) return pass(ok.error());
  if (auto ok = out->follow(); !ok) return pass(ok.error());
  return out;
}

Result<> ReportServer::connect() {
  client::ClientConfig config;
  std::vector<int64_t> pids = options_.serverPids;
  if (options_.kubeconfig.empty()) {
    auto folder = TempFolder::below(options_.dir.empty() ? "/tmp" : options_.dir, "bench-reports");
    if (!folder) return pass(folder.error());
    folder_ = std::make_unique<TempFolder>(*std::move(folder));
    auto self = root_.readLink("proc/self/exe");
    if (!self) return self.error().in("own program");
    auto started = client::OwnServer::start(*self, folder_->path() + "/data");
    if (!started) return pass(started.error());
    own_ = *std::move(started);
    pids = {own_->pid()};
    auto own = own_->config();
    if (!own) return pass(own.error());
    config = *own;
  } else {
    auto named = client::loadClientConfig({.kubeconfig = options_.kubeconfig});
    if (!named) return pass(named.error());
    config = *named;
  }
  address_ = config.server;
  probe_ = std::make_unique<client::ProcessProbe>(root_, std::move(pids));
  auto connections = client::connectForLoad(config, options_.inFlight);
  if (!connections) return pass(connections.error());
  connections_ = *std::move(connections);
  return {};
}

client::LoadResult ReportServer::send(int64_t operations,
                                      std::function<Request(int64_t)> make) const {
  return client::runLoad(connections_->clients, *probe_, {operations, options_.inFlight, false},
                         std::move(make));
}

Result<> ReportServer::fill(const std::string& status) {
  made_ = options_.nodes;
  const auto created = send(made_, [](int64_t i) { return createMetric(i); });
  if (created.failed > 0)
    return fail(Code::kUnavailable, "make NodeMetrics: {}", created.firstFailure);
  const std::string body = fmt::format(R"({{"status":{}}})", status);
  const auto told = send(made_, [&](int64_t i) {
    return client::patchRequest(metricOf(i, "status"), client::PatchType::kMerge, body);
  });
  if (told.failed > 0) return fail(Code::kUnavailable, "first reports: {}", told.firstFailure);
  return {};
}

Result<> ReportServer::follow() {
  auto page = connections_->clients[0]->list(kind::kNodeMetric, "", {.limit = 1});
  if (!page) return pass(page.error());
  for (int64_t i = 0; i < options_.watchers; ++i) {
    client::WatchRequest request{.kind = kind::kNodeMetric, .ns = "", .query = {}};
    request.query.resourceVersion = page->resourceVersion;
    client::WatchHandler handler;
    handler.onEvents = [](std::string) { return true; };
    auto& client = connections_->clients[static_cast<size_t>(i) % connections_->clients.size()];
    watches_.push_back(client->watch(std::move(request), std::move(handler)));
  }
  return {};
}

// By the number of the node.
Result<std::vector<std::string>> ReportServer::versions() const {
  std::map<std::string, std::string, std::less<>> found;
  client::Query query;
  query.limit = 500;
  do {
    auto page = connections_->clients[0]->list(kind::kNodeMetric, "", query);
    if (!page) return pass(page.error());
    for (std::string_view item : page->items) {
      json::Doc doc;
      auto view = doc.parse(std::string(item));
      if (!view) return pass(view.error());
      const json::View meta = (*view)["metadata"];
      found[std::string(meta["name"].string().value_or(""))] =
          std::string(meta["resourceVersion"].string().value_or(""));
    }
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  std::vector<std::string> out;
  for (int64_t i = 0; i < made_; ++i) out.push_back(found[client::benchNodeName(i)]);
  return out;
}

Result<double> ReportServer::costOf(agent::Rhythm rhythm, const std::vector<std::string>& bodies) {
  if (bodies.empty()) return fail(Code::kInvalid, "no report of this kind was written");
  const int64_t writes = std::min(options_.writes, made_);
  const bool isWhole = rhythm == agent::Rhythm::kReference;
  Result<std::vector<std::string>> known = std::vector<std::string>();
  if (isWhole) known = versions();
  if (!known) return pass(known.error());
  const int64_t first = next_;
  next_ += writes;
  const auto sent = send(writes, [&](int64_t i) {
    const int64_t node = (first + i) % made_;
    const std::string& body = bodies[static_cast<size_t>(first + i) % bodies.size()];
    if (isWhole) return wholeReport(node, (*known)[static_cast<size_t>(node)], body);
    return client::patchRequest(metricOf(node, "status"), client::PatchType::kMerge, body);
  });
  if (sent.failed > 0) return fail(Code::kUnavailable, "reports: {}", sent.firstFailure);
  return sent.used.serverSeconds * 1000 / static_cast<double>(std::max<int64_t>(1, sent.counted));
}

ReportServer::~ReportServer() {
  watches_.clear();
  if (connections_ && !own_)
    (void)send(made_, [](int64_t i) { return client::deleteRequest(metricOf(i)); });
}

}  // namespace mangrove::cli
