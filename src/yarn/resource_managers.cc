#include "yarn/resource_managers.h"

#include <fmt/format.h>

#include "base/os/log.h"

namespace mangrove::yarn {
namespace {

const Logger log("yarn");

constexpr Duration kPatience = std::chrono::seconds(10);
constexpr int kConnections = 8;

net::HttpRequest get(std::string target) {
  net::HttpRequest out;
  out.target = std::move(target);
  out.headers.set("Accept", "application/json");
  return out;
}

}  // namespace

Result<std::unique_ptr<ResourceManagers>> ResourceManagers::make(
    net::Loop& loop, Mailbox& owner, const std::vector<std::string>& addresses, std::string user) {
  if (addresses.empty())
    return invalid("no ResourceManager: want http://HOST:8088, or two of them");
  std::unique_ptr<ResourceManagers> out(new ResourceManagers(owner, std::move(user)));
  for (const std::string& address : addresses) {
    auto url = net::Url::parse(address);
    if (!url) return url.error().in("ResourceManager '{}'", address);
    net::ClientOptions options;
    options.base = *url;
    options.maxConnections = kConnections;
    options.connectTimeout = kPatience;
    options.maxBody = kMiB * 256;
    auto client = net::HttpClient::create(loop, std::move(options));
    if (!client) return client.error().in("ResourceManager '{}'", address);
    out->peers_.push_back({address, std::move(*client)});
  }
  return out;
}

ResourceManagers::~ResourceManagers() {
  life_.end();
}

std::string ResourceManagers::active() const {
  return active_ ? peers_[*active_].address : "";
}

// The body of a good answer; whatever else comes is an error that names the address.
void ResourceManagers::ask(const Peer& peer, net::HttpRequest request, Answer<std::string> answer) {
  const std::string what = fmt::format("{} {}", request.method, peer.address + request.target);
  net::SendOptions options;
  options.timeout = kPatience;
  // An update says what shall be, so twice is the same as once.
  options.replay = net::Replay::kAlways;
  auto heard = life_.guard([answer = std::move(answer), what](Result<net::HttpResponse>& reply) {
    if (!reply) return answer(reply.error().in("{}", what));
    if (reply->status != 200)
      return answer(fail(Code::kUnavailable, "{}: {} {}", what, reply->status,
                         std::string_view(reply->body).substr(0, 200)));
    answer(std::move(reply->body));
  });
  peer.client->send(
      std::move(request), options,
      [&owner = owner_, heard = std::move(heard)](Result<net::HttpResponse> reply) mutable {
        owner.post(
            [reply = std::move(reply), heard = std::move(heard)]() mutable { heard(reply); });
      });
}

// One after the other; a pair has two.
void ResourceManagers::findActive(size_t from, std::string soFar, Answer<void> answer) {
  if (from == peers_.size())
    return answer(fail(Code::kUnavailable, "no ResourceManager is active: {}", soFar));
  ask(peers_[from], get("/ws/v1/cluster/info"),
      [this, from, soFar = std::move(soFar), answer = std::move(answer)](Result<std::string> body) {
        const auto state = body ? parseState(*body) : pass(body.error());
        if (state && *state == "ACTIVE") {
          active_ = from;
          log.info("ResourceManager {} is active", peers_[from].address);
          return answer({});
        }
        findActive(
            from + 1,
            fmt::format("{}{}{} is {}", soFar, soFar.empty() ? "" : "; ", peers_[from].address,
                        state ? *state : "away: " + state.error().text()),
            answer);
      });
}

void ResourceManagers::nodes(Answer<std::vector<RmNode>> answer) {
  if (active_) return askNodes(answer);
  findActive(0, "", [this, answer = std::move(answer)](Result<> found) {
    if (!found) return answer(pass(found.error()));
    askNodes(answer);
  });
}

// One that has stepped down answers with a redirection; the next look finds the other.
void ResourceManagers::askNodes(const Answer<std::vector<RmNode>>& answer) {
  ask(peers_[*active_], get("/ws/v1/cluster/nodes"), [this, answer](Result<std::string> body) {
    auto nodes = body ? parseNodes(*body) : pass(body.error());
    if (!nodes) active_.reset();
    answer(std::move(nodes));
  });
}

void ResourceManagers::update(const std::string& nodeId, const Capacity& capacity,
                              std::optional<Duration> overcommit, Answer<void> answer) {
  if (!active_) return answer(fail(Code::kUnavailable, "no ResourceManager is active"));
  net::HttpRequest request = get(resourcePath(nodeId, user_));
  request.method = "POST";
  request.headers.set("Content-Type", "application/json");
  request.body = resourceBody(capacity, overcommit);
  ask(peers_[*active_], std::move(request), [answer = std::move(answer)](Result<std::string> body) {
    answer(body ? Result<>() : pass(body.error()));
  });
}

void ResourceManagers::countsVcores(Answer<std::optional<bool>> answer) {
  if (!active_) return answer(fail(Code::kUnavailable, "no ResourceManager is active"));
  net::HttpRequest request;
  request.target = "/cluster/scheduler";
  ask(peers_[*active_], std::move(request), [answer = std::move(answer)](Result<std::string> body) {
    if (!body) return answer(pass(body.error()));
    answer(schedulesVcores(*body));
  });
}

}  // namespace mangrove::yarn
