#include "net/server/server_session.h"

#include "net/server/server_exchange.h"

namespace mangrove::net {
namespace {
// Pipelined requests that wait for their turn; more stay in the kernel.
constexpr size_t kMaxPipelined = 256 * 1024;
// How long and how much we listen to a client after our last word. Closing at once would reset the
// connection and could take the answer from it.
constexpr Duration kLingerTime = std::chrono::seconds(2);
}  // namespace

ServerSession::ServerSession(IoThread& io, TransportPtr transport, std::shared_ptr<ServerCore> core)
    : io_(io),
      transport_(std::move(transport)),
      core_(std::move(core)),
      outbox_(std::make_shared<Outbox>(transport_, this)),
      deadline_(io, [this] { onDeadline(); }),
      buffer_(std::make_unique<std::array<char, kReadSize>>()),
      reader_(core_->limits()) {}

ServerSession::~ServerSession() {
  if (upgraded_) upgraded_->forgetReader();
}

void ServerSession::start() {
  deadline_.in(core_->options().readHeaderTimeout);
  transport_->handshake([self = shared_from_this()](Result<> done) {
    if (self->state_ == State::kClosed) return;
    if (!done) {
      ++self->core_->refused;
      return self->close();
    }
    self->peer_ = self->transport_->peer();
    self->nextRequest();
    // The first request must follow the connection soon; later ones may take their time.
    self->deadline_.in(self->core_->options().readHeaderTimeout);
  });
}

void ServerSession::turnAway() {
  state_ = State::kHead;
  refuse({503, "the server has too many connections"});
}

void ServerSession::nextRequest() {
  if (core_->closing()) return close();
  releaseBody();
  reader_ = RequestReader(core_->limits());
  state_ = State::kIdle;
  idleSince_ = core_->idleClock++;
  deadline_.in(core_->options().idleTimeout);
  if (in_.empty()) return ended_ ? close() : read();
  consume();
}

void ServerSession::read() {
  if (readPending_ || ended_ || state_ == State::kClosed) return;
  readPending_ = true;
  transport_->read(buffer_->data(), buffer_->size(), [self = shared_from_this()](IoResult result) {
    self->onRead(std::move(result));
  });
}

void ServerSession::onRead(IoResult result) {
  readPending_ = false;
  std::string_view data(buffer_->data(), result.bytes);
  if (auto stream = std::exchange(upgraded_, nullptr)) return stream->onRead(result, data);
  if (state_ == State::kClosed) return;
  if (!result.ok()) return onReadEnd(result);
  if (state_ == State::kLinger) return read();
  in_ += data;
  if (state_ == State::kIdle || state_ == State::kHead || state_ == State::kBody) return consume();
  if (state_ == State::kChecking) return;
  if (in_.size() < kMaxPipelined) read();
}

// A client may close its sending half and still want the answer, but a stream nobody listens to is
// over.
void ServerSession::onReadEnd(const IoResult& result) {
  ended_ = true;
  bool broken = result.kind != IoResult::Kind::kEnd;
  switch (state_) {
    case State::kStreaming:
      return abortStream(Error(Code::kCancelled, "the client went away"));
    case State::kHandling:
    case State::kReplying:
    case State::kUpgrading:
      keepAlive_ = false;
      if (broken) close();
      return;
    case State::kHead:
    case State::kChecking:
    case State::kBody:
      ++core_->refused;
      return close();
    default:
      return close();
  }
}

void ServerSession::consume() {
  if (state_ == State::kIdle) {
    state_ = State::kHead;
    idleSince_ = 0;
    deadline_.in(core_->options().readHeaderTimeout);
  }
  in_.erase(0, reader_.take(in_));
  if (reader_.error()) return refuse(*reader_.error());
  if (reader_.headDone() && state_ == State::kHead) onHead();
  if (state_ == State::kChecking) return;
  if (state_ == State::kBody && !holdBody())
    return refuse({429, "too many bodies of senders who have not said who they are; try later"});
  if (reader_.done()) return dispatch();
  if (ended_) return close();
  read();
}

void ServerSession::onHead() {
  state_ = State::kBody;
  known_ = true;
  if (reader_.done()) return;
  deadline_.in(core_->options().readBodyTimeout);
  core_->options().checkHead ? checkHead() : readBody();
}

void ServerSession::readBody() {
  if (reader_.expectsContinue() && in_.empty()) outbox_->add(std::string(kContinue));
}

void ServerSession::checkHead() {
  state_ = State::kChecking;
  known_ = false;
  reader_.request().peer = peer_;
  auto verdict = [&io = io_, weak = weak_from_this(), turn = turn_](HeadVerdict said) {
    io.post([weak, turn, said = std::move(said)]() mutable {
      if (auto self = weak.lock()) self->onVerdict(turn, std::move(said));
    });
  };
  core_->options().checkHead(reader_.request(), std::move(verdict));
}

void ServerSession::onVerdict(uint64_t turn, HeadVerdict verdict) {
  if (state_ != State::kChecking || turn != turn_) return;
  if (verdict.refusal) return refuseWith(std::move(*verdict.refusal));
  known_ = verdict.known;
  state_ = State::kBody;
  readBody();
  consume();
}

// What has come of the body, on the account of those who are not known.
bool ServerSession::holdBody() {
  if (known_) return true;
  const size_t more = reader_.bodySize() - held_;
  if (!core_->holdStranger(more)) return false;
  held_ += more;
  return true;
}

void ServerSession::releaseBody() {
  if (held_ > 0) core_->releaseStranger(std::exchange(held_, 0));
}

void ServerSession::dispatch() {
  state_ = State::kHandling;
  deadline_.clear();
  ++core_->requests;
  HttpRequest request = std::move(reader_.request());
  request.body = reader_.takeBody();
  request.peer = peer_;
  keepAlive_ = reader_.keepAlive() && reader_.isHttp11() && !ended_;
  isHttp11_ = reader_.isHttp11();
  isHead_ = request.method == "HEAD";
  if (in_.size() < kMaxPipelined) read();
  auto maxQueued = static_cast<size_t>(core_->options().maxQueued.v);
  core_->handler()(
      std::make_shared<ServerExchange>(shared_from_this(), maxQueued, ++turn_, std::move(request)));
}

void ServerSession::refuse(const WireError& error) {
  refuseWith(HttpResponse::text(error.status, error.sentence + "\n"));
}

void ServerSession::refuseWith(HttpResponse response) {
  ++core_->refused;
  keepAlive_ = false;
  state_ = State::kReplying;
  ResponseFraming framing{ResponseFraming::Body::kLength, response.body.size(), false};
  sendWhole(response, framing, std::move(response.body));
}

void ServerSession::onDeadline() {
  auto self = shared_from_this();
  switch (state_) {
    case State::kHead:
      return refuse({408, "the head of the request took too long"});
    case State::kChecking:
    case State::kBody:
      return refuse({408, "the body of the request took too long"});
    case State::kStreaming:
      return abortStream(Error(Code::kTimeout, "the reader takes nothing"));
    default:
      return close();
  }
}

bool ServerSession::keepAliveAfter(const HttpResponse& response) const {
  return keepAlive_ && !core_->closing() && !response.headers.hasToken("Connection", "close");
}

void ServerSession::sendWhole(const HttpResponse& response, ResponseFraming framing,
                              std::string body) {
  framing.keepAlive = keepAlive_;
  deadline_.in(core_->options().writeTimeout);
  outbox_->add(responseHead(response, framing, core_->date()), std::move(body));
}

void ServerSession::send(std::string data) {
  if (data.empty()) return;
  if (outbox_->empty()) deadline_.in(core_->options().writeTimeout);
  outbox_->add(std::move(data));
}

void ServerSession::reply(uint64_t turn, HttpResponse response) {
  if (!awaited(turn)) return;
  state_ = State::kReplying;
  keepAlive_ = keepAliveAfter(response);
  bool bodiless = response.status / 100 == 1 || response.status == 204 || response.status == 304;
  ResponseFraming framing;
  framing.length = response.body.size();
  if (bodiless) framing.body = ResponseFraming::Body::kNone;
  sendWhole(response, framing, bodiless || isHead_ ? "" : std::move(response.body));
}

void ServerSession::startStream(uint64_t turn, const HttpResponse& head,
                                std::shared_ptr<ResponseQueue> queue) {
  if (!awaited(turn)) return queue->end(Error(Code::kCancelled, "the client went away"));
  state_ = State::kStreaming;
  stream_ = std::move(queue);
  chunked_ = isHttp11_;
  keepAlive_ = keepAliveAfter(head) && chunked_;
  using Body = ResponseFraming::Body;
  ResponseFraming framing{chunked_ ? Body::kChunked : Body::kUntilClose, 0, keepAlive_};
  std::string text = responseHead(head, framing, core_->date());
  stream_->adjust(static_cast<int64_t>(text.size()));
  send(std::move(text));
  if (ended_) return abortStream(Error(Code::kCancelled, "the client went away"));
  if (core_->closing()) return beginShutdown();
  flushStream(*stream_);
}

void ServerSession::flushStream(ResponseQueue& queue) {
  if (stream_.get() != &queue) return;
  auto [data, last] = queue.take();
  std::string text = isHead_ ? "" : chunked_ ? chunk(data) : data;
  if (last && chunked_ && !isHead_) text += kLastChunk;
  queue.adjust(static_cast<int64_t>(text.size()) - static_cast<int64_t>(data.size()));
  send(std::move(text));
  if (!last) return;
  stream_.reset();
  state_ = State::kReplying;
  if (outbox_->empty()) onDrained();
}

void ServerSession::abortStream(Error why) {
  if (state_ != State::kStreaming) return;
  auto self = shared_from_this();
  auto stream = std::move(stream_);
  close();
  stream->end(std::move(why));
}

void ServerSession::upgrade(uint64_t turn, const HttpResponse& head, UpgradeDone done) {
  if (!awaited(turn) || ended_) return done(nullptr);
  upgradeSeat_ = ServerCore::takeUpgrade(core_);
  if (!upgradeSeat_) {
    refuse({503, "too many upgraded connections (exec, attach, port-forward); close some"});
    return done(nullptr);
  }
  state_ = State::kUpgrading;
  upgradeDone_ = std::move(done);
  sendWhole(head, {}, "");
}

void ServerSession::handOver() {
  auto self = shared_from_this();
  outbox_->detach();
  upgraded_ = std::make_shared<ByteStreamCore>(io_, transport_, std::move(in_), readPending_);
  upgraded_->keep(core_->options().upgradedIdle, std::move(upgradeSeat_));
  leave();
  std::exchange(upgradeDone_, nullptr)(upgraded_->handle());
  if (!readPending_) upgraded_.reset();
}

void ServerSession::linger() {
  if (ended_) return close();
  // Who is still sending the body of a refused request would take our farewell for a failure and
  // never read the answer.
  const bool midway = !reader_.done();
  state_ = State::kLinger;
  in_.clear();
  if (!midway) transport_->finish();
  deadline_.in(kLingerTime);
  read();
}

void ServerSession::beginShutdown() {
  keepAlive_ = false;
  if (state_ == State::kIdle || state_ == State::kHandshake) return close();
  if (state_ != State::kStreaming) return;
  auto self = shared_from_this();
  auto stream = stream_;
  stream->endAfterRest(Error(Code::kUnavailable, "the server shuts down"));
  flushStream(*stream);
  stream->tellEnd();
}

void ServerSession::closeIfIdle() {
  if (state_ == State::kIdle) close();
}

void ServerSession::leave() {
  state_ = State::kClosed;
  releaseBody();
  idleSince_ = 0;
  deadline_.clear();
  core_->leave(this);
}

void ServerSession::close() {
  if (state_ == State::kClosed) return;
  auto self = shared_from_this();
  outbox_->detach();
  transport_->close();
  leave();
  if (upgradeDone_) std::exchange(upgradeDone_, nullptr)(nullptr);
  if (stream_) std::exchange(stream_, nullptr)->end(Error(Code::kCancelled, "connection closed"));
}

void ServerSession::onWritten(size_t bytes) {
  if (stream_) stream_->adjust(-static_cast<int64_t>(bytes));
  bool replying = state_ == State::kReplying || state_ == State::kStreaming;
  if (replying) deadline_.in(core_->options().writeTimeout);
}

void ServerSession::onDrained() {
  auto self = shared_from_this();
  switch (state_) {
    case State::kReplying:
      releaseBody();
      return keepAlive_ ? nextRequest() : linger();
    case State::kStreaming:
      deadline_.clear();
      return stream_->drained();
    case State::kUpgrading:
      return handOver();
    default:
      return;
  }
}

void ServerSession::onWriteBroken(const std::string& why) {
  if (state_ == State::kStreaming)
    return abortStream(Error(Code::kCancelled, "the client went away: " + why));
  close();
}

}  // namespace mangrove::net
