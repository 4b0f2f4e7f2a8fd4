#include "net/client/client_connection.h"

#include "net/client/client_pool.h"

namespace mangrove::net {

ClientConnection::ClientConnection(ClientPool& pool)
    : pool_(pool), io_(pool.io()), deadline_(pool.io(), [this] { onDeadline(); }) {}

void ClientConnection::connect(std::shared_ptr<ClientJob> job) {
  job_ = std::move(job);
  job_->connection = weak_from_this();
  deadline_.in(pool_.options().connectTimeout);
  connector_.emplace(io_, pool_.options().base,
                     [this](Result<UniqueFd> fd) { onConnected(std::move(fd)); });
}

void ClientConnection::onConnected(Result<UniqueFd> fd) {
  auto self = shared_from_this();
  if (!fd) return fail(fd.error().code(), fd.error().text());
  const Url& url = pool_.options().base;
  if (auto tls = pool_.tls()) {
    auto made = makeTlsClient(io_, std::move(*fd), url.authority(), std::move(tls), url.host);
    if (!made) return fail(made.error().code(), made.error().text());
    transport_ = std::move(*made);
    makeBuffer(kTlsReadSize);
  } else {
    makeBuffer(kReadSize);
    transport_ = makePlainTransport(io_, std::move(*fd), url.authority());
  }
  outbox_ = std::make_shared<Outbox>(transport_, this);
  transport_->handshake([self](Result<> done) { self->onHandshake(std::move(done)); });
}

void ClientConnection::makeBuffer(size_t size) {
  buffer_ = std::make_unique_for_overwrite<char[]>(size);
  bufferSize_ = size;
}

void ClientConnection::onHandshake(Result<> done) {
  if (state_ != State::kConnecting) return;
  if (!done) return fail(done.error().code(), done.error().text());
  deadline_.clear();
  start();
}

void ClientConnection::run(std::shared_ptr<ClientJob> job) {
  job_ = std::move(job);
  job_->connection = weak_from_this();
  used_ = true;
  deadline_.clear();
  start();
}

void ClientConnection::start() {
  state_ = State::kBusy;
  written_ = 0;
  answered_ = headGiven_ = false;
  reader_.emplace(WireLimits{static_cast<size_t>(pool_.options().maxHeader.v), 0, job_->maxBody},
                  job_->isHead);
  // A connection that was never used cannot be stale, so nothing will be sent again.
  outbox_->add(job_->head, used_ ? job_->body : std::move(job_->body));
  read();
}

void ClientConnection::read() {
  if (readPending_ || state_ == State::kClosed) return;
  readPending_ = true;
  transport_->read(buffer_.get(), bufferSize_, [self = shared_from_this()](IoResult result) {
    self->onRead(std::move(result));
  });
}

void ClientConnection::onRead(IoResult result) {
  readPending_ = false;
  std::string_view data(buffer_.get(), result.bytes);
  if (upgraded_) return upgraded_->onRead(result, data);
  if (state_ == State::kClosed) return;
  if (state_ == State::kIdle) return close();  // the server closes, or talks without being asked
  if (!result.ok()) return onReadEnd(result);
  answered_ = true;
  in_ += data;
  job_->onBytes();
  consume();
}

void ClientConnection::onReadEnd(const IoResult& result) {
  const std::string peer = pool_.options().base.authority();
  if (isCertificateRefusal(result.why)) {
    written_ = 0;  // it ended in the server's half of the handshake, before any request
    return fail(Code::kDenied,
                fmt::format("{} refuses our client certificate ({})", peer, result.why));
  }
  if (!answered_) {
    std::string why = result.why.empty() ? "" : " (" + result.why + ")";
    return fail(Code::kUnavailable, peer + " closed the connection without an answer" + why, true);
  }
  if (result.kind == IoResult::Kind::kEnd) {
    retired_ = true;
    reader_->end();
    if (reader_->done()) return consume();
  }
  std::string why = result.why.empty() ? "connection closed" : result.why;
  fail(Code::kUnavailable, fmt::format("{} broke off in the middle of its answer: {}", peer, why));
}

// Callbacks may cancel the job or destroy the client, hence the looks at state_ after each.
void ClientConnection::consume() {
  auto self = shared_from_this();
  while (state_ == State::kBusy && !job_->paused()) {
    in_.erase(0, reader_->take(in_));
    if (reader_->headDone() && !headGiven_ && giveHead()) continue;
    if (state_ != State::kBusy) return;
    giveBody();
    if (state_ != State::kBusy) return;
    if (reader_->error()) return failOn(*reader_->error());
    if (job_->paused()) return;
    return reader_->done() ? finish() : read();
  }
}

// True when it was only an interim answer and another one follows.
bool ClientConnection::giveHead() {
  int status = reader_->response().status;
  if (status == 101 && job_->wantsUpgrade) {
    upgrade(std::move(reader_->response()));
    return false;
  }
  if (status == 101) {
    fail(Code::kInvalid, "the server switches protocols without being asked");
    return false;
  }
  if (status / 100 == 1) {
    reader_.emplace(WireLimits{static_cast<size_t>(pool_.options().maxHeader.v), 0, job_->maxBody},
                    job_->isHead);
    return true;
  }
  headGiven_ = true;
  job_->onHead(std::move(reader_->response()));
  return false;
}

void ClientConnection::giveBody() {
  if (!headGiven_ || !(job_->streams() || reader_->done())) return;
  std::string data = reader_->takeBody();
  if (!data.empty()) job_->onData(std::move(data));
}

void ClientConnection::finish() {
  auto job = std::move(job_);
  bool reusable = reader_->keepAlive() && in_.empty() && outbox_->empty() && !retired_;
  if (reusable) {
    state_ = State::kIdle;
    deadline_.in(pool_.idleTime());
    read();
  } else {
    close();
  }
  pool_.onFinished(shared_from_this(), *job);
  job->end({});
}

void ClientConnection::upgrade(HttpResponse response) {
  auto job = std::move(job_);
  state_ = State::kClosed;
  outbox_->detach();
  deadline_.clear();
  upgraded_ = std::make_shared<ByteStreamCore>(io_, transport_, std::move(in_), readPending_);
  pool_.onFinished(shared_from_this(), *job);
  pool_.onClosed(this);
  job->onUpgraded(std::move(response), upgraded_->handle());
  job->end({});
  if (!readPending_) upgraded_.reset();
}

void ClientConnection::resume() {
  if (state_ == State::kBusy) consume();
}

void ClientConnection::failOn(const WireError& error) {
  bool tooLarge = error.status == 413 || error.status == 431;
  fail(tooLarge ? Code::kTooLarge : Code::kInvalid,
       fmt::format("{} sent an answer we cannot accept: {}", pool_.options().base.authority(),
                   error.sentence));
}

void ClientConnection::fail(Code code, std::string sentence, bool closedEarly) {
  auto self = shared_from_this();
  auto job = std::move(job_);
  Error error(code, std::move(sentence), sent() ? kMaybeSent : kNeverSent);
  bool stale = closedEarly && used_;
  close();
  if (job) pool_.onFailed(job, std::move(error), stale);
}

void ClientConnection::close() {
  if (state_ == State::kClosed) return;
  auto self = shared_from_this();
  state_ = State::kClosed;
  deadline_.clear();
  connector_.reset();
  if (outbox_) outbox_->detach();
  if (transport_) transport_->close();
  pool_.onClosed(this);
}

void ClientConnection::onDeadline() {
  if (state_ == State::kConnecting) {
    std::string action = transport_ ? "TLS handshake with " : "connecting to ";
    return fail(Code::kTimeout, action + pool_.options().base.authority() + " took too long");
  }
  close();
}

// An answer may have come all the same (413 while we still send), so reading decides.
void ClientConnection::onWriteBroken(const std::string&) {
  retired_ = true;
}

}  // namespace mangrove::net
