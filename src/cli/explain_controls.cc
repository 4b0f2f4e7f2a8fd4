#include "cli/explain_controls.h"

#include <fmt/format.h>

#include "net/http_client.h"

namespace mangrove::cli {
namespace {

constexpr int kAgentPort = 9316;
constexpr Duration kPatience = std::chrono::seconds(3);

}  // namespace

std::string agentAddress(const std::string& said, const api::Node& node) {
  if (!said.empty()) return said.find("://") == std::string::npos ? "http://" + said : said;
  for (const api::NodeAddress& one : node.status.addresses)
    if (one.type.view() == "InternalIP")
      return fmt::format("http://{}:{}", one.address.view(), kAgentPort);
  return fmt::format("http://127.0.0.1:{}", kAgentPort);
}

Result<json::Value> askAgent(net::Loop& loop, const std::string& address) {
  auto url = net::Url::parse(address);
  if (!url) return url.error().in("--agent '{}'", address);
  auto client = net::HttpClient::create(loop, {.base = *url, .connectTimeout = kPatience});
  if (!client) return pass(client.error());
  net::HttpRequest request;
  request.target = "/controls";
  auto answer = (*client)->call(std::move(request), {.timeout = kPatience});
  if (!answer) return answer.error().in("the agent at {}", address);
  if (answer->status != 200)
    return fail(Code::kUnavailable, "the agent at {} answers {}: it does not enforce", address,
                answer->status);
  return json::parse(answer->body);
}

}  // namespace mangrove::cli
