#include "net/server/server_exchange.h"

#include "base/os/log.h"

namespace mangrove::net {
namespace {
const Logger& logger() {
  static const Logger log("net");
  return log;
}
}  // namespace

ServerExchange::ServerExchange(const std::shared_ptr<ServerSession>& session, size_t maxQueued,
                               uint64_t turn, HttpRequest request)
    : io_(session->io()),
      session_(session),
      maxQueued_(maxQueued),
      turn_(turn),
      request_(std::move(request)) {}

ServerExchange::~ServerExchange() {
  if (answered_) return;
  logger().error("no answer was given to {} {}", request_.method, request_.target);
  reply(HttpResponse::text(500, "the server gave no answer\n"));
}

void ServerExchange::reply(HttpResponse response) {
  if (!claim()) return;
  io_.dispatch([session = session_, turn = turn_, response = std::move(response)]() mutable {
    if (auto alive = session.lock()) alive->reply(turn, std::move(response));
  });
}

std::unique_ptr<ResponseStream> ServerExchange::stream(HttpResponse head) {
  auto queue = std::make_shared<ResponseQueue>(io_, session_, maxQueued_);
  auto handle = makeResponseStream(queue);
  if (!claim()) {
    queue->end(Error(Code::kInvalid, "the request has been answered already"));
    return handle;
  }
  std::string first = std::exchange(head.body, {});
  io_.dispatch([session = session_, turn = turn_, head = std::move(head), queue] {
    if (auto alive = session.lock()) return alive->startStream(turn, head, queue);
    queue->end(Error(Code::kCancelled, "the client went away"));
  });
  if (!first.empty()) handle->write(std::move(first));
  return handle;
}

void ServerExchange::upgrade(HttpResponse head, ServerSession::UpgradeDone done) {
  if (!claim()) return done(nullptr);
  io_.dispatch(
      [session = session_, turn = turn_, head = std::move(head), done = std::move(done)]() mutable {
        if (auto alive = session.lock()) return alive->upgrade(turn, head, std::move(done));
        done(nullptr);
      });
}

}  // namespace mangrove::net
