#pragma once
// One I/O thread and its timers. Internal to net/: a connection lives on one IoThread, and all its
// state is touched there only, so there are no locks and no strands. Other threads hold weak
// references and post.
//
// Files that include Asio define BOOST_ASIO_DISABLE_FENCED_BLOCK first: with one thread per context
// the lock of its queue orders memory well enough, and the thread sanitizer does not know fences.

#include <memory>
#include <thread>
#include <utility>

#include "base/fn.h"
#include "base/number/units.h"

namespace boost::asio {
class io_context;
}

namespace mangrove::net {

class Loop;

// A way to an I/O thread that may outlive it: what is posted then is dropped. For handles whose owners are not
// bound to the loop, such as timers of a clock.
class IoDoor {
 public:
  void post(Fn fn) const;

 private:
  friend class IoThread;
  struct State;
  explicit IoDoor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class IoThread {
 public:
  explicit IoThread(const Loop* loop);
  ~IoThread();

  void start();
  // Lets the thread end after the handler it is in, and waits for it.
  void stop();

  // Runs `fn` on this thread, never inside the call. After stop() it is dropped. Posts of one
  // thread keep their order; what the I/O thread posts to itself may be overtaken by others.
  void post(Fn fn);
  // As post(), but at once when already on this thread.
  void dispatch(Fn fn);
  // As dispatch(), and returns when it is done. Runs inline once the thread has stopped.
  void runAndWait(Fn fn);
  bool current() const;
  static const Loop* currentLoop();

  IoDoor door() const;
  boost::asio::io_context& context();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A movable point in time at which something is given up. Moving it later is only a store: the
// timer wakes at the old time and goes to sleep again, so setting it per request costs nothing. I/O
// thread only.
class Deadline {
 public:
  Deadline(IoThread& io, Fn onExpired);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Zero or less means none.
  void in(Duration delay);
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mangrove::net
