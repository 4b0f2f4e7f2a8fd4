#include "net/client/http_client.h"

#include <future>

#include "base/check.h"
#include "net/client/client_pool.h"
#include "net/http/wire.h"

namespace mangrove::net {
namespace {

bool isSafe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

bool mayReplay(Replay replay, std::string_view method) {
  return replay == Replay::kAlways || (replay == Replay::kSafeMethods && isSafe(method));
}

// Fills in what goes on the wire; an unsendable request ends the job at once, on the I/O thread as
// all others.
void prepare(const ClientPool& pool, ClientJob& job, HttpRequest request) {
  const ClientOptions& options = pool.options();
  job.name = fmt::format("{} {}{}{}", request.method, options.base.authority(), options.base.path,
                         request.target);
  job.isHead = request.method == "HEAD";
  job.head = requestHead(request, options.base, options.userAgent);
  job.body = std::move(request.body);
}

class StreamHandle final : public HttpStream {
 public:
  StreamHandle(std::shared_ptr<ClientPool> pool, std::shared_ptr<StreamJob> job)
      : pool_(std::move(pool)), job_(std::move(job)) {}
  ~StreamHandle() override {
    job_->shutGate();
    IoThread& io = pool_->io();
    io.post([pool = std::move(pool_), job = std::move(job_)] {
      pool->cancel(*job, Code::kCancelled, "cancelled");
    });
  }
  void pause() override { job_->setPaused(true); }
  void resume() override {
    job_->setPaused(false);
    pool_->io().post([job = job_] { job->resumed(); });
  }

 private:
  std::shared_ptr<ClientPool> pool_;
  std::shared_ptr<StreamJob> job_;
};

void submit(const std::shared_ptr<ClientPool>& pool, std::shared_ptr<ClientJob> job,
            HttpRequest request) {
  auto sendable = checkSendable(request);
  prepare(*pool, *job, std::move(request));
  pool->io().post([pool, job = std::move(job), sendable = std::move(sendable)]() mutable {
    if (sendable) return pool->submit(std::move(job));
    job->end(Failure(Error(Code::kInvalid, sendable.error().text(), kNeverSent)));
  });
}

Result<std::shared_ptr<TlsContext>> tlsFor(const Url& base, const TlsClientOptions& options) {
  if (base.scheme != Url::Scheme::kHttps) return std::shared_ptr<TlsContext>();
  auto context = TlsContext::client(options);
  if (!context) return context.error().in("TLS for {}", base.text());
  return context;
}

}  // namespace

HttpClient::HttpClient(std::shared_ptr<ClientPool> pool) : pool_(std::move(pool)) {}

HttpClient::~HttpClient() {
  pool_->io().runAndWait([this] { pool_->shutdown(); });
}

Result<std::unique_ptr<HttpClient>> HttpClient::create(Loop& loop, ClientOptions options) {
  auto tls = tlsFor(options.base, options.tls);
  if (!tls) return pass(tls.error());
  auto pool = std::make_shared<ClientPool>(loop, std::move(options), std::move(*tls));
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(pool)));
}

void HttpClient::send(HttpRequest request, SendOptions options, Done done) {
  auto job = std::make_shared<CallJob>(options.timeout, std::move(done));
  job->mayReplay = mayReplay(options.replay, request.method);
  job->maxBody = static_cast<uint64_t>(pool_->options().maxBody.v);
  submit(pool_, std::move(job), std::move(request));
}

Result<HttpResponse> HttpClient::call(HttpRequest request, SendOptions options) {
  CHECK(!pool_->loop().onIoThread(), "a blocking call on an I/O thread would wait for itself");
  std::promise<Result<HttpResponse>> answer;
  send(std::move(request), options,
       [&](Result<HttpResponse> result) { answer.set_value(std::move(result)); });
  return answer.get_future().get();
}

std::unique_ptr<HttpStream> HttpClient::open(HttpRequest request, StreamHandler handler,
                                             StreamOptions options) {
  auto job = std::make_shared<StreamJob>(options, std::move(handler));
  job->mayReplay = isSafe(request.method);
  job->ownConnection = true;
  auto handle = std::make_unique<StreamHandle>(pool_, job);
  submit(pool_, std::move(job), std::move(request));
  return handle;
}

void HttpClient::upgrade(HttpRequest request, SendOptions options,
                         UniqueFn<void(Result<Upgraded>)> done) {
  auto job = std::make_shared<UpgradeJob>(options.timeout, std::move(done));
  job->mayReplay = mayReplay(options.replay, request.method);
  job->maxBody = static_cast<uint64_t>(pool_->options().maxBody.v);
  job->ownConnection = true;
  job->wantsUpgrade = true;
  submit(pool_, std::move(job), std::move(request));
}

Result<> HttpClient::setTls(const TlsClientOptions& options) {
  auto tls = tlsFor(pool_->options().base, options);
  if (!tls) return pass(tls.error());
  pool_->io().post([pool = pool_, context = std::move(*tls)] { pool->setTls(context); });
  return {};
}

const Url& HttpClient::base() const {
  return pool_->options().base;
}

ClientStats HttpClient::stats() const {
  ClientStats stats;
  pool_->io().runAndWait([&] { stats = pool_->stats(); });
  return stats;
}

}  // namespace mangrove::net
