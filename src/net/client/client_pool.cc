#include "net/client/client_pool.h"

#include <algorithm>

namespace mangrove::net {

namespace {

constexpr size_t kFewIdle = 8;
constexpr Duration kAfterBurst = std::chrono::seconds(15);

}  // namespace

ClientPool::ClientPool(Loop& loop, ClientOptions options, std::shared_ptr<TlsContext> tls)
    : loop_(loop), io_(loop.next()), options_(std::move(options)), tls_(std::move(tls)) {}

void ClientPool::submit(std::shared_ptr<ClientJob> job) {
  auto refuse = [&](Code code, std::string sentence) {
    job->end(Failure(Error(code, std::move(sentence), kNeverSent)));
  };
  if (job->ended()) return;
  if (closed_) return refuse(Code::kCancelled, "the client is closed");
  bool busy = !job->ownConnection && calls_ >= options_.maxConnections;
  bool full = job->ownConnection
                  ? streams_ >= options_.maxStreams
                  : busy && waiting_.size() >= static_cast<size_t>(options_.maxWaiting);
  if (full)
    return refuse(Code::kTooMany, job->ownConnection
                                      ? fmt::format("{} streams are open already", streams_)
                                      : fmt::format("{} requests wait already", waiting_.size()));
  job->begin(shared_from_this());
  if (busy) return waiting_.push_back(std::move(job));
  start(job, false);
}

void ClientPool::start(const std::shared_ptr<ClientJob>& job, bool fresh) {
  ++(job->ownConnection ? streams_ : calls_);
  running_.push_back(job);
  if (auto connection = fresh ? nullptr : takeIdle()) return connection->run(job);
  ++opened_;
  auto connection = std::make_shared<ClientConnection>(*this);
  connections_.emplace(connection.get(), connection);
  connection->connect(job);
}

std::shared_ptr<ClientConnection> ClientPool::takeIdle() {
  while (!idle_.empty()) {
    auto connection = idle_.back();
    idle_.pop_back();
    if (!connection->looksClosed()) return connection;
    connection->close();
  }
  return nullptr;
}

void ClientPool::release(const ClientJob& job) {
  --(job.ownConnection ? streams_ : calls_);
  std::erase_if(running_, [&](const auto& other) { return other.get() == &job; });
}

void ClientPool::startWaiting() {
  while (!waiting_.empty() && calls_ < options_.maxConnections && !closed_) {
    auto job = std::move(waiting_.front());
    waiting_.pop_front();
    start(job, false);
  }
}

void ClientPool::keepIdle(const std::shared_ptr<ClientConnection>& connection) {
  if (!connections_.contains(connection.get())) return;
  bool wanted = !waiting_.empty() || idle_.size() < static_cast<size_t>(options_.maxIdle);
  if (!wanted) return connection->close();
  idle_.push_back(connection);
}

Duration ClientPool::idleTime() const {
  return idle_.size() < kFewIdle ? options_.idleTimeout
                                 : std::min(options_.idleTimeout, kAfterBurst);
}

void ClientPool::onFinished(const std::shared_ptr<ClientConnection>& connection, ClientJob& job) {
  release(job);
  keepIdle(connection);
  startWaiting();
}

void ClientPool::onFailed(const std::shared_ptr<ClientJob>& job, Error error, bool stale) {
  release(*job);
  job->everSent |= mayHaveBeenSent(error);
  bool harmless = job->mayReplay || !job->everSent;
  if (stale && harmless && !job->replayed && !closed_) {
    job->replayed = true;
    ++replayed_;
    return start(job, true);
  }
  startWaiting();
  job->end(Failure(Error(error.code(), error.text(), job->everSent ? kMaybeSent : kNeverSent)));
}

void ClientPool::onClosed(ClientConnection* connection) {
  std::erase_if(idle_, [&](const auto& other) { return other.get() == connection; });
  connections_.erase(connection);
}

void ClientPool::cancel(ClientJob& job, Code code, std::string sentence) {
  if (job.ended()) return;
  auto keep = job.shared_from_this();
  if (auto waits = std::find(waiting_.begin(), waiting_.end(), keep); waits != waiting_.end()) {
    waiting_.erase(waits);
  } else if (auto connection = job.connection.lock()) {
    job.everSent |= connection->sent();
    connection->close();
    release(job);
    startWaiting();
  }
  job.end(Failure(Error(code, std::move(sentence), job.everSent ? kMaybeSent : kNeverSent)));
}

void ClientPool::shutdown() {
  closed_ = true;
  while (!waiting_.empty()) cancel(*waiting_.front(), Code::kCancelled, "the client was closed");
  while (!running_.empty()) cancel(*running_.front(), Code::kCancelled, "the client was closed");
  while (!connections_.empty()) connections_.begin()->second->close();
}

void ClientPool::setTls(std::shared_ptr<TlsContext> tls) {
  tls_ = std::move(tls);
  for (auto& [raw, connection] : connections_) connection->retire();
  while (!idle_.empty()) idle_.back()->close();
}

ClientStats ClientPool::stats() const {
  return {opened_, running_.size(), idle_.size(), waiting_.size(), replayed_};
}

}  // namespace mangrove::net
