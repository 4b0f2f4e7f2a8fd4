#pragma once
// Answers of the API on their way to the owner. While hundreds of requests are under way nobody
// waits for a single answer: they are handed over in bunches, because waking the owner for each
// costs more than what it then does. With few under way each is handed over at once.
//
//   auto answers = std::make_shared<Answers>(owner);
//   answers->sent();
//   client.submit(request, [answers, done](Result<Reply> r) { answers->add(done, r); });
//   answers->deliver();                     // about once a second: a bunch is never left waiting
//   answers->isBusy();                      // so many are under way that bunches are made
//
// add() and isBusy() may be called from any thread, everything else from the owner's. After close()
// nothing is delivered and the mailbox is not touched any more.

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::scheduler {

class Answers : public std::enable_shared_from_this<Answers> {
 public:
  using Done = UniqueFn<void(Result<client::Reply>)>;
  // More than a client has connections: so many under way keep them busy while a bunch grows.
  static constexpr size_t kFew = 256;
  static constexpr size_t kBunch = 32;

  explicit Answers(Mailbox& owner) : owner_(&owner) {}

  void sent();
  void add(Done done, Result<client::Reply> reply);
  void deliver();
  bool isBusy() const;
  // Runs before each bunch is told, in the owner's thread.
  void onBunch(std::function<void()> fn) { onBunch_ = std::move(fn); }
  void close();

 private:
  struct Answer {
    Done done;
    Result<client::Reply> reply;
  };
  mutable std::mutex mutex_;
  std::function<void()> onBunch_ = [] {};  // owner's thread
  Mailbox* owner_;                         // null: closed
  std::vector<Answer> ready_;
  size_t underWay_ = 0;
  bool posted_ = false;
};

}  // namespace mangrove::scheduler
