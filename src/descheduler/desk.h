#pragma once
// What the parts of the descheduler work with: caches, client, clock, events. Owned by the
// Descheduler; owner's thread.

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "descheduler/caches.h"

namespace mangrove::descheduler {

struct Desk {
  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  Caches& caches;
  client::EventRecorder* events = nullptr;  // null: nobody is told
  Lifetime life{};

  // `done` runs in the owner's thread, unless we are gone by then.
  void send(client::Request request, client::ApiClient::Done done) {
    client.submit(owner, std::move(request), life.guard(std::move(done)));
  }
};

}  // namespace mangrove::descheduler
