#include "manager/desk.h"

namespace mangrove::manager {

void Desk::send(client::Request request, client::ApiClient::Done done) {
  if (request.query.fieldManager.empty() && request.verb != client::Verb::kDelete)
    request.query.fieldManager = fieldManager;
  window.begin();
  auto heard = [this, done = std::move(done)](Result<client::Reply> reply) mutable {
    const bool refused = reply ? reply->tries > 1 : reply.error().code() == Code::kTooMany;
    (reply ? writesSent : writesFailed).inc();
    done(std::move(reply));
    window.end(refused);
  };
  client.submit(owner, std::move(request), life.guard(std::move(heard)));
}

}  // namespace mangrove::manager
