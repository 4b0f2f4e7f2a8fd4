#include "net/client/client_job.h"

#include "base/text/time_text.h"
#include "net/client/client_connection.h"
#include "net/client/client_pool.h"

namespace mangrove::net {

void ClientJob::end(Result<> result) {
  if (std::exchange(ended_, true)) return;
  auto self = shared_from_this();
  deadline_.reset();
  connection.reset();
  if (!result) result = result.error().in("{}", name);
  onEnd(std::move(result));
}

namespace {
// The pool holds the job while it runs, so the timer may hold the pool weakly and the job not at
// all.
Fn giveUp(ClientJob& job, const std::shared_ptr<ClientPool>& pool, Duration timeout) {
  return [&job, weak = std::weak_ptr(pool), timeout] {
    if (auto alive = weak.lock())
      alive->cancel(job, Code::kTimeout, "no complete answer within " + formatDuration(timeout));
  };
}
}  // namespace

void CallJob::begin(const std::shared_ptr<ClientPool>& pool) {
  deadline_.emplace(pool->io(), giveUp(*this, pool, timeout_));
  deadline_->in(timeout_);
}

void CallJob::onEnd(Result<> result) {
  auto done = std::exchange(done_, nullptr);
  if (!result) return done(Failure(result.error()));
  done(std::move(response_));
}

void UpgradeJob::begin(const std::shared_ptr<ClientPool>& pool) {
  deadline_.emplace(pool->io(), giveUp(*this, pool, timeout_));
  deadline_->in(timeout_);
}

void UpgradeJob::onUpgraded(HttpResponse response, std::unique_ptr<ByteStream> stream) {
  answer_ = {std::move(response), std::move(stream)};
}

void UpgradeJob::onEnd(Result<> result) {
  auto done = std::exchange(done_, nullptr);
  if (!result) return done(Failure(result.error()));
  done(std::move(answer_));
}

void StreamJob::begin(const std::shared_ptr<ClientPool>& pool) {
  deadline_.emplace(pool->io(), [this, weak = std::weak_ptr(pool)] {
    if (auto alive = weak.lock()) onDeadline(*alive);
  });
  deadline_->in(options_.firstByteTimeout);
}

void StreamJob::onDeadline(ClientPool& pool) {
  Duration limit = headSeen_ ? options_.idleTimeout : options_.firstByteTimeout;
  if (paused_) return deadline_->in(limit);
  pool.cancel(*this, Code::kTimeout,
              (headSeen_ ? "no data for " : "no answer within ") + formatDuration(limit));
}

void StreamJob::onBytes() {
  if (headSeen_ && deadline_) deadline_->in(options_.idleTimeout);
}

void StreamJob::onHead(HttpResponse response) {
  headSeen_ = true;
  deadline_->in(options_.idleTimeout);
  gate_.pass([&] {
    if (handler_.onHead) handler_.onHead(std::move(response));
  });
}

void StreamJob::onData(std::string data) {
  gate_.pass([&] {
    if (handler_.onData) handler_.onData(data);
  });
}

void StreamJob::onEnd(Result<> result) {
  gate_.pass([&] {
    if (handler_.onEnd) handler_.onEnd(std::move(result));
  });
}

void StreamJob::resumed() {
  if (ended()) return;
  onBytes();
  if (auto alive = connection.lock()) alive->resume();
}

}  // namespace mangrove::net
