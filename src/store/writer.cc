#include "store/writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/os/log.h"

namespace mangrove::store {
namespace {

const Logger log("store");

// Enough to spread an fsync over, little enough that the first of them does not wait for long.
constexpr size_t kBatchItems = 1024;

}  // namespace

Writer::Writer(Database database, Limits limits, Fn told)
    : limits_(limits),
      told_(std::move(told)),
      database_(std::move(database)),
      foldAt_(static_cast<size_t>(limits.wal.v)),
      thread_([this] { run(); }) {}

Writer::~Writer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakeWriter_.notify_one();
  thread_.join();
  for (Copying& one : copies_) one.copied(fail(Code::kCancelled, "the store is closing"));
}

void Writer::copy(std::string path, Copied copied) {
  {
    std::lock_guard lock(mutex_);
    copies_.push_back({std::move(path), std::move(copied), std::nullopt});
  }
  wakeWriter_.notify_one();
}

void Writer::queue(WriteItem item) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(item));
  }
  wakeWriter_.notify_one();
}

std::vector<Outcome> Writer::takeOutcomes() {
  std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

void Writer::resume() {
  std::vector<WriteItem> dropped;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(queue_);
    halted_ = false;
  }
  wakeWriter_.notify_one();
}

void Writer::wait() {
  std::unique_lock lock(mutex_);
  wakeOwner_.wait(lock, [this] { return halted_ || (queue_.empty() && !busy_); });
}

Writer::Job Writer::next(std::vector<WriteItem>& batch) {
  std::unique_lock lock(mutex_);
  const auto something = [this] { return stopping_ || ready() || !copies_.empty(); };
  if (database_.walBytes() == 0)
    wakeWriter_.wait(lock, something);
  else if (!wakeWriter_.wait_for(lock, limits_.idle, something))
    return Job::kFold;
  if (!ready()) return stopping_ ? Job::kStop : Job::kCopy;
  const size_t take = std::min(queue_.size(), kBatchItems);
  batch.assign(std::make_move_iterator(queue_.begin()),
               std::make_move_iterator(queue_.begin() + static_cast<std::ptrdiff_t>(take)));
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(take));
  busy_ = true;
  return Job::kWrite;
}

void Writer::run() {
  std::vector<WriteItem> batch;
  for (;;) {
    const Job job = next(batch);
    if (job == Job::kStop) return;
    if (job == Job::kWrite) writeBatch(batch);
    batch.clear();
    copySome();  // after every batch too, so that a store that never rests is copied as well
    if (job == Job::kFold || database_.walBytes() > foldAt_) fold();
  }
}

void Writer::writeBatch(const std::vector<WriteItem>& batch) {
  Outcome outcome{batch.back().sequence, std::nullopt};
  const MonoTime from = realClock().mono();
  if (auto written = database_.write(batch); !written) outcome.error = written.error();
  outcome.batch = {batch.size(), realClock().mono() - from, outcome.error.has_value()};
  {
    std::lock_guard lock(mutex_);
    busy_ = false;
    halted_ = outcome.error.has_value();
    outcomes_.push_back(std::move(outcome));
  }
  wakeOwner_.notify_one();
  told_();
}

void Writer::copySome() {
  Copying* first = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (copies_.empty()) return;
    first = &copies_.front();  // others are only added behind it
  }
  if (!first->copy) {
    auto started = database_.copyTo(first->path);
    if (!started) return endCopy(pass(started.error()));
    first->copy.emplace(std::move(*started));
  }
  auto whole = first->copy->step();
  if (!whole) return endCopy(pass(whole.error()));
  if (*whole) endCopy(first->copy->revision());
}

void Writer::endCopy(Result<Revision> outcome) {
  std::optional<Copying> done;
  {
    std::lock_guard lock(mutex_);
    done.emplace(std::move(copies_.front()));
    copies_.pop_front();
  }
  done->copied(std::move(outcome));
}

// Not being able to fold loses nothing, the log only grows. The next try comes when it has grown by
// as much again, so that a full disk does not cost a try per write.
void Writer::fold() {
  const auto limit = static_cast<size_t>(limits_.wal.v);
  auto folded = database_.fold();
  foldAt_ = folded ? limit : database_.walBytes() + limit;
  if (!folded) log.warn("cannot fold the log into the database: {}", folded.error().text());
}

}  // namespace mangrove::store
