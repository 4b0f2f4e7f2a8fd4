#pragma once
// client::ApiClient without a socket: the server's whole request path — authorisation, defaulting,
// admission, validation — as one identity. Completions follow the commit, like those of any client.
//
//   InProcessClient client(owner, server, Identity::system());
//
// Any thread may call it; callbacks run on the server's owner thread. The blocking forms must not
// be used on that thread. Callbacks post to mailboxes of whoever asked: before those go, close() on
// the server's owner thread. Requests that are under way then go on, and nobody hears of their end.

#include <memory>

#include "apiserver/core/server.h"
#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::apiserver {

class InProcessClient final : public client::ApiClient {
 public:
  using client::ApiClient::submit;

  InProcessClient(Mailbox& owner, Server& server, Identity who, std::string userAgent = "mangrove");
  ~InProcessClient() override;

  // No callback runs after this, and what is submitted later is dropped.
  void close();

  void submit(client::Request request, Done done) override;
  [[nodiscard]] std::unique_ptr<client::Watch> watch(client::WatchRequest request,
                                                     client::WatchHandler handler) override;
  std::string server() const override { return "this process"; }

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mangrove::apiserver
