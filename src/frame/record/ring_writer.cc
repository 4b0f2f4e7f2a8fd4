#include "frame/record/ring_writer.h"

#include <future>

#include <pthread.h>

namespace mangrove::frame::record {
namespace {

// Beyond it the disk is too slow for what comes in; a role's memory is worth more than a recording.
constexpr size_t kMostQueued = 64 * 1024 * 1024;

}  // namespace

Result<std::unique_ptr<RingWriter>> RingWriter::open(std::string path, uint64_t limit) {
  auto ring = RingFile::open(std::move(path), limit);
  if (!ring) return pass(ring.error());
  return std::unique_ptr<RingWriter>(new RingWriter(std::move(*ring)));
}

RingWriter::RingWriter(std::unique_ptr<RingFile> ring) : ring_(std::move(ring)) {
  // A name of its own: what recording costs can be seen from outside.
  thread_.mailbox().post([] { ::pthread_setname_np(::pthread_self(), "record"); });
}

RingWriter::~RingWriter() {
  thread_.mailbox().post([this] {
    if (state()) keep(ring_->append(packer_.end()));
  });
  wait();
}

void RingWriter::append(std::string bytes) {
  if (bytes.empty() || !state()) return;
  if (queued_.fetch_add(bytes.size()) > kMostQueued)
    return keep(fail(Code::kUnavailable, "the disk does not keep up: {} MiB wait for it",
                     kMostQueued / 1024 / 1024));
  thread_.mailbox().post([this, bytes = std::move(bytes)] {
    if (state()) keep(ring_->append(packer_.pack(bytes)));
    queued_ -= bytes.size();
    if (ring_->isFull()) full_ = writes_;
  });
}

void RingWriter::next() {
  file_++;
  thread_.mailbox().post([this] {
    writes_++;
    if (state()) keep(ring_->append(packer_.end()));
    if (state()) keep(ring_->next());
  });
}

Result<> RingWriter::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

void RingWriter::keep(Result<> outcome) {
  if (outcome) return;
  std::lock_guard lock(mutex_);
  if (state_) state_ = std::move(outcome);
}

void RingWriter::wait() {
  std::promise<void> done;
  thread_.mailbox().post([&] { done.set_value(); });
  done.get_future().wait();
}

}  // namespace mangrove::frame::record
