#pragma once
// The Exchange of a request that came over a connection. Internal to net/.

#include <atomic>

#include "net/server/server_session.h"

namespace mangrove::net {

class ServerExchange final : public Exchange {
 public:
  ServerExchange(const std::shared_ptr<ServerSession>& session, size_t maxQueued, uint64_t turn,
                 HttpRequest request);
  ~ServerExchange() override;

  const HttpRequest& request() const override { return request_; }
  void reply(HttpResponse response) override;
  std::unique_ptr<ResponseStream> stream(HttpResponse head) override;
  void upgrade(HttpResponse head, ServerSession::UpgradeDone done) override;

 private:
  bool claim() { return !answered_.exchange(true); }

  IoThread& io_;
  const std::weak_ptr<ServerSession> session_;
  const size_t maxQueued_;
  const uint64_t turn_;
  const HttpRequest request_;
  std::atomic<bool> answered_ = false;
};

}  // namespace mangrove::net
