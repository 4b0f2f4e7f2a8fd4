#include "up/mate.h"

#include <future>

namespace mangrove::up {

Mate::Mate(Mailbox& serverOwner, apiserver::Server& server, Clock& clock, Registry& metrics,
           std::string userAgent)
    : serverOwner_(serverOwner),
      client_(serverOwner, server, apiserver::Identity::system(), std::move(userAgent)),
      house_{thread_.mailbox(), home_.mailbox(), client_, clock, metrics} {}

Mate::~Mate() {
  // A role that was not stopped is dropped on its thread all the same.
  std::promise<void> gone;
  thread_.mailbox().post([&] {
    role_.reset();
    gone.set_value();
  });
  gone.get_future().wait();
  client_.close();  // what it still waits for would be told to threads that end now
}

Result<std::unique_ptr<Mate>> Mate::start(Mailbox& serverOwner, apiserver::Server& server,
                                          Clock& clock, Registry& metrics, std::string userAgent,
                                          MakeMate make) {
  std::unique_ptr<Mate> mate(new Mate(serverOwner, server, clock, metrics, std::move(userAgent)));
  std::promise<Result<>> started;
  mate->thread_.mailbox().post([&] {
    mate->role_ = make(mate->house_);
    started.set_value(mate->role_->start());
  });
  if (auto ok = started.get_future().get(); !ok) return pass(ok.error());
  return mate;
}

void Mate::stop(Fn done) {
  thread_.mailbox().post([this, done = std::move(done)]() mutable {
    role_->stop([this, done = std::move(done)]() mutable { serverOwner_.post(std::move(done)); });
  });
}

}  // namespace mangrove::up
