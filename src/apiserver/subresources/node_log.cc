#include "apiserver/subresources/node_log.h"

#include <fmt/core.h>

namespace mangrove::apiserver {

namespace {

class LogTransfer : public std::enable_shared_from_this<LogTransfer> {
 public:
  LogTransfer(Mailbox& owner, std::unique_ptr<frame::LogSource> source,
              std::unique_ptr<AnswerStream> out)
      : owner_(owner), source_(std::move(source)), out_(std::move(out)) {}

  void start() {
    auto weak = weak_from_this();
    // Held by the stream's callbacks: they end with stop(), which drops the stream.
    out_->onClosed([self = shared_from_this()] { self->stop(); });
    out_->onDrained([weak] {
      if (auto self = weak.lock()) self->next();
    });
    next();
  }

 private:
  void next() {
    if (!source_ || reading_) return;
    reading_ = true;
    source_->read([this, weak = weak_from_this(), &owner = owner_](Result<std::string> got) {
      owner.post([this, weak, got = std::move(got)]() mutable {
        if (auto self = weak.lock()) took(std::move(got));
      });
    });
  }

  void took(Result<std::string> got) {
    reading_ = false;
    if (!out_) return;
    if (!got) out_->write(fmt::format("log ended: {}\n", got.error().text()));
    if (!got || got->empty()) return stop();
    if (!out_->write(std::move(*got))) return stop();
    if (out_->queued() == Bytes{0}) next();
  }

  void stop() {
    auto self = shared_from_this();
    source_.reset();
    out_.reset();
  }

  Mailbox& owner_;
  std::unique_ptr<frame::LogSource> source_;
  std::unique_ptr<AnswerStream> out_;
  bool reading_ = false;
};

}  // namespace

void streamLog(Mailbox& owner, std::unique_ptr<frame::LogSource> source, Responder& to) {
  Answer head;
  head.contentType = "text/plain";
  auto out = to.stream(std::move(head));
  if (!out) return;
  std::make_shared<LogTransfer>(owner, std::move(source), std::move(out))->start();
}

}  // namespace mangrove::apiserver
