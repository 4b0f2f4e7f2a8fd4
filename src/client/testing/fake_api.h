#pragma once
// A small Kubernetes API server for tests, real HTTP on the loopback, that can misbehave on
// purpose: drops connections in the middle of an event, repeats and reorders events, answers 410,
// 429 and 500, stops sending without closing, damages lines, sends in tiny pieces, forgets pages.
//
//   net::Loop loop;
//   FakeApi api(loop, {.seed = 7});
//   api.put(kind::kPod, "default", "web-1", R"({"spec":{}})");
//   auto client = HttpApiClient::make(loop, realClock(), api.config());
//   api.setFaults({.dropMidEvent = 0.05, .duplicate = 0.1});   … the storm …
//   api.setFaults({});                                         … and calm again
//   EXPECT_EQ(everythingIn(informer), api.truth(kind::kPod));
//
// It knows get, list (pages), watch (bookmarks), create, update (conflicts by resourceVersion),
// JSON patch, merge patch (strategic and apply patches are treated as such), delete, the binding and
// eviction of pods, and any kind whatsoever. Selectors: fieldSelector metadata.name= and, in
// lists, spec.nodeName!= and spec.nodeName= only. All functions may be called from any thread. Faults are drawn from a
// seeded Rng; with several connections the draw depends on who comes first.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "client/http/kubeconfig.h"
#include "client/key.h"
#include "client/testing/fake_store.h"
#include "client/testing/fake_stream.h"
#include "net/loop.h"
#include "net/server/http_server.h"
#include "net/tls/tls.h"

namespace mangrove::client::testing {

struct FakeApiOptions {
  uint64_t seed = 1;
  Duration bookmarkEvery = Duration::zero();  // zero: none
  std::string token = "";                     // when set, other tokens get 401
  int retryAfter = 1;                         // seconds, of 429
  std::optional<net::TlsServerOptions> tls = {};
};

// What a hook may do with a request before the server looks at it.
using Hook = std::function<std::optional<net::HttpResponse>(const net::HttpRequest&)>;

struct FakeApiStats {
  size_t requests = 0, lists = 0, watches = 0, writes = 0;
};

class FakeApi {
 public:
  explicit FakeApi(net::Loop& loop, FakeApiOptions options = {});
  ~FakeApi();

  std::string url() const;
  ClientConfig config() const;

  // The truth. Each change gets the next version and goes to the watches. put() adds kind, name and
  // namespace to the object; it creates or replaces.
  void put(const Kind& kind, const std::string& ns, const std::string& name, std::string_view json);
  void remove(const Kind& kind, const std::string& ns, const std::string& name);
  // key → JSON text.
  std::map<std::string, std::string> truth(const Kind& kind) const;
  uint64_t version() const;

  // History up to now is forgotten: watches from before get 410, pages too.
  void compact();
  void dropWatches();     // all connections, without a word
  void silenceWatches();  // they stay open and dumb
  void endWatches();      // properly
  void bookmark();        // one to every watch
  void setFaults(Faults faults);
  FaultCounts faultCounts() const;
  // Asked first for each request; an answer is sent instead of the real one. Runs on I/O threads.
  void setHook(Hook hook);
  void setToken(std::string token);

  FakeApiStats stats() const;
  size_t openWatches() const;

 private:
  struct Place;  // a parsed path
  // What callbacks of other threads hold: empty once we are gone.
  struct Tether {
    std::mutex mutex;
    FakeApi* api;
  };
  using ExchangePtr = std::shared_ptr<net::Exchange>;

  void handle(ExchangePtr exchange);
  std::optional<net::HttpResponse> misfortune();
  net::HttpResponse answer(const net::HttpRequest& request, const Place& place);
  net::HttpResponse list(FakeCollection& collection, const Place& place);
  net::HttpResponse create(const Place& place, const std::string& body);
  net::HttpResponse replace(const Place& place, const std::string& body);
  net::HttpResponse patch(const Place& place, const std::string& body);
  net::HttpResponse erase(const Place& place, const std::string& body);
  net::HttpResponse subresource(const Place& place, const std::string& body);
  void watch(const ExchangePtr& exchange, const Place& place, std::unique_lock<std::mutex> lock);
  void attach(const Place& place, std::unique_ptr<net::ByteStream> raw);
  void cutShort(const ExchangePtr& exchange, const net::HttpResponse& whole);
  void store(const std::string& collection, std::string key, json::Value object);
  void broadcast(const std::string& collection, const StoredEvent& event);
  void armBookmarks();

  const FakeApiOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, FakeCollection> collections_;  // by "/apis/group/version/plural"
  std::map<std::string, std::vector<std::unique_ptr<FakeStream>>> streams_;
  std::map<std::string, std::pair<std::string, std::string>> kinds_;  // apiVersion and kind
  uint64_t version_ = 1000;
  uint64_t names_ = 0;
  Faults faults_;
  FaultCounts counts_;
  FakeApiStats stats_;
  Rng rng_;
  Hook hook_;
  std::string token_;
  Timer bookmarks_;
  std::shared_ptr<Tether> self_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace mangrove::client::testing
