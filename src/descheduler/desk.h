#pragma once
// What the parts of the descheduler work with: caches, client, clock, events. Owned by the
// Descheduler; owner's thread.

#include <memory>
#include <string>

#include "base/clock.h"
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
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);

  // `done` runs in the owner's thread, unless we are gone by then.
  void send(client::Request request, client::ApiClient::Done done) {
    client.submit(owner, std::move(request),
                  [alive = std::weak_ptr(alive),
                   done = std::move(done)](Result<client::Reply> reply) mutable {
                    if (alive.lock()) done(std::move(reply));
                  });
  }
};

}  // namespace mangrove::descheduler
