#include "client/testing/fake_api.h"

#include "base/check.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "json/json_patch.h"
#include "json/merge_patch.h"
#include "net/http/url.h"

namespace mangrove::client::testing {

using net::HttpRequest;
using net::HttpResponse;

// "/apis/g/v/namespaces/ns/plural/name/sub?query".
struct FakeApi::Place {
  std::string collection;  // "/api/v1/pods"
  std::string plural, ns, name, sub;
  net::Query query;
  std::string key() const { return keyOf(ns, name); }
  std::string parameter(std::string_view key) const {
    return std::string(query.find(key).value_or(""));
  }
  static std::optional<Place> parse(std::string_view target);
};

std::optional<FakeApi::Place> FakeApi::Place::parse(std::string_view target) {
  net::Target halves = net::Target::split(target);
  Place place;
  auto query = net::Query::parse(halves.query);
  if (!query) return std::nullopt;
  place.query = std::move(*query);
  std::vector<std::string> parts;
  for (std::string_view part : split(halves.path, '/'))
    if (!part.empty()) parts.push_back(percentDecode(part).value_or(""));
  size_t head = !parts.empty() && parts[0] == "apis" ? 3 : 2;
  if (parts.size() <= head) return std::nullopt;
  std::string base;
  for (size_t i = 0; i < head; ++i) base += "/" + parts[i];
  size_t at = head;
  if (parts[at] == "namespaces" && parts.size() >= at + 3) {
    place.ns = parts[at + 1];
    at += 2;
  }
  place.plural = parts[at];
  place.collection = base + "/" + parts[at];
  if (parts.size() > at + 1) place.name = parts[at + 1];
  if (parts.size() > at + 2) place.sub = parts[at + 2];
  return place;
}

namespace {

HttpResponse failure(int code, std::string_view reason, std::string_view message,
                     int retryAfter = 0) {
  HttpResponse out = HttpResponse::json(code, statusBody(code, reason, message, retryAfter));
  if (retryAfter > 0) out.headers.set("Retry-After", std::to_string(retryAfter));
  return out;
}

HttpResponse notFound(const std::string& plural, const std::string& name) {
  return failure(404, "NotFound", fmt::format("{} \"{}\" not found", plural, name));
}

std::string textAt(const json::Value& value, std::string_view outer, std::string_view inner) {
  const json::Value* at = value.is_object() ? value.as_object().if_contains(outer) : nullptr;
  if (at == nullptr || !at->is_object()) return "";
  const json::Value* leaf = at->as_object().if_contains(inner);
  return leaf != nullptr && leaf->is_string() ? std::string(leaf->as_string()) : "";
}

std::string collectionOf(const Kind& kind) {
  return kind.path("");
}

}  // namespace

FakeApi::FakeApi(net::Loop& loop, FakeApiOptions options)
    : options_(std::move(options)),
      rng_(options_.seed),
      token_(options_.token),
      self_(std::make_shared<Tether>()) {
  self_->api = this;
  net::ServerOptions listening;
  listening.tls = options_.tls;
  auto server = net::HttpServer::listen(
      loop, std::move(listening), [this](ExchangePtr exchange) { handle(std::move(exchange)); });
  CHECK(server.has_value(), "{}", server.error().text());
  server_ = std::move(*server);
  armBookmarks();
}

FakeApi::~FakeApi() {
  {
    std::lock_guard lock(self_->mutex);
    self_->api = nullptr;
  }
  server_.reset();
  decltype(streams_) streams;
  std::lock_guard lock(mutex_);
  streams.swap(streams_);
}

std::string FakeApi::url() const {
  return server_->url();
}

ClientConfig FakeApi::config() const {
  ClientConfig config;
  config.source = "fake API";
  config.server = server_->url();
  std::lock_guard lock(mutex_);
  config.token = token_;
  return config;
}

// ---- the truth ----

void FakeApi::put(const Kind& kind, const std::string& ns, const std::string& name,
                  std::string_view text) {
  json::Value object = *json::parse(text);
  json::Object& top = object.as_object();
  if (!top.contains("metadata")) top["metadata"] = json::Object();
  top["metadata"].as_object()["name"] = name;
  if (!ns.empty()) top["metadata"].as_object()["namespace"] = ns;
  top["kind"] = kind.kind;
  top["apiVersion"] = kind.apiVersion();
  std::lock_guard lock(mutex_);
  kinds_[collectionOf(kind)] = {kind.apiVersion(), std::string(kind.kind)};
  store(collectionOf(kind), keyOf(ns, name), std::move(object));
}

void FakeApi::store(const std::string& collection, std::string key, json::Value object) {
  broadcast(collection,
            collections_[collection].put(++version_, std::move(key), std::move(object)));
}

void FakeApi::remove(const Kind& kind, const std::string& ns, const std::string& name) {
  std::lock_guard lock(mutex_);
  auto event = collections_[collectionOf(kind)].remove(version_ + 1, keyOf(ns, name));
  if (!event) return;
  ++version_;
  broadcast(collectionOf(kind), *event);
}

std::map<std::string, std::string> FakeApi::truth(const Kind& kind) const {
  std::lock_guard lock(mutex_);
  std::map<std::string, std::string> out;
  auto at = collections_.find(collectionOf(kind));
  if (at == collections_.end()) return out;
  for (const auto& [key, body] : at->second.objects()) out.emplace(key, *body);
  return out;
}

uint64_t FakeApi::version() const {
  std::lock_guard lock(mutex_);
  return version_;
}

void FakeApi::broadcast(const std::string& collection, const StoredEvent& event) {
  auto& streams = streams_[collection];
  std::erase_if(streams, [](const auto& stream) { return stream->dead(); });
  for (auto& stream : streams) {
    if (!stream->ns().empty() && splitKey(event.key).ns != stream->ns()) continue;
    stream->send(event, faults_, rng_, counts_);
  }
}

// ---- bad weather ----

void FakeApi::compact() {
  std::lock_guard lock(mutex_);
  for (auto& [name, collection] : collections_) {
    collection.compact(version_);
    collection.forgetSnapshots();
  }
}

void FakeApi::dropWatches() {
  std::lock_guard lock(mutex_);
  for (auto& [name, streams] : streams_)
    for (auto& stream : streams) stream->drop();
}

void FakeApi::silenceWatches() {
  std::lock_guard lock(mutex_);
  for (auto& [name, streams] : streams_)
    for (auto& stream : streams) stream->silence();
}

void FakeApi::endWatches() {
  std::lock_guard lock(mutex_);
  for (auto& [name, streams] : streams_)
    for (auto& stream : streams) stream->end();
}

void FakeApi::bookmark() {
  std::lock_guard lock(mutex_);
  for (auto& [name, streams] : streams_) {
    const auto& [apiVersion, kind] = kinds_[name];
    for (auto& stream : streams) stream->sendLine(bookmarkLine(version_, apiVersion, kind));
  }
}

void FakeApi::armBookmarks() {
  if (options_.bookmarkEvery <= Duration::zero()) return;
  bookmarks_ = realClock().after(options_.bookmarkEvery, [self = self_] {
    std::lock_guard lock(self->mutex);
    if (self->api == nullptr) return;
    self->api->bookmark();
    self->api->armBookmarks();
  });
}

void FakeApi::setFaults(Faults faults) {
  std::lock_guard lock(mutex_);
  faults_ = faults;
  for (auto& [name, streams] : streams_)
    for (auto& stream : streams) stream->flush();
}

FaultCounts FakeApi::faultCounts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

void FakeApi::setHook(Hook hook) {
  std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void FakeApi::setToken(std::string token) {
  std::lock_guard lock(mutex_);
  token_ = std::move(token);
}

FakeApiStats FakeApi::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

size_t FakeApi::openWatches() const {
  std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [name, streams] : streams_)
    for (const auto& stream : streams) count += !stream->dead();
  return count;
}

// ---- requests ----

void FakeApi::handle(ExchangePtr exchange) {
  const HttpRequest& request = exchange->request();
  Hook hook;
  {
    std::lock_guard lock(mutex_);
    ++stats_.requests;
    hook = hook_;
  }
  if (hook) {
    if (auto instead = hook(request)) return exchange->reply(std::move(*instead));
  }
  std::unique_lock lock(mutex_);
  if (!token_.empty() && request.headers.get("Authorization") != "Bearer " + token_)
    return exchange->reply(failure(401, "Unauthorized", "Unauthorized"));
  if (auto bad = misfortune()) return exchange->reply(std::move(*bad));
  auto place = Place::parse(request.target);
  if (!place) return exchange->reply(failure(404, "NotFound", "no such path"));
  if (place->parameter("watch") == "true") return watch(exchange, *place, std::move(lock));
  HttpResponse response = answer(request, *place);
  if (rng_.chance(request.method == "GET" ? faults_.cutBody : faults_.loseAnswer)) {
    ++counts_.cut;
    lock.unlock();
    return cutShort(exchange, response);
  }
  exchange->reply(std::move(response));
}

std::optional<HttpResponse> FakeApi::misfortune() {
  if (rng_.chance(faults_.error500)) {
    ++counts_.errors;
    return failure(500, "InternalError", "etcdserver: leader changed");
  }
  if (rng_.chance(faults_.error429)) {
    ++counts_.throttled;
    return failure(429, "TooManyRequests", "too many requests, please try again later",
                   options_.retryAfter);
  }
  return std::nullopt;
}

namespace {

// The server insists on its own framing, which is why we could not break it. An interim answer
// hands the connection over; what follows is the real answer, written by hand.
HttpResponse interim() {
  HttpResponse out;
  out.status = 103;
  return out;
}

}  // namespace

// Half of the promised body, then nothing but the end of the connection.
void FakeApi::cutShort(const ExchangePtr& exchange, const HttpResponse& whole) {
  std::string text =
      fmt::format("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                  whole.body.size()) +
      whole.body.substr(0, whole.body.size() / 2);
  exchange->upgrade(interim(), [text](std::unique_ptr<net::ByteStream> raw) {
    if (!raw) return;
    std::shared_ptr<net::ByteStream> shared = std::move(raw);
    shared->write(text, [shared](Result<>) { shared->close(); });
  });
}

HttpResponse FakeApi::answer(const HttpRequest& request, const Place& place) {
  FakeCollection& collection = collections_[place.collection];
  if (request.method == "GET" && place.name.empty()) return list(collection, place);
  if (request.method == "GET") {
    Body body = collection.find(place.key());
    return body ? HttpResponse::json(200, *body) : notFound(place.plural, place.name);
  }
  ++stats_.writes;
  if (request.method == "POST" && !place.sub.empty()) return subresource(place, request.body);
  if (request.method == "POST") return create(place, request.body);
  if (request.method == "PUT") return replace(place, request.body);
  if (request.method == "PATCH") return patch(place, request.body);
  if (request.method == "DELETE") return erase(place, request.body);
  return failure(405, "MethodNotAllowed", "method not allowed");
}

HttpResponse FakeApi::list(FakeCollection& collection, const Place& place) {
  ++stats_.lists;
  std::string token = place.parameter("continue");
  uint64_t at = version_;
  std::string after;
  if (!token.empty()) {
    auto halves = cut(token, ':');
    at = parseInt<uint64_t>(halves.before).value_or(0);
    after = std::string(halves.after);
    if (rng_.chance(faults_.expirePages)) {
      ++counts_.pagesExpired;
      collection.forgetSnapshots();
    }
  } else {
    collection.freeze(at);
  }
  const auto* snapshot = collection.snapshot(at);
  if (snapshot == nullptr)
    return failure(410, "Expired", "The provided continue parameter is too old");
  int64_t limit = parseInt<int64_t>(place.parameter("limit")).value_or(0);
  std::string only = place.parameter("fieldSelector");
  if (only.starts_with("metadata.name=")) only = only.substr(14);
  std::string node;  // what an object must have in it: a node, or this one
  if (only.starts_with("spec.nodeName"))
    node = R"("nodeName":")" + (only.ends_with("!=") ? "" : only.substr(14) + '"');
  std::string items, next, last;
  int64_t count = 0;
  for (auto one = snapshot->objects->upper_bound(after); one != snapshot->objects->end(); ++one) {
    KeyParts parts = splitKey(one->first);
    if (!place.ns.empty() && parts.ns != place.ns) continue;
    if (node.empty() && !only.empty() && parts.name != only) continue;
    if (one->second->find(node) == std::string::npos) continue;
    if (limit > 0 && count == limit) {
      next = fmt::format("{}:{}", at, last);
      break;
    }
    if (count++ > 0) items += ',';
    items += *one->second;
    last = one->first;
  }
  return HttpResponse::json(
      200,
      fmt::format(
          R"({{"kind":"List","apiVersion":"v1","metadata":{{"resourceVersion":"{}"{}}},"items":[{}]}})",
          at, next.empty() ? "" : fmt::format(R"(,"continue":"{}")", next), items));
}

HttpResponse FakeApi::create(const Place& place, const std::string& body) {
  auto object = json::parse(body);
  if (!object || !object->is_object()) return failure(400, "BadRequest", "body is not an object");
  json::Object& top = object->as_object();
  if (!top.contains("metadata")) top["metadata"] = json::Object();
  json::Object& meta = top["metadata"].as_object();
  std::string name = textAt(*object, "metadata", "name");
  if (name.empty()) name = textAt(*object, "metadata", "generateName") + std::to_string(++names_);
  meta["name"] = name;
  if (!place.ns.empty()) meta["namespace"] = place.ns;
  meta["uid"] = fmt::format("00000000-0000-4000-8000-{:012x}", version_ + 1);
  std::string key = keyOf(place.ns, name);
  FakeCollection& collection = collections_[place.collection];
  if (collection.find(key))
    return failure(409, "AlreadyExists",
                   fmt::format("{} \"{}\" already exists", place.plural, name));
  store(place.collection, key, std::move(*object));
  return HttpResponse::json(201, *collection.find(key));
}

HttpResponse FakeApi::replace(const Place& place, const std::string& body) {
  auto object = json::parse(body);
  FakeCollection& collection = collections_[place.collection];
  Body have = collection.find(place.key());
  if (!object || !object->is_object()) return failure(400, "BadRequest", "body is not an object");
  if (!have) return notFound(place.plural, place.name);
  std::string wanted = textAt(*object, "metadata", "resourceVersion");
  if (!wanted.empty() && wanted != textAt(*json::parse(*have), "metadata", "resourceVersion"))
    return failure(409, "Conflict",
                   fmt::format("Operation cannot be fulfilled on {} \"{}\": the object has been "
                               "modified; please apply your changes to the latest version",
                               place.plural, place.name));
  store(place.collection, place.key(), std::move(*object));
  return HttpResponse::json(200, *collection.find(place.key()));
}

HttpResponse FakeApi::patch(const Place& place, const std::string& body) {
  auto change = json::parse(body);
  if (!change || change->is_primitive()) return failure(400, "BadRequest", "no patch: " + body);
  FakeCollection& collection = collections_[place.collection];
  Body have = collection.find(place.key());
  if (!have) return notFound(place.plural, place.name);
  json::Value object = *json::parse(*have);
  std::string wanted = textAt(*change, "metadata", "resourceVersion");
  if (!wanted.empty() && wanted != textAt(object, "metadata", "resourceVersion"))
    return failure(409, "Conflict", fmt::format("{} \"{}\" changed", place.plural, place.name));
  if (change->is_object()) json::applyMergePatch(object, *change);
  const auto done = change->is_array() ? json::applyJsonPatch(object, *change) : Result<>();
  if (!done) return failure(422, "Invalid", done.error().text());
  store(place.collection, place.key(), std::move(object));
  return HttpResponse::json(200, *collection.find(place.key()));
}

HttpResponse FakeApi::erase(const Place& place, const std::string& body) {
  FakeCollection& collection = collections_[place.collection];
  Body have = collection.find(place.key());
  if (!have) return notFound(place.plural, place.name);
  const auto uid = textAt(json::parse(body).value_or(json::Value()), "preconditions", "uid");
  if (!uid.empty() && uid != textAt(*json::parse(*have), "metadata", "uid"))
    return failure(409, "Conflict", "the uid in the precondition does not match");
  auto event = collection.remove(++version_, place.key());
  broadcast(place.collection, *event);
  return HttpResponse::json(200, *event->body);
}

HttpResponse FakeApi::subresource(const Place& place, const std::string& body) {
  FakeCollection& collection = collections_[place.collection];
  Body have = collection.find(place.key());
  if (!have) return notFound(place.plural, place.name);
  if (place.sub == "eviction") return erase(place, "{}");
  if (place.sub != "binding") return notFound(place.plural, place.name + "/" + place.sub);
  json::Value object = *json::parse(*have);
  if (!textAt(object, "spec", "nodeName").empty())
    return failure(409, "Conflict", fmt::format("pod {} is already assigned", place.name));
  json::Value change = *json::parse(R"({"spec":{},"metadata":{}})");
  const json::Value binding = *json::parse(body);
  change.at("spec").as_object()["nodeName"] = textAt(binding, "target", "name");
  if (const json::Value* meta = binding.as_object().if_contains("metadata"))
    if (const json::Value* notes = meta->as_object().if_contains("annotations"))
      change.at("metadata").as_object()["annotations"] = *notes;
  json::applyMergePatch(object, change);
  store(place.collection, place.key(), std::move(object));
  return HttpResponse::json(201, statusBody(201, "", ""));
}

// ---- watches ----

void FakeApi::watch(const ExchangePtr& exchange, const Place& place,
                    std::unique_lock<std::mutex> lock) {
  ++stats_.watches;
  uint64_t from = parseInt<uint64_t>(place.parameter("resourceVersion")).value_or(0);
  if (rng_.chance(faults_.refuseVersion) || !collections_[place.collection].since(from)) {
    ++counts_.refused;
    return exchange->reply(
        failure(410, "Expired", fmt::format("too old resource version: {}", from)));
  }
  lock.unlock();
  exchange->upgrade(interim(), [self = self_, place](std::unique_ptr<net::ByteStream> raw) mutable {
    std::lock_guard alive(self->mutex);
    if (!raw || self->api == nullptr) return;
    raw->write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        {});
    self->api->attach(place, std::move(raw));
  });
}

// What happened between the request and now is sent first, so nothing falls in between.
void FakeApi::attach(const Place& place, std::unique_ptr<net::ByteStream> raw) {
  std::lock_guard lock(mutex_);
  auto stream = std::make_unique<FakeStream>(std::move(raw), place.ns);
  uint64_t from = parseInt<uint64_t>(place.parameter("resourceVersion")).value_or(0);
  auto missed = collections_[place.collection].since(from);
  if (!missed) return stream->end();
  for (const StoredEvent& event : *missed)
    if (place.ns.empty() || splitKey(event.key).ns == place.ns)
      stream->send(event, faults_, rng_, counts_);
  streams_[place.collection].push_back(std::move(stream));
}

}  // namespace mangrove::client::testing
