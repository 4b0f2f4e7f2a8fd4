#include "client/http/http_api_client.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_set>

#include "base/os/log.h"
#include "base/text/strings.h"
#include "client/http/credentials.h"
#include "client/http/http_request.h"
#include "client/http/http_watch.h"
#include "client/http/request_counts.h"
#include "client/http/status_error.h"
#include "client/queue/fair_limiter.h"
#include "client/queue/retry_policy.h"
#include "net/client/http_client.h"

#ifndef MANGROVE_VERSION
#define MANGROVE_VERSION "dev"
#endif

namespace mangrove::client {

namespace {

const Logger log("client");

constexpr Duration kWatchPatience = std::chrono::minutes(2);  // to open a watch, retries included
constexpr int kWatchTries = 4;

struct Job {
  Request request;
  ApiClient::Done done;
  MonoTime deadline;
  bool repeatable = false;
  bool evicts = false;
  bool freshCredential = false;  // a 401 was answered with a newer credential already
  int tries = 0;
  uint64_t generation = 0;
  Timer timer;
};
using JobPtr = std::shared_ptr<Job>;

// For an eviction 429 means "the disruption budget says no", which is an answer; only the form with
// Retry-After asks for another try.
bool isFinal(const Job& job, int status, bool retryAfter) {
  return job.evicts && status == 429 && !retryAfter;
}

}  // namespace

class HttpApiClient::Core : public std::enable_shared_from_this<HttpApiClient::Core> {
 public:
  Core(Clock& clock, const ClientConfig& config, const HttpApiOptions& options)
      : clock_(clock),
        limiter_(std::make_shared<FairLimiter>(clock, options.perSecond, options.burst)),
        credentials_(std::make_shared<Credentials>(config, clock)),
        rng_(options.seed != 0 ? options.seed
                               : static_cast<uint64_t>(clock.wall().time_since_epoch().count())) {
    if (options.metrics != nullptr) counts_.show(*options.metrics);
  }

  Result<> connect(net::Loop& loop, const ClientConfig& config, const HttpApiOptions& options) {
    auto url = net::Url::parse(config.server);
    if (!url) return url.error().in("{}: server", config.source);
    server_ = url->authority();
    auto tls = credentials_->tls();
    if (!tls) return pass(tls.error());
    net::ClientOptions http;
    http.base = *url;
    http.tls = *tls;
    http.maxConnections = options.connections;
    // A burst of answers frees many connections at once, and the next requests want them again.
    http.maxIdle = http.maxConnections;
    http.userAgent = options.userAgent.empty() ? "mangrove/" MANGROVE_VERSION : options.userAgent;
    auto made = net::HttpClient::create(loop, std::move(http));
    if (!made) return made.error().in("{}", config.source);
    http_ = std::move(*made);
    credentials_->onTlsChange([weak = weak_from_this()](const net::TlsClientOptions& fresh) {
      if (auto self = weak.lock()) self->useTls(fresh);
    });
    return {};
  }

  void useTls(const net::TlsClientOptions& fresh) {
    std::shared_lock lock(httpGate_);
    if (!http_) return;
    if (auto set = http_->setTls(fresh); !set)
      log.warn("new certificates refused: {}; keeping the old ones", set.error().text());
  }

  // Afterwards nothing of ours touches the loop any more: whoever uses the connections does so
  // under httpGate_.
  void close() {
    std::shared_ptr<FairLimiter> limiter;
    std::shared_ptr<Credentials> credentials;
    std::unique_ptr<net::HttpClient> http;
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
      limiter.swap(limiter_);
      credentials.swap(credentials_);
    }
    {
      std::unique_lock lock(httpGate_);
      http.swap(http_);
    }
    limiter.reset();
    credentials.reset();
    http.reset();
    std::unordered_set<JobPtr> left;
    {
      std::lock_guard lock(mutex_);
      left = jobs_;
    }
    for (const JobPtr& job : left) finish(job, cancelled(*job));
  }

  const std::string& server() const { return server_; }

  HttpApiStats stats() const { return counts_.stats(); }

  // ---- one request ----

  void submit(Request request, Done done) {
    auto job = std::make_shared<Job>();
    job->deadline = clock_.mono() + request.timeout;
    job->repeatable = mayRepeat(request);
    job->evicts = request.ref.subresource == "eviction";
    job->request = std::move(request);
    job->done = std::move(done);
    {
      std::lock_guard lock(mutex_);
      jobs_.insert(job);
    }
    admit(job);
  }

  void admit(const JobPtr& job) {
    auto limiter = locked(limiter_);
    if (!limiter) return finish(job, cancelled(*job));
    const Request& request = job->request;
    std::string_view flow = request.flow.empty() ? request.ref.kind.plural : request.flow;
    limiter->admit(flow, job->deadline, [self = shared_from_this(), job](bool inTime) {
      if (inTime) return self->authorize(job);
      self->finish(job, self->locked(self->limiter_)
                            ? self->sentence(*job, Code::kTimeout,
                                             "the client-side rate limit left no time to send it")
                            : self->cancelled(*job));
    });
  }

  void authorize(const JobPtr& job) {
    auto credentials = locked(credentials_);
    if (!credentials) return finish(job, cancelled(*job));
    credentials->authorize([self = shared_from_this(), job](Result<Authorization> got) {
      if (!got)
        return self->finish(job, self->sentence(*job, got.error().code(), got.error().text()));
      self->send(job, *got);
    });
  }

  void send(const JobPtr& job, const Authorization& authorization) {
    Duration left = job->deadline - clock_.mono();
    if (left <= Duration{0}) return finish(job, sentence(*job, Code::kTimeout, "no time left"));
    net::HttpRequest request = toHttp(job->request);
    for (const auto& [name, value] : authorization.headers.fields())
      request.headers.add(name, value);
    job->generation = authorization.generation;
    ++job->tries;
    counts_.sent(job->tries > 1);
    net::SendOptions options{left, job->repeatable ? net::Replay::kAlways : net::Replay::kNever};
    std::shared_lock lock(httpGate_);
    if (http_)
      return http_->send(std::move(request), options,
                         [self = shared_from_this(), job](Result<net::HttpResponse> answer) {
                           self->answered(job, std::move(answer));
                         });
    lock.unlock();
    finish(job, cancelled(*job));
  }

  void answered(const JobPtr& job, Result<net::HttpResponse> answer) {
    counts_.answered(verbName(job->request.verb), answer ? answer->status : 0);
    if (answer) counts_.heard(answer->headers, server_);
    if (answer && answer->status < 400) return finish(job, toReply(*job, std::move(*answer)));
    if (answer && answer->status == 401 && tryFreshCredential(job)) return;
    if (auto wait = waitBeforeRetry(*job, answer)) return later(job, *wait);
    if (!answer) return finish(job, sentence(*job, answer.error().code(), answer.error().text()));
    finish(job,
           Failure(statusError(answer->status, answer->body, describe(job->request), server_)));
  }

  bool tryFreshCredential(const JobPtr& job) {
    auto credentials = locked(credentials_);
    if (!credentials || job->freshCredential || !credentials->refused(job->generation))
      return false;
    job->freshCredential = true;
    admit(job);
    return true;
  }

  std::optional<Duration> waitBeforeRetry(const Job& job, const Result<net::HttpResponse>& answer) {
    if (!answer && answer.error().code() == Code::kCancelled) return std::nullopt;
    Attempt attempt;
    attempt.mayRepeat = job.repeatable;
    attempt.tries = job.tries;
    attempt.maxTries = job.request.maxTries;
    attempt.left = job.deadline - clock_.mono();
    if (answer) {
      attempt.httpStatus = answer->status;
      attempt.retryAfter = parseRetryAfter(answer->headers.get("Retry-After"));
      attempt.finalAnswer = isFinal(job, answer->status, attempt.retryAfter.has_value());
    } else {
      attempt.neverSent = !net::mayHaveBeenSent(answer.error());
    }
    std::lock_guard lock(mutex_);
    return closing_ ? std::nullopt : retryWait(attempt, rng_);
  }

  void later(const JobPtr& job, Duration wait) {
    Timer timer = clock_.after(wait, [weak = weak_from_this(), job] {
      if (auto self = weak.lock()) self->admit(job);
    });
    std::lock_guard lock(mutex_);
    job->timer = std::move(timer);
  }

  // Exactly once per job, whoever comes first.
  void finish(const JobPtr& job, Result<Reply> reply) {
    {
      std::lock_guard lock(mutex_);
      if (jobs_.erase(job) == 0) return;
    }
    Done done = std::move(job->done);
    done(std::move(reply));
  }

  Reply toReply(const Job& job, net::HttpResponse answer) {
    Reply reply;
    reply.status = answer.status;
    reply.tries = job.tries;
    for (const auto& [name, value] : answer.headers.fields())
      if (equalIgnoringCase(name, "Warning")) reply.warnings.push_back(warningText(value));
    reply.body = std::move(answer.body);
    return reply;
  }

  Failure sentence(const Job& job, Code code, std::string_view why) const {
    return Failure(
        Error(code, fmt::format("{} at {}: {}{}", describe(job.request), server_, why,
                                job.tries > 1 ? fmt::format(" (tried {} times)", job.tries) : "")));
  }
  Failure cancelled(const Job& job) const {
    return sentence(job, Code::kCancelled, "the client is going away");
  }

  // ---- watches ----

  std::unique_ptr<Watch> watch(WatchRequest request, WatchHandler handler) {
    WatchDoor door;
    door.clock = &clock_;
    door.server = server_;
    door.open = [weak = weak_from_this()](UniqueFn<void(Result<WatchDoor::Opened>)> ready) {
      auto self = weak.lock();
      if (!self) return ready(fail(Code::kCancelled, "the client is going away"));
      self->openDoor(std::move(ready));
    };
    door.retryWait = [weak = weak_from_this()](int status, int tries,
                                               std::optional<Duration> after) {
      auto self = weak.lock();
      return self ? self->watchWait(status, tries, after) : std::nullopt;
    };
    return startHttpWatch(std::move(request), std::move(handler), std::move(door));
  }

  void openDoor(UniqueFn<void(Result<WatchDoor::Opened>)> ready) {
    auto limiter = locked(limiter_);
    if (!limiter) return ready(fail(Code::kCancelled, "the client is going away"));
    auto shared = std::make_shared<decltype(ready)>(std::move(ready));
    limiter->admit("watch", clock_.mono() + kWatchPatience,
                   [self = shared_from_this(), shared](bool inTime) {
                     if (inTime) return self->authorizeDoor(shared);
                     (*shared)(fail(Code::kTimeout, "the client-side rate limit left no time"));
                   });
  }

  void authorizeDoor(std::shared_ptr<UniqueFn<void(Result<WatchDoor::Opened>)>> ready) {
    auto credentials = locked(credentials_);
    if (!credentials) return (*ready)(fail(Code::kCancelled, "the client is going away"));
    credentials->authorize([self = shared_from_this(), ready](Result<Authorization> got) {
      if (!got) return (*ready)(pass(got.error()));
      self->counts_.sent(false);
      WatchDoor::Opened opened;
      opened.headers = got->headers;
      opened.answered = [self, generation = got->generation](int status) {
        self->watchAnswered(status, generation);
      };
      opened.stream = [self](net::HttpRequest request, net::StreamHandler handler,
                             net::StreamOptions options) {
        return self->openStream(std::move(request), std::move(handler), options);
      };
      (*ready)(std::move(opened));
    });
  }

  std::unique_ptr<net::HttpStream> openStream(net::HttpRequest request, net::StreamHandler handler,
                                              net::StreamOptions options) {
    std::shared_lock lock(httpGate_);
    return http_ ? http_->open(std::move(request), std::move(handler), options) : nullptr;
  }

  void watchAnswered(int status, uint64_t generation) {
    counts_.answered("watch", status);
    auto credentials = locked(credentials_);
    if (status == 401 && credentials) credentials->refused(generation);
  }

  std::optional<Duration> watchWait(int status, int tries, std::optional<Duration> after) {
    Attempt attempt{.mayRepeat = true,
                    .tries = tries,
                    .maxTries = kWatchTries,
                    .httpStatus = status,
                    .retryAfter = after,
                    .left = kWatchPatience};
    std::lock_guard lock(mutex_);
    return closing_ ? std::nullopt : retryWait(attempt, rng_);
  }

 private:
  template <class T>
  std::shared_ptr<T> locked(const std::shared_ptr<T>& member) const {
    std::lock_guard lock(mutex_);
    return member;
  }

  Clock& clock_;
  std::string server_;
  mutable std::mutex mutex_;
  std::shared_ptr<FairLimiter> limiter_;
  std::shared_ptr<Credentials> credentials_;
  std::shared_mutex httpGate_;
  std::unique_ptr<net::HttpClient> http_;
  std::unordered_set<JobPtr> jobs_;
  Rng rng_;
  RequestCounts counts_;
  bool closing_ = false;
};

Result<std::unique_ptr<HttpApiClient>> HttpApiClient::make(net::Loop& loop, Clock& clock,
                                                           const ClientConfig& config,
                                                           HttpApiOptions options) {
  auto core = std::make_shared<Core>(clock, config, options);
  if (auto good = core->connect(loop, config, options); !good) return pass(good.error());
  return std::unique_ptr<HttpApiClient>(new HttpApiClient(std::move(core)));
}

HttpApiClient::HttpApiClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}

HttpApiClient::~HttpApiClient() {
  core_->close();
}

void HttpApiClient::submit(Request request, Done done) {
  core_->submit(std::move(request), std::move(done));
}

std::unique_ptr<Watch> HttpApiClient::watch(WatchRequest request, WatchHandler handler) {
  return core_->watch(std::move(request), std::move(handler));
}

std::string HttpApiClient::server() const {
  return core_->server();
}

HttpApiStats HttpApiClient::stats() const {
  return core_->stats();
}

}  // namespace mangrove::client
