#define BOOST_ASIO_DISABLE_FENCED_BLOCK  // see io_thread.h

#include "net/loop.h"

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "base/clock.h"
#include "net/io_thread.h"

namespace mangrove::net {
namespace asio = boost::asio;

namespace {
thread_local const IoThread* currentThread = nullptr;
thread_local const Loop* currentThreadLoop = nullptr;
// A deadline this far away is none; added to the present time it could overflow.
constexpr Duration kForever = std::chrono::hours(24 * 3650);
}  // namespace

struct IoDoor::State {
  std::mutex mutex;
  asio::io_context* context;  // null once the thread has stopped
};

void IoDoor::post(Fn fn) const {
  std::lock_guard lock(state_->mutex);
  if (state_->context) asio::post(*state_->context, std::move(fn));
}

struct IoThread::Impl {
  const Loop* loop;
  std::atomic<bool> stopped = false;
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  std::thread thread;
  std::shared_ptr<IoDoor::State> door = std::make_shared<IoDoor::State>();
};

IoThread::IoThread(const Loop* loop) : impl_(std::make_unique<Impl>()) {
  impl_->loop = loop;
  impl_->door->context = &impl_->context;
}
IoThread::~IoThread() {
  stop();
}

void IoThread::start() {
  impl_->thread = std::thread([this] {
    currentThread = this;
    currentThreadLoop = impl_->loop;
    impl_->context.run();
  });
}

void IoThread::stop() {
  impl_->stopped = true;
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
  std::lock_guard lock(impl_->door->mutex);
  impl_->door->context = nullptr;
}

IoDoor IoThread::door() const {
  return IoDoor(impl_->door);
}

void IoThread::post(Fn fn) {
  if (!impl_->stopped) asio::post(impl_->context, std::move(fn));
}

void IoThread::dispatch(Fn fn) {
  if (current()) return fn();
  post(std::move(fn));
}

void IoThread::runAndWait(Fn fn) {
  if (current() || impl_->stopped) return fn();
  std::promise<void> done;
  post([&] {
    fn();
    done.set_value();
  });
  done.get_future().wait();
}

bool IoThread::current() const {
  return currentThread == this;
}
const Loop* IoThread::currentLoop() {
  return currentThreadLoop;
}
asio::io_context& IoThread::context() {
  return impl_->context;
}

struct Loop::Impl {
  std::vector<std::unique_ptr<IoThread>> threads;
  std::atomic<size_t> turn = 0;
};

Loop::Loop(int threads) : impl_(std::make_unique<Impl>()) {
  CHECK(threads > 0, "{} I/O threads", threads);
  for (int i = 0; i < threads; ++i) impl_->threads.push_back(std::make_unique<IoThread>(this));
  for (auto& thread : impl_->threads) thread->start();
}

Loop::~Loop() {
  CHECK(!onIoThread(), "a loop cannot be destroyed by one of its own threads");
  for (auto& thread : impl_->threads) thread->stop();
}

void Loop::post(Fn fn) {
  next().post(std::move(fn));
}
bool Loop::onIoThread() const {
  return currentThreadLoop == this;
}
IoThread& Loop::next() {
  return *impl_->threads[impl_->turn++ % impl_->threads.size()];
}

struct Deadline::State : std::enable_shared_from_this<State> {
  State(IoThread& io, Fn fn) : timer(io.context()), onExpired(std::move(fn)) {}

  void arm(MonoTime when) {
    armedFor = when;
    timer.expires_at(std::chrono::steady_clock::time_point(when));
    timer.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error) self->wake();
    });
  }

  void wake() {
    armedFor.reset();
    if (!alive || !target) return;
    if (realClock().mono() < *target) return arm(*target);
    target.reset();
    onExpired();
  }

  asio::steady_timer timer;
  Fn onExpired;
  std::optional<MonoTime> target;
  std::optional<MonoTime> armedFor;
  bool alive = true;
};

Deadline::Deadline(IoThread& io, Fn onExpired)
    : state_(std::make_shared<State>(io, std::move(onExpired))) {}

Deadline::~Deadline() {
  state_->alive = false;
  state_->timer.cancel();
}

void Deadline::in(Duration delay) {
  if (delay <= Duration::zero() || delay > kForever) return clear();
  MonoTime when = realClock().mono() + delay;
  state_->target = when;
  if (!state_->armedFor || when < *state_->armedFor) state_->arm(when);
}

void Deadline::clear() {
  state_->target.reset();
}

}  // namespace mangrove::net
