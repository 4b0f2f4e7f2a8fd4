#pragma once
// A server's surroundings for tests: a store in memory, a clock that stands still, and short ways
// to write objects and identities.

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/auth/rbac.h"
#include "apiserver/core/commit.h"
#include "apiserver/core/server.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/number/rng.h"
#include "json/value.h"
#include "store/store.h"

namespace mangrove::apiserver {

inline json::Object object(std::string_view text) {
  auto value = json::parse(text);
  CHECK(value.has_value(), "{}", text);
  return value->get_object();
}

inline Identity user(std::string name, std::vector<std::string> groups = {}) {
  return {std::move(name), "", std::move(groups), {}};
}

// "get apps/deployments/scale prod/web", "list pods prod/", "get nodes n1", "get /healthz"
inline Attributes ask(std::string_view verb, std::string_view what, std::string_view where = "") {
  Attributes out;
  out.verb = verb;
  if (what.starts_with('/')) {
    out.isResource = false;
    out.path = what;
    return out;
  }
  const size_t colon = what.find(':');
  out.group = colon == what.npos ? "" : what.substr(0, colon);
  std::string_view rest = colon == what.npos ? what : what.substr(colon + 1);
  const size_t slash = rest.find('/');
  out.resource = rest.substr(0, slash);
  if (slash != rest.npos) out.subresource = rest.substr(slash + 1);
  const size_t at = where.find('/');
  out.ns = at == where.npos ? "" : where.substr(0, at);
  out.name = at == where.npos ? where : where.substr(at + 1);
  return out;
}

struct World {
  VirtualClock clock{WallTime(std::chrono::seconds(1'800'000'000))};
  Mailbox owner;
  std::unique_ptr<store::Store> store =
      *store::Store::open({}, [this](Fn fn) { owner.post(std::move(fn)); });
  Resources resources;
  AdmissionChain admission;
  Rbac rbac;
  Registry metrics;
  Rng rng{1};
  Context context{clock, owner, *store, resources, admission, rbac, metrics, rng, {}};

  // Stores an object as it is, with `uid`, through the way of every write.
  void put(std::string_view text, std::string_view uid = "") {
    json::Object value = object(text);
    std::string_view apiVersion = value.at("apiVersion").as_string();
    const size_t slash = apiVersion.find('/');
    auto resource = resources.findKind(slash == apiVersion.npos ? "" : apiVersion.substr(0, slash),
                                       apiVersion.substr(slash == apiVersion.npos ? 0 : slash + 1),
                                       value.at("kind").as_string());
    CHECK(resource, "{}", text);
    json::Object& metadata = value.at("metadata").as_object();
    if (!uid.empty()) metadata["uid"] = uid;
    const json::Value* ns = metadata.if_contains("namespace");
    auto seen = store->getHead(resource->stored, ns ? std::string_view(ns->as_string()) : "",
                               metadata.at("name").as_string());
    putObject(context, resource, std::move(value), seen, [](const auto& stored) {
      EXPECT_TRUE(stored.has_value()) << (stored ? "" : stored.error().text());
    });
    settle();
  }
  void remove(std::string_view group, std::string_view plural, std::string_view ns,
              std::string_view name) {
    auto resource = resources.find(group, "v1", plural);
    auto seen = store->getHead(resource->stored, ns, name);
    ASSERT_TRUE(seen) << plural << " " << name;
    removeObject(context, resource, *json::parse(*seen->json()), seen, [](const auto&) {});
    settle();
  }
  json::Value get(std::string_view group, std::string_view plural, std::string_view ns,
                  std::string_view name) {
    auto found = store->get(Resources::storedName(group, plural), ns, name);
    return found ? *json::parse(*found->json()) : json::Value();
  }
  void settle() {
    store->flush();
    owner.drain();
    store->flush();
    owner.drain();
  }
};

}  // namespace mangrove::apiserver
