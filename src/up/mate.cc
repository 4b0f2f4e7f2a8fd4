#include "up/mate.h"

#include <future>

namespace mangrove::up {

Mate::Mate(Mailbox& serverOwner, apiserver::Server& server, std::string userAgent)
    : serverOwner_(serverOwner),
      client_(serverOwner, server, apiserver::Identity::system(), std::move(userAgent)) {}

Mate::~Mate() {
  // A role that was not stopped is dropped on its thread all the same.
  std::promise<void> gone;
  thread_.mailbox().post([&] {
    role_.reset();
    house_.reset();
    recorded_.reset();
    recorder_.reset();
    gone.set_value();
  });
  gone.get_future().wait();
  client_.close();  // what it still waits for would be told to threads that end now
}

Result<> Mate::record(Clock& clock, MateRecording& recording) {
  if (recording.where.path.empty()) return {};
  auto made = frame::record::Recorder::make(recording.where, std::move(recording.session),
                                            thread_.mailbox(), clock);
  if (!made) return made.error().in("--record");
  recorder_ = std::move(*made);
  recorded_ = recorder_->client(client_);
  return {};
}

// A recorded role does everything on its own thread.
Result<> Mate::begin(Clock& clock, Registry& metrics, MakeMate& make, MateRecording& recording) {
  if (auto ok = record(clock, recording); !ok) return ok;
  client::ApiClient& own = client_;
  house_.emplace(MateHouse{thread_.mailbox(),
                           recorder_ ? thread_.mailbox() : home_.mailbox(),
                           recorder_ ? *recorded_ : own,
                           recorder_ ? recorder_->turns().clock() : clock,
                           metrics,
                           {home_.mailbox(), own, clock}});
  Result<> started;
  auto start = [&] {
    role_ = make(*house_);
    started = role_->start();
  };
  if (recorder_)
    recorder_->start(start);
  else
    start();
  return started;
}

Result<std::unique_ptr<Mate>> Mate::start(Mailbox& serverOwner, apiserver::Server& server,
                                          Clock& clock, Registry& metrics, std::string userAgent,
                                          MakeMate make, MateRecording recording) {
  std::unique_ptr<Mate> mate(new Mate(serverOwner, server, std::move(userAgent)));
  std::promise<Result<>> started;
  mate->thread_.mailbox().post(
      [&] { started.set_value(mate->begin(clock, metrics, make, recording)); });
  if (auto ok = started.get_future().get(); !ok) return pass(ok.error());
  return mate;
}

void Mate::stop(Fn done) {
  thread_.mailbox().post([this, done = std::move(done)]() mutable {
    Fn stop = [this, done = std::move(done)]() mutable {
      role_->stop([this, done = std::move(done)]() mutable {
        if (recorder_) recorder_->flush();
        serverOwner_.post(std::move(done));
      });
    };
    if (recorder_)
      recorder_->stop(std::move(stop));
    else
      stop();
  });
}

}  // namespace mangrove::up
