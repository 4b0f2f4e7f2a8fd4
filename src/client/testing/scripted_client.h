#pragma once
// An ApiClient without a network: requests pile up until the test answers them, watches are driven
// by hand. Everything happens in the thread that calls, so a test with a VirtualClock and one
// Mailbox is deterministic.
//
//   ScriptedClient api;
//   …                                        // code under test submits a list
//   api.reply(200, R"({"metadata":{"resourceVersion":"5"},"items":[]})");
//   api.watches.back()->send(R"({"type":"ADDED","object":{…}})");

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "client/api_client.h"
#include "client/http/status_error.h"

namespace mangrove::client::testing {

// One watch, still there after its handle is gone so that tests can look at it.
struct ScriptedWatch {
  WatchRequest request;
  WatchHandler handler;
  bool cancelled = false;
  int pauses = 0, resumes = 0;

  void open() {
    if (!cancelled && handler.onOpen) handler.onOpen();
  }
  // Lines without their ends.
  bool send(const std::string& line) { return sendRaw(line + "\n"); }
  bool sendRaw(std::string lines) {
    return cancelled || !handler.onEvents || handler.onEvents(std::move(lines));
  }
  void end(Result<> result = {}) {
    if (cancelled) return;
    cancelled = true;
    if (handler.onEnd) handler.onEnd(std::move(result));
  }
};

class ScriptedClient final : public ApiClient {
 public:
  using ApiClient::submit;
  void submit(Request request, Done done) override {
    pending.emplace_back(std::move(request), std::move(done));
  }
  std::unique_ptr<Watch> watch(WatchRequest request, WatchHandler handler) override {
    auto one = std::make_shared<ScriptedWatch>();
    one->request = std::move(request);
    one->handler = std::move(handler);
    watches.push_back(one);
    return std::make_unique<Handle>(one);
  }
  std::string server() const override { return "scripted"; }

  // Answers the oldest request.
  void reply(int status, std::string body) {
    auto [request, done] = take();
    if (status >= 400) return done(Failure(statusError(status, body, describe(request), server())));
    Reply out;
    out.status = status;
    out.body = std::move(body);
    done(std::move(out));
  }
  void fail(Code code, std::string sentence) {
    auto [request, done] = take();
    done(Failure(Error(code, std::move(sentence))));
  }
  const Request& next() const {
    CHECK(!pending.empty(), "no request is waiting");
    return pending.front().first;
  }

  std::deque<std::pair<Request, Done>> pending;
  std::vector<std::shared_ptr<ScriptedWatch>> watches;

 private:
  class Handle final : public Watch {
   public:
    explicit Handle(std::shared_ptr<ScriptedWatch> watch) : watch_(std::move(watch)) {}
    ~Handle() override { watch_->cancelled = true; }
    void pause() override { ++watch_->pauses; }
    void resume() override { ++watch_->resumes; }

   private:
    std::shared_ptr<ScriptedWatch> watch_;
  };

  std::pair<Request, Done> take() {
    CHECK(!pending.empty(), "no request is waiting");
    auto first = std::move(pending.front());
    pending.pop_front();
    return first;
  }
};

}  // namespace mangrove::client::testing
