#pragma once
// The HTTPS server that API servers ask: one path per handler, /healthz and /readyz. Answers in the
// thread that read the question where it can, and through the owner where a handler needs caches.
//
//   auto server = WebhookServer::start({.io = &io, .owner = &owner, .picture = …, .tls = …});
//   (*server)->setTls(rotated);
//   (*server)->shutdown(10s);
//
// What goes wrong is answered clearly: 404 for a path nobody serves, 405, 413 and 415 for requests
// that are no reviews, 400 with a sentence for malformed reviews, 503 before the caches are filled;
// a handler that fails answers its review with code 500, is counted and leaves an Event.
//
// Made and destroyed in the owner's thread; destroyed before the loop.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "base/result.h"
#include "client/events/event_recorder.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/routes.h"
#include "manager/webhook/surroundings.h"
#include "net/loop.h"
#include "net/server/http_server.h"

namespace mangrove::manager {

// A review carries the new object and the old one, each up to the 3 MiB an API server accepts.
inline constexpr Bytes kMaxReview = kMiB * 8;

using ReviewDone = UniqueFn<void(Review)>;

struct WebhookServerSetup {
  net::Loop* io = nullptr;
  Mailbox* owner = nullptr;
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  client::EventRecorder* events = nullptr;  // null: no Events
  std::string bind = "0.0.0.0";
  uint16_t port = 0;
  net::TlsServerOptions tls;
  Duration reviewTimeout = std::chrono::seconds(10);  // as long as API servers wait by default

  std::function<std::shared_ptr<const Surroundings>()> picture;  // any thread
  std::function<Result<>()> ready;                               // any thread; quick
  // Runs a handler of RunsOn::kOwner, in the owner's thread; empty: called plainly with the
  // picture.
  std::function<void(const Route&, const AdmissionRequest&, ReviewDone)> onOwner;
  // What follows an accepted pod in the owner's thread (quota admission); empty: nothing does.
  std::function<bool(const AdmissionRequest&, const Surroundings&)> needsSecondLook;
  std::function<void(const AdmissionRequest&, ReviewDone)> secondLook;
  // Told of every answered review and the time from its last byte to the answer; any thread, quick.
  std::function<void(const Route&, Duration)> measured;
};

class WebhookServer {
 public:
  static Result<std::unique_ptr<WebhookServer>> start(WebhookServerSetup setup);
  ~WebhookServer();

  uint16_t port() const;
  std::string url() const;
  Result<> setTls(const net::TlsServerOptions& tls);
  void shutdown(Duration grace);

 private:
  struct Core;
  explicit WebhookServer(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace mangrove::manager
