#pragma once
// One watch over HTTP, from waiting for its turn to its end. Used by HttpApiClient only.

#include <functional>
#include <memory>

#include "base/clock.h"
#include "client/api_client.h"
#include "net/client/http_client.h"
#include "net/http/http.h"

namespace mangrove::client {

// What a watch needs from its client. Both may answer at once or later, on any thread.
struct WatchDoor {
  // Waits for a turn and a credential, then says how to open the stream, or why not.
  struct Opened {
    // Null when the client has gone meanwhile.
    std::function<std::unique_ptr<net::HttpStream>(net::HttpRequest, net::StreamHandler,
                                                   net::StreamOptions)>
        stream;
    net::Headers headers;
    UniqueFn<void(int status)> answered;  // tells the client (metrics, 401)
  };
  std::function<void(UniqueFn<void(Result<Opened>)>)> open;
  // How long to wait before opening again after such an answer; nullopt: report it.
  std::function<std::optional<Duration>(int status, int tries, std::optional<Duration> retryAfter)>
      retryWait;
  Clock* clock = nullptr;
  std::string server;
};

std::unique_ptr<Watch> startHttpWatch(WatchRequest request, WatchHandler handler, WatchDoor door);

}  // namespace mangrove::client
