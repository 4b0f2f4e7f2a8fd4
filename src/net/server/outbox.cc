#include "net/server/outbox.h"

namespace mangrove::net {
namespace {
// Beyond this, copying costs more than a separate write.
constexpr size_t kMergeLimit = 64 * 1024;
// One write at most, so that a slow reader shows progress before a large body is through.
constexpr size_t kWriteLimit = 256 * 1024;
}  // namespace

void Outbox::add(std::string data) {
  if (data.empty() || !user_) return;
  // The front may be in the kernel's hands, so only a later piece can grow.
  bool canGrow = queue_.size() > (writing_ ? 1u : 0u);
  if (canGrow && queue_.back().size() + data.size() <= kMergeLimit)
    queue_.back() += data;
  else
    queue_.push_back(std::move(data));
  pump();
}

void Outbox::add(std::string head, std::string body) {
  bool together = body.size() <= kMergeLimit;
  if (together) head += body;
  add(std::move(head));
  if (!together) add(std::move(body));
}

void Outbox::detach() {
  user_ = nullptr;
  if (!writing_) queue_.clear();
}

void Outbox::pump() {
  if (writing_ || queue_.empty() || !user_) return;
  writing_ = true;
  std::string_view rest = std::string_view(queue_.front()).substr(offset_, kWriteLimit);
  transport_->write(
      rest, [self = shared_from_this()](IoResult result) { self->onWrite(std::move(result)); });
}

void Outbox::onWrite(IoResult result) {
  writing_ = false;
  if (!user_) return queue_.clear();
  if (!result.ok()) {
    queue_.clear();
    return user_->onWriteBroken(result.why.empty() ? "connection closed" : result.why);
  }
  offset_ += result.bytes;
  if (offset_ == queue_.front().size()) {
    queue_.pop_front();
    offset_ = 0;
  }
  user_->onWritten(result.bytes);
  if (!user_) return;
  if (queue_.empty()) return user_->onDrained();
  pump();
}

}  // namespace mangrove::net
