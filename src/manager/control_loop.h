#pragma once
// How a controller works off its keys: a de-duplicating queue, a bounded number of reconciles under
// way, retries with a growing delay, and silence while somebody else leads.
//
//   WriteWindow window;
//   ControlLoop loop(clock, owner, window, "noderesource",
//                    [&](const std::string& key, ControlLoop::Done done) { …; done({}); });
//   loop.add("n1");
//   loop.run();                      // when leading; pause() when not
//
// Owner thread only, except that keys may be added from anywhere. A reconcile calls `done` exactly
// once, at once or after its writes; until then the key is not handed out again.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fn.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/result.h"
#include "client/queue/work_queue.h"

namespace mangrove::manager {

// How many writes may be under way at once, over all controllers: as many as the server takes. It
// grows by one for each window's worth of good answers and halves when the server says "too many".
class WriteWindow {
 public:
  struct Limits {
    size_t first = 32;
    size_t least = 2;
    size_t most = 256;  // beyond this a server's answers only get slower
  };
  WriteWindow() : WriteWindow(Limits{}) {}
  explicit WriteWindow(Limits limits) : limits_(limits), size_(limits.first) {}

  bool isOpen() const { return underWay_ < size_; }
  void begin() { underWay_++; }
  void end(bool refused);  // refused: the server had too many
  size_t size() const { return size_; }
  size_t underWay() const { return underWay_; }
  void onRoom(std::function<void()> fn) { onRoom_.push_back(std::move(fn)); }

 private:
  Limits limits_;
  size_t size_;
  size_t underWay_ = 0;
  size_t goodInARow_ = 0;
  std::vector<std::function<void()>> onRoom_;
};

class ControlLoop {
 public:
  using Done = UniqueFn<void(Result<>)>;
  using Reconcile = std::function<void(const std::string& key, Done done)>;

  ControlLoop(Clock& clock, Mailbox& owner, WriteWindow& window, std::string name,
              Reconcile reconcile);
  ~ControlLoop();
  ControlLoop(const ControlLoop&) = delete;
  ControlLoop& operator=(const ControlLoop&) = delete;

  void add(std::string_view key) { queue_.add(key); }
  void addAfter(std::string_view key, Duration delay) { queue_.addAfter(key, delay); }

  // Takes keys only while `first` has none ready: what is sold must be right before anything else.
  void letFirst(ControlLoop& first);

  void run();
  void pause();
  bool running() const { return running_; }
  // Nothing waits, nothing is under way (delayed keys do not count).
  bool idle() const { return queue_.ready() == 0 && queue_.working() == 0; }
  size_t underWay() const { return queue_.working(); }
  client::WorkQueueStats stats() const { return queue_.stats(); }

 private:
  void wake();
  bool mustWait() const;
  void pump();
  void take(const std::string& key);
  void finish(const std::string& key, const Result<>& outcome);

  Mailbox& owner_;
  WriteWindow& window_;
  std::string name_;
  Reconcile reconcile_;
  client::WorkQueue queue_;
  std::shared_ptr<std::atomic<bool>> posted_;
  ControlLoop* first_ = nullptr;
  std::vector<ControlLoop*> later_;
  bool running_ = false;
  Lifetime life_;
};

}  // namespace mangrove::manager
