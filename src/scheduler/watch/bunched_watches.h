#pragma once
// A client that hands the events of pods over in bunches while the scheduler has hundreds of
// requests under way. Each of them comes back as an event of its own, and waking the owner for each
// costs more than what it then does. Nobody waits for them one by one: what was decided is known.
//
//   BunchedWatches watches(client, [&] { return isBusy(); });
//   …                                   // informers of the scheduler use `watches`
//   watches.flush();          // whenever the owner is awake anyway, at least every second
//
// `busy` is asked on the client's threads; flush() may be called from any thread. Everything but
// events of pods passes through untouched.

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "client/api_client.h"

namespace mangrove::scheduler {

class BunchedWatches final : public client::ApiClient {
 public:
  // Bytes; more are not held back. Larger pieces make the allocator tidy up each time they go.
  static constexpr size_t kBunch = size_t{32} << 10;

  BunchedWatches(client::ApiClient& client, std::function<bool()> busy)
      : client_(client), busy_(std::move(busy)) {}

  using ApiClient::submit;
  void submit(client::Request request, Done done) override {
    client_.submit(std::move(request), std::move(done));
  }
  [[nodiscard]] std::unique_ptr<client::Watch> watch(client::WatchRequest request,
                                                     client::WatchHandler handler) override;
  std::string server() const override { return client_.server(); }

  void flush();

 private:
  class Bunch;
  class Handle;
  client::ApiClient& client_;
  std::function<bool()> busy_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Bunch>> bunches_;
};

}  // namespace mangrove::scheduler
