#pragma once
// One door to a Kubernetes API, remote (http_api_client.h) or in the same process. Bodies are JSON
// text in both directions: callers decode what they need (api::decodeText) and send patches.
//
//   Result<std::string> pod = client.get({kind::kPod, "default", "web-1"});
//   client.submit(owner, bindRequest(pod.meta, "n1"), [this](Result<Reply> r) { onBound(r); });
//
// Threads: every function may be called from any thread. submit() calls `done` exactly once, on a
// thread of the implementation: keep it short, or use the form with a Mailbox, which posts it to
// the owner. The blocking forms wait for the answer and must not be called from I/O threads or from
// inside a `done`. What is pending when the client dies ends with
// kCancelled.
//
// Errors name verb, object and server, and carry the server's own sentence:
//   "patch pods default/web-1 at 10.0.0.1:6443: Operation cannot be fulfilled on …"
// with the code callers branch on: kConflict, kExists, kNotFound, kGone (an expired position or
// page), kTooMany, kInvalid, kDenied, kUnauthorized, kTimeout, kUnavailable. Error::detail() is the
// HTTP status, or 0 when there was no answer.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/bodies.h"
#include "api/object/verbs.h"
#include "base/fn.h"
#include "base/mailbox.h"
#include "base/number/units.h"
#include "base/result.h"
#include "client/key.h"

namespace mangrove::client {

using api::Verb;  // requests are all but kWatch, which has a function of its own
using api::verbName;

enum class PatchType { kMerge, kStrategic, kJson, kApply };
const char* contentTypeOf(PatchType type);

struct Ref {
  Kind kind;
  std::string ns;
  std::string name;
  std::string subresource = {};  // "status", "scale", …
  std::string key() const { return keyOf(ns, name); }
};

// What may follow the "?"; only what is set is sent.
struct Query {
  std::string labelSelector = {};
  std::string fieldSelector = {};
  int64_t limit = 0;
  std::string continueToken = {};
  std::string resourceVersion = {};
  std::string resourceVersionMatch = {};  // "Exact", "NotOlderThan"
  std::string fieldManager = {};
  std::string fieldValidation = {};  // "Ignore", "Warn", "Strict"
  std::optional<bool> force = {};    // server-side apply: take fields from other managers
  bool dryRun = false;
  std::vector<std::pair<std::string, std::string>> extra = {};  // anything else, as it is
};

// Whether a request may be sent again when it is unknown if the server acted on it.
enum class Repeat {
  kByVerb,  // reads, merge/strategic/apply patches, updates that name a resourceVersion, deletes
            // that name a uid: yes. Creates, JSON patches, other deletes and updates: no.
  kSafe,    // the caller knows that doing it twice is the same as once
  kNever,
};

struct Request {
  Verb verb = Verb::kGet;
  Ref ref;           // name empty for list, create and deleteCollection
  std::string path;  // instead of ref: a path outside of the object tree, such as "/version"
  Query query;
  std::string body;
  PatchType patchType = PatchType::kMerge;
  Duration timeout = std::chrono::seconds(30);  // all attempts and waits together
  int maxTries = 5;
  Repeat repeat = Repeat::kByVerb;
  // Requests of one flow wait in line for the client-side rate limit; different flows take turns.
  std::string flow;  // "" : the plural of the kind
};

struct Reply {
  int status = 200;
  std::string body;
  std::vector<std::string> warnings;  // texts of the Warning headers
  int tries = 1;
};

// "patch pods default/web-1/status": what messages call a request.
std::string describe(const Request& request);
bool mayRepeat(const Request& request);

struct WatchRequest {
  Kind kind;
  std::string ns;
  Query query;  // selectors and the resourceVersion to start after
  bool bookmarks = true;
  Duration timeout = std::chrono::minutes(7);        // after which the server ends the watch
  Duration idleTimeout = std::chrono::seconds(120);  // no byte for so long: the connection is dead
};

// Called on a thread of the implementation, one at a time, in order; never after the Watch is gone
// (unless it is destroyed inside its own callback). Each may be empty.
struct WatchHandler {
  UniqueFn<void()> onOpen;  // the server accepted
  // One or more whole lines, each one event: {"type":"ADDED","object":{…}}. Returning false is a
  // pause() that takes effect before any resume() called meanwhile.
  UniqueFn<bool(std::string lines)> onEvents;
  // Once, last. ok: the server ended the watch properly. kGone: the position has expired.
  UniqueFn<void(Result<>)> onEnd;
};

// A running watch; destroying it cancels.
class Watch {
 public:
  virtual ~Watch() = default;
  // Between the two nothing is read from the server, so that a slow consumer slows the sender down
  // instead of filling our memory. A few events already on their way may still arrive.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

// A page of a list. `items` point into `body`.
struct ListPage {
  std::shared_ptr<const std::string> body;
  std::string resourceVersion;
  std::string continueToken;  // "" on the last page
  std::vector<std::string_view> items;
};

using api::DeleteOptions;

// Both name the pod's uid, so that a namesake created meanwhile is left alone.
Request bindRequest(const api::ObjectMeta& pod, std::string_view node);
Request evictRequest(const api::ObjectMeta& pod, const DeleteOptions& options = {});
Request deleteRequest(Ref ref, const DeleteOptions& options = {});
Request patchRequest(Ref ref, PatchType type, std::string body, Query query = {});

class ApiClient {
 public:
  virtual ~ApiClient() = default;

  using Done = UniqueFn<void(Result<Reply>)>;
  virtual void submit(Request request, Done done) = 0;
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(WatchRequest request,
                                                     WatchHandler handler) = 0;
  // What messages call the server: "10.0.0.1:6443".
  virtual std::string server() const = 0;

  // `done` runs in the owner's thread; it is dropped with the message if the mailbox has stopped.
  // The mailbox must outlive the request.
  void submit(Mailbox& owner, Request request, Done done);

  // Blocking forms.
  Result<Reply> call(Request request);
  Result<std::string> get(Ref ref, Query query = {});
  Result<ListPage> list(Kind kind, std::string ns = "", Query query = {});
  Result<std::string> create(Kind kind, std::string ns, std::string body, Query query = {});
  Result<std::string> update(Ref ref, std::string body, Query query = {});
  Result<std::string> patch(Ref ref, PatchType type, std::string body, Query query = {});
  Result<> remove(Ref ref, const DeleteOptions& options = {});
  Result<> bind(const api::ObjectMeta& pod, std::string_view node);
  // kTooMany: a disruption budget does not allow it now.
  Result<> evict(const api::ObjectMeta& pod, const DeleteOptions& options = {});
};

}  // namespace mangrove::client
