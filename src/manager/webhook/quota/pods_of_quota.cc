#include "manager/webhook/quota/pods_of_quota.h"

#include <memory>
#include <utility>

#include "api/wire/decode.h"
#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

constexpr int64_t kNamed = 2;                            // pods named in the message
constexpr Duration kPatience = std::chrono::seconds(8);  // below the API server's own of 10

// All lists of one question; answers when the last is in, or with the first failure.
struct Gathering {
  size_t open = 0;
  Result<PodsOfQuota> sum = PodsOfQuota{};
  UniqueFn<void(Result<PodsOfQuota>)> done;

  void add(const Result<PodsOfQuota>& part) {
    if (sum && !part) sum = pass(part.error());
    if (sum && part) {
      sum->count += part->count;
      for (const std::string& name : part->names)
        if (sum->names.size() < static_cast<size_t>(kNamed)) sum->names.push_back(name);
    }
    if (--open == 0) done(std::move(sum));
  }
};

client::Request podList(const std::string& ns, const std::string& labelSelector) {
  client::Request request;
  request.verb = client::Verb::kList;
  request.ref = {client::kind::kPod, ns, ""};
  request.query.labelSelector = labelSelector;
  request.query.limit = kNamed;
  request.timeout = kPatience;
  return request;
}

}  // namespace

Result<PodsOfQuota> podsInPage(std::string_view listBody) {
  api::TextDoc doc;
  auto root = doc.parse(listBody);
  if (!root) return root.error().in("list of pods");
  PodsOfQuota out;
  for (json::View pod : (*root)["items"].elements()) {
    const json::View metadata = pod["metadata"];
    out.names.push_back(client::keyOf(metadata["namespace"].string().value_or(""),
                                      metadata["name"].string().value_or("")));
  }
  const json::View rest = (*root)["metadata"]["remainingItemCount"];
  const bool more = !(*root)["metadata"]["continue"].string().value_or("").empty();
  out.count = out.names.size() + static_cast<size_t>(rest.integer().value_or(more ? 1 : 0));
  return out;
}

void askPodsOfQuota(client::ApiClient& client, Mailbox& owner, const std::string& quota,
                    const std::vector<std::string>& namespaces,
                    UniqueFn<void(Result<PodsOfQuota>)> done) {
  std::vector<client::Request> questions;
  questions.push_back(podList("", std::string(api::label::kQuotaName) + "=" + quota));
  for (const std::string& ns : namespaces) questions.push_back(podList(ns, ""));
  auto gathering = std::make_shared<Gathering>();
  gathering->open = questions.size();
  gathering->done = std::move(done);
  for (client::Request& question : questions)
    client.submit(owner, std::move(question), [gathering](Result<client::Reply> reply) {
      gathering->add(reply ? podsInPage(reply->body) : pass(reply.error()));
    });
}

}  // namespace mangrove::manager
