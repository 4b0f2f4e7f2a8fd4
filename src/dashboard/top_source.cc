#include "dashboard/top_source.h"

#include "dashboard/quota_rows.h"
#include "dashboard/rows.h"
#include "net/client/http_client.h"

namespace mangrove::dashboard {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);

json::Array arrayIn(json::Value& value, std::string_view name) {
  json::Value* found = value.is_object() ? value.as_object().if_contains(name) : nullptr;
  return found && found->is_array() ? std::move(found->as_array()) : json::Array();
}

class BoardSource final : public TopSource {
 public:
  BoardSource(std::unique_ptr<net::HttpClient> client, Clock& clock, std::string token)
      : client_(std::move(client)), clock_(clock), token_(std::move(token)) {}

  Result<TopPicture> fetch(bool withQuotas) override {
    auto state = ask("/api/state");
    if (!state) return pass(state.error());
    auto pods = ask("/api/pods");
    if (!pods) return pass(pods.error());
    TopPicture picture;
    picture.at = clock_.wall();
    picture.nodes = arrayIn(*state, "nodes");
    picture.decisions = arrayIn(*state, "decisions");
    if (state->is_object())
      if (json::Value* tick = state->as_object().if_contains("tick")) picture.tick = *tick;
    if (pods->is_array()) picture.pods = std::move(pods->as_array());
    if (!withQuotas) return picture;
    auto quotas = ask("/api/quotas");
    if (!quotas) return pass(quotas.error());
    picture.quotas = arrayIn(*quotas, "quotas");
    picture.loans = arrayIn(*quotas, "loans");
    return picture;
  }

 private:
  Result<json::Value> ask(std::string target) {
    net::HttpRequest request;
    request.target = std::move(target);
    if (!token_.empty()) request.headers.set("Authorization", "Bearer " + token_);
    auto answer = client_->call(request, {.timeout = kPatience});
    if (!answer) return pass(answer.error());
    if (answer->status == 401)
      return fail(Code::kUnauthorized,
                  "the dashboard wants a token: --token-file, the file that the server's "
                  "--dashboard-token-file names");
    if (answer->status != 200)
      return fail(Code::kUnavailable, "{}: the server answered {}", request.target, answer->status);
    return json::parse(answer->body);
  }

  std::unique_ptr<net::HttpClient> client_;
  Clock& clock_;
  const std::string token_;
};

class ClusterSource final : public TopSource {
 public:
  ClusterSource(client::ApiClient& client, Clock& clock) : client_(client), clock_(clock) {}

  Result<TopPicture> fetch(bool withQuotas) override {
    ClusterView view;
    auto nodes = each<api::Node>(client::kind::kNode,
                                 [&](auto node) { view.nodes.push_back(std::move(node)); });
    if (!nodes) return pass(nodes.error());
    // A cluster without our objects still has nodes and pods to show.
    (void)each<api::NodeMetric>(client::kind::kNodeMetric, [&](auto metric) {
      view.metrics.emplace(metric->meta.name.view(), metric);
    });
    (void)each<api::Reservation>(client::kind::kReservation, [&](auto reservation) {
      view.reservations.push_back(std::move(reservation));
    });
    auto pods =
        each<api::Pod>(client::kind::kPod, [&](auto pod) { view.pods.push_back(std::move(pod)); });
    if (!pods) return pass(pods.error());
    TopPicture picture;
    picture.at = clock_.wall();
    picture.nodes = nodeRows(view);
    picture.pods = podRows(view, "", nullptr);
    if (!withQuotas) return picture;
    QuotaObjects quotas;
    auto all = each<api::ElasticQuota>(client::kind::kElasticQuota,
                                       [&](auto quota) { quotas.push_back(std::move(quota)); });
    if (!all) return pass(all.error());
    json::Value board = quotaBoard(view, quotas, picture.at);
    picture.quotas = arrayIn(board, "quotas");
    picture.loans = arrayIn(board, "loans");
    return picture;
  }

 private:
  template <class T, class Take>
  Result<> each(const client::Kind& kind, Take take) {
    client::Query query{.limit = 500};
    do {
      auto page = client_.list(kind, "", query);
      if (!page) return pass(page.error());
      for (auto item : page->items)
        if (auto object = api::decodeText<T>(item))
          take(std::make_shared<const T>(std::move(*object)));
      query.continueToken = page->continueToken;
    } while (!query.continueToken.empty());
    return {};
  }

  client::ApiClient& client_;
  Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<TopSource>> boardSource(net::Loop& loop, Clock& clock,
                                               const std::string& url, std::string token) {
  auto base = net::Url::parse(url);
  if (!base) return pass(base.error());
  auto client = net::HttpClient::create(loop, {.base = *base, .connectTimeout = kPatience});
  if (!client) return pass(client.error());
  return std::make_unique<BoardSource>(std::move(*client), clock, std::move(token));
}

std::unique_ptr<TopSource> clusterSource(client::ApiClient& client, Clock& clock) {
  return std::make_unique<ClusterSource>(client, clock);
}

}  // namespace mangrove::dashboard
