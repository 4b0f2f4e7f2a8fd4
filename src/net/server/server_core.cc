#include "net/server/server_core.h"

#include "base/clock.h"
#include "net/server/server_session.h"

namespace mangrove::net {
namespace {
WireLimits limitsOf(const ServerOptions& options) {
  return {static_cast<size_t>(options.maxHeader.v), static_cast<size_t>(options.maxTarget.v),
          static_cast<uint64_t>(options.maxBody.v)};
}
}  // namespace

ServerCore::ServerCore(ServerOptions options, Handler handler)
    : options_(std::move(options)), limits_(limitsOf(options_)), handler_(std::move(handler)) {}

std::shared_ptr<TlsContext> ServerCore::tls() const {
  std::lock_guard lock(mutex_);
  return tls_;
}

void ServerCore::setTls(std::shared_ptr<TlsContext> context) {
  std::lock_guard lock(mutex_);
  tls_ = std::move(context);
}

bool ServerCore::admit() {
  std::lock_guard lock(mutex_);
  if (sessions_.size() + upgraded_ < options_.maxConnections) return true;
  ServerSession* longest = nullptr;
  for (const auto& [session, owner] : sessions_)
    if (session->idleSince() && (!longest || session->idleSince() < longest->idleSince()))
      longest = session;
  if (!longest) return false;
  longest->io().post([weak = longest->weak_from_this()] {
    if (auto session = weak.lock()) session->closeIfIdle();
  });
  return true;
}

bool ServerCore::holdStranger(size_t bytes) {
  const auto limit = static_cast<size_t>(options_.maxStrangers.v);
  if (strangers_.fetch_add(bytes) + bytes <= limit) return true;
  strangers_ -= bytes;
  return false;
}

std::shared_ptr<void> ServerCore::takeUpgrade(const std::shared_ptr<ServerCore>& core) {
  if (core->upgraded_.fetch_add(1) >= core->options_.maxUpgraded) {
    --core->upgraded_;
    return nullptr;
  }
  return {core.get(), [core](void*) { --core->upgraded_; }};
}

void ServerCore::enter(const std::shared_ptr<ServerSession>& session) {
  std::lock_guard lock(mutex_);
  sessions_.emplace(session.get(), session);
}

void ServerCore::leave(ServerSession* session) {
  std::lock_guard lock(mutex_);
  sessions_.erase(session);
  left_.notify_all();
}

template <class F>
void ServerCore::tellAll(F&& what) {
  std::lock_guard lock(mutex_);
  for (const auto& [session, owner] : sessions_)
    session->io().post([weak = session->weak_from_this(), what] {
      if (auto alive = weak.lock()) what(*alive);
    });
}

void ServerCore::beginShutdown() {
  closing_ = true;
  tellAll([](ServerSession& session) { session.beginShutdown(); });
}

void ServerCore::abortAll() {
  tellAll([](ServerSession& session) { session.close(); });
}

bool ServerCore::waitEmpty(Duration limit) {
  std::unique_lock lock(mutex_);
  return left_.wait_for(lock, limit, [this] { return sessions_.empty(); });
}

ServerStats ServerCore::stats() const {
  std::lock_guard lock(mutex_);
  return {accepted,    sessions_.size(), requests,
          refused,     upgraded_,        Bytes{static_cast<int64_t>(strangers_.load())},
          acceptPauses};
}

std::string ServerCore::date() {
  WallTime now = realClock().wall();
  int64_t second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  std::lock_guard lock(mutex_);
  if (second != dateSecond_) {
    dateSecond_ = second;
    date_ = httpDate(now);
  }
  return date_;
}

}  // namespace mangrove::net
