#include "manager/desk.h"

#include "base/os/log.h"

namespace mangrove::manager {
namespace {

const Logger log("manager");

}  // namespace

void Desk::send(client::Request request, client::ApiClient::Done done) {
  if (dry) return withhold(request, std::move(done));
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

void Desk::withhold(const client::Request& request, client::ApiClient::Done done) {
  const std::string what = client::describe(request);
  if (std::string& said = withheld[what]; said != request.body || said.empty()) {
    said = request.body;
    writesWithheld.inc();
    log.info("would {}: {}", what, request.body);
  }
  owner.post(life.guard([what, done = std::move(done)]() mutable {
    done(fail(Code::kNotFound, "{}: withheld, this is a dry run", what));
  }));
}

}  // namespace mangrove::manager
