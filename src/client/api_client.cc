#include "client/api_client.h"

#include <future>

#include "client/informer/json_slices.h"
#include "json/print.h"
#include "json/value.h"

namespace mangrove::client {

const char* contentTypeOf(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kStrategic:
      return "application/strategic-merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

std::string describe(const Request& request) {
  if (!request.path.empty()) return fmt::format("{} {}", verbName(request.verb), request.path);
  const Ref& ref = request.ref;
  std::string name = ref.name.empty() ? ref.ns : ref.key();
  std::string sub = ref.subresource.empty() ? "" : "/" + ref.subresource;
  return fmt::format("{} {}{}{}{}", verbName(request.verb), ref.kind.plural,
                     name.empty() ? "" : " ", name, sub);
}

namespace {

// Looks for metadata.resourceVersion of an update and preconditions.uid of a delete: either makes
// the server refuse a second execution.
bool bodyNames(const std::string& body, std::string_view parent, std::string_view member) {
  auto value = json::parse(body);
  if (!value || !value->is_object()) return false;
  const json::Value* outer = value->as_object().if_contains(parent);
  if (outer == nullptr || !outer->is_object()) return false;
  const json::Value* inner = outer->as_object().if_contains(member);
  return inner != nullptr && inner->is_string() && !inner->as_string().empty();
}

}  // namespace

bool mayRepeat(const Request& request) {
  if (request.repeat != Repeat::kByVerb) return request.repeat == Repeat::kSafe;
  switch (request.verb) {
    case Verb::kGet:
    case Verb::kList:
      return true;
    case Verb::kPatch:
      return request.patchType != PatchType::kJson;
    case Verb::kUpdate:
      return bodyNames(request.body, "metadata", "resourceVersion");
    case Verb::kDelete:
      return bodyNames(request.body, "preconditions", "uid");
    default:
      return request.query.dryRun;
  }
}

namespace {

Request onPod(const api::ObjectMeta& pod, const char* subresource) {
  Request request;
  request.verb = Verb::kCreate;
  request.ref = {kind::kPod, pod.ns.str(), pod.name.str(), subresource};
  return request;
}

}  // namespace

// api::bindingBody as text, without building a tree: a scheduler writes thousands of them a second.
Request bindRequest(const api::ObjectMeta& pod, std::string_view node) {
  Request request = onPod(pod, "binding");
  std::string& out = request.body;
  out.reserve(256);
  out += R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":)";
  json::appendString(request.ref.name, out);
  out += R"(,"namespace":)";
  json::appendString(request.ref.ns, out);
  if (!pod.uid.empty()) {
    out += R"(,"uid":)";
    json::appendString(pod.uid.str(), out);
  }
  out += R"(},"target":{"apiVersion":"v1","kind":"Node","name":)";
  json::appendString(node, out);
  out += "}}";
  return request;
}

Request evictRequest(const api::ObjectMeta& pod, const DeleteOptions& options) {
  Request request = onPod(pod, "eviction");
  request.body = json::write(api::evictionBody(pod, options));
  return request;
}

Request deleteRequest(Ref ref, const DeleteOptions& options) {
  Request request;
  request.verb = Verb::kDelete;
  request.ref = std::move(ref);
  request.body = json::write(options.toJson());
  return request;
}

Request patchRequest(Ref ref, PatchType type, std::string body, Query query) {
  Request request;
  request.verb = Verb::kPatch;
  request.ref = std::move(ref);
  request.patchType = type;
  request.body = std::move(body);
  request.query = std::move(query);
  return request;
}

void ApiClient::submit(Mailbox& owner, Request request, Done done) {
  submit(std::move(request), [&owner, done = std::move(done)](Result<Reply> reply) mutable {
    owner.post(
        [done = std::move(done), reply = std::move(reply)]() mutable { done(std::move(reply)); });
  });
}

Result<Reply> ApiClient::call(Request request) {
  std::promise<Result<Reply>> promise;
  auto future = promise.get_future();
  submit(std::move(request), [&promise](Result<Reply> r) { promise.set_value(std::move(r)); });
  return future.get();
}

namespace {

Result<std::string> bodyOf(Result<Reply> reply) {
  if (!reply) return pass(reply.error());
  return std::move(reply->body);
}

Result<> nothingOf(Result<Reply> reply) {
  if (!reply) return pass(reply.error());
  return {};
}

}  // namespace

Result<std::string> ApiClient::get(Ref ref, Query query) {
  Request request;
  request.ref = std::move(ref);
  request.query = std::move(query);
  return bodyOf(call(std::move(request)));
}

Result<ListPage> ApiClient::list(Kind kind, std::string ns, Query query) {
  Request request;
  request.verb = Verb::kList;
  request.ref = {kind, std::move(ns), ""};
  request.query = std::move(query);
  std::string what = describe(request);
  auto reply = call(std::move(request));
  if (!reply) return pass(reply.error());
  ListPage page;
  page.body = std::make_shared<const std::string>(std::move(reply->body));
  auto slices = sliceList(*page.body);
  if (!slices) return slices.error().in("{} at {}", what, server());
  page.resourceVersion = std::move(slices->resourceVersion);
  page.continueToken = std::move(slices->continueToken);
  page.items = std::move(slices->items);
  return page;
}

Result<std::string> ApiClient::create(Kind kind, std::string ns, std::string body, Query query) {
  Request request;
  request.verb = Verb::kCreate;
  request.ref = {kind, std::move(ns), ""};
  request.body = std::move(body);
  request.query = std::move(query);
  return bodyOf(call(std::move(request)));
}

Result<std::string> ApiClient::update(Ref ref, std::string body, Query query) {
  Request request;
  request.verb = Verb::kUpdate;
  request.ref = std::move(ref);
  request.body = std::move(body);
  request.query = std::move(query);
  return bodyOf(call(std::move(request)));
}

Result<std::string> ApiClient::patch(Ref ref, PatchType type, std::string body, Query query) {
  return bodyOf(call(patchRequest(std::move(ref), type, std::move(body), std::move(query))));
}

Result<> ApiClient::remove(Ref ref, const DeleteOptions& options) {
  return nothingOf(call(deleteRequest(std::move(ref), options)));
}

Result<> ApiClient::bind(const api::ObjectMeta& pod, std::string_view node) {
  return nothingOf(call(bindRequest(pod, node)));
}

Result<> ApiClient::evict(const api::ObjectMeta& pod, const DeleteOptions& options) {
  return nothingOf(call(evictRequest(pod, options)));
}

}  // namespace mangrove::client
