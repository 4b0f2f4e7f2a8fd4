#include "manager/webhook/bench/bench.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <time.h>

#include "base/clock.h"
#include "json/value.h"
#include "manager/webhook/bench/bench_pods.h"
#include "manager/webhook/certificates.h"
#include "manager/webhook/review_text.h"
#include "manager/webhook/routes.h"
#include "manager/webhook/server.h"
#include "net/client/http_client.h"

namespace mangrove::manager {
namespace {

double millisecondsOf(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// Times from many threads.
class Times {
 public:
  void add(Duration time) {
    const std::lock_guard lock(mutex_);
    all_.push_back(millisecondsOf(time));
  }
  BenchLatency sum() {
    const std::lock_guard lock(mutex_);
    if (all_.empty()) return {};
    std::sort(all_.begin(), all_.end());
    const auto at = [&](double share) {
      return all_[std::min(all_.size() - 1, static_cast<size_t>(share * double(all_.size())))];
    };
    return {at(0.5), at(0.99), at(0.999), all_.back(), static_cast<int64_t>(all_.size())};
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<double> all_;
};

// What this thread has used of a processor: other processes do not count.
Duration threadTime() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// How many questions are open; waits until none is.
class Open {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [&] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int64_t count_ = 0;
};

class Bench {
 public:
  explicit Bench(const WebhookBenchOptions& options) : options_(options) {}

  Result<WebhookBenchResult> run() {
    result_.options = options_;
    const MonoTime before = clock_.mono();
    around_ = std::make_shared<const Surroundings>(benchSurroundings(options_.profiles));
    result_.indexMilliseconds = millisecondsOf(clock_.mono() - before);
    if (auto up = startServer(); !up) return pass(up.error());
    warmUp();
    load();
    processorTime();
    oddities();
    return std::move(result_);
  }

 private:
  Result<> startServer() {
    auto certs = renew(std::nullopt, namesOfHost("127.0.0.1"), clock_.wall());
    if (!certs) return pass(certs.error());
    WebhookServerSetup setup;
    setup.io = &serverLoop_;
    setup.owner = &owner_;
    setup.bind = "127.0.0.1";
    setup.metrics = &metrics_;
    setup.tls.certPem = certs->cert;
    setup.tls.keyPem = certs->key;
    setup.picture = [this] { return around_; };
    setup.measured = [this](const Route&, Duration took) { handler_.add(took); };
    auto server = WebhookServer::start(std::move(setup));
    if (!server) return pass(server.error());
    server_ = std::move(*server);
    auto base = net::Url::parse(server_->url());
    if (!base) return pass(base.error());
    net::ClientOptions client;
    client.base = *base;
    client.tls.caPem = certs->caCert;
    auto made = net::HttpClient::create(clientLoop_, client);
    if (!made) return pass(made.error());
    client_ = std::move(*made);
    return {};
  }

  net::HttpRequest post(std::string path, std::string body, std::string type) const {
    net::HttpRequest request;
    request.method = "POST";
    request.target = std::move(path);
    request.headers.set("Content-Type", type);
    request.body = std::move(body);
    return request;
  }

  void ask(std::string path, const std::string& body, bool wantsPatch) {
    open_.add();
    const MonoTime sent = clock_.mono();
    client_->send(
        post(std::move(path), body, "application/json"), {},
        [this, sent, wantsPatch](Result<net::HttpResponse> answer) {
          roundTrip_.add(clock_.mono() - sent);
          const bool patched = answer && answer->body.find("\"patch\"") != std::string::npos;
          const bool allowed = answer && answer->body.find("\"allowed\":true") != std::string::npos;
          if (!allowed || patched != wantsPatch) ++wrong_;
          if (patched) ++changed_;
          open_.done();
        });
  }

  void warmUp() {
    for (int i = 0; i < 50; ++i) ask("/mutate-pod", benchReview(i, options_.profiles), i % 2 == 0);
    open_.wait();
    handler_.clear();
    roundTrip_.clear();
    changed_ = wrong_ = 0;
  }

  // A pod every 1/rate seconds, whether or not the one before has been answered.
  void load() {
    const int64_t pods = options_.rate * options_.seconds;
    const Duration step =
        std::chrono::nanoseconds(1'000'000'000 / std::max<int64_t>(options_.rate, 1));
    const MonoTime start = clock_.mono();
    for (int64_t i = 0; i < pods; ++i) {
      const MonoTime due = start + step * i;
      if (const Duration wait = due - clock_.mono(); wait > Duration::zero())
        std::this_thread::sleep_for(wait);
      const std::string review = benchReview(i, options_.profiles);
      ask("/mutate-pod", review, matchesProfile(i) && options_.profiles > 0);
      ask("/validate-pod", review, false);
    }
    open_.wait();
    result_.reached = double(pods) / (millisecondsOf(clock_.mono() - start) / 1000);
    result_.handler = handler_.sum();
    result_.roundTrip = roundTrip_.sum();
    result_.changed = changed_;
    result_.wrong = wrong_;
  }

  // The same questions once more in this thread alone.
  void processorTime() {
    Times times;
    for (int64_t i = 0; i < std::min<int64_t>(options_.rate * options_.seconds, 5000); ++i) {
      const std::string review = benchReview(i, options_.profiles);
      for (const char* path : {"/mutate-pod", "/validate-pod"}) {
        const Duration before = threadTime();
        ReviewQuestion question;
        (void)question.read(review);
        const Review answer = routeOf(path)->handler(question.request(), *around_);
        (void)writeReview(question.apiVersion(), question.request().uid, answer);
        times.add(threadTime() - before);
      }
    }
    result_.cpu = times.sum();
  }

  BenchOddity tryOne(const std::string& name, net::HttpRequest request, int status) {
    BenchOddity out;
    out.name = name;
    const MonoTime sent = clock_.mono();
    auto answer = client_->call(std::move(request), {});
    out.milliseconds = millisecondsOf(clock_.mono() - sent);
    out.status = answer ? answer->status : 0;
    out.answer = answer ? answer->body.substr(0, 160) : answer.error().text();
    out.clear = out.status == status;
    return out;
  }

  void oddities() {
    result_.oddities.push_back(
        tryOne("pod of 3 MiB", post("/mutate-pod", hugeReview(), "application/json"), 200));
    for (BrokenReview& one : brokenReviews())
      result_.oddities.push_back(
          tryOne(one.name, post(one.path, std::move(one.body), one.contentType), one.status));
  }

  const WebhookBenchOptions options_;
  WebhookBenchResult result_;
  Clock& clock_ = realClock();
  Registry metrics_;
  Mailbox owner_;
  Times handler_, roundTrip_;
  Open open_;
  std::atomic<int64_t> changed_{0}, wrong_{0};
  std::shared_ptr<const Surroundings> around_;
  net::Loop serverLoop_{1}, clientLoop_{1};
  std::unique_ptr<WebhookServer> server_;
  std::unique_ptr<net::HttpClient> client_;
};

json::Object latencyJson(const BenchLatency& l) {
  return {{"p50_ms", l.p50},
          {"p99_ms", l.p99},
          {"p999_ms", l.p999},
          {"worst_ms", l.worst},
          {"count", l.count}};
}

std::string firstLine(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find('\n'), text.size())));
}

}  // namespace

Result<WebhookBenchResult> runWebhookBench(const WebhookBenchOptions& options) {
  return Bench(options).run();
}

std::string toTable(const WebhookBenchResult& r) {
  std::string out = fmt::format(
      "{} profiles, index built in {:.1f} ms\n{:.0f} pods/s for {} s over TLS: {} reviews, {} pods "
      "changed, {} wrong answers\n\n{:<12}{:>10}{:>10}{:>10}{:>10}   milliseconds\n",
      r.options.profiles, r.indexMilliseconds, r.reached, r.options.seconds, r.handler.count,
      r.changed, r.wrong, "", "p50", "p99", "p99.9", "worst");
  for (const auto& [name, l] :
       {std::pair{"handler", &r.handler}, std::pair{"round trip", &r.roundTrip},
        std::pair{"processor", &r.cpu}})
    out += fmt::format("{:<12}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}\n", name, l->p50, l->p99,
                       l->p999, l->worst);
  out += "\n";
  for (const BenchOddity& o : r.oddities)
    out += fmt::format("{:<24}{:>4} {:>8.1f} ms {:<3} {}\n", o.name, o.status, o.milliseconds,
                       o.clear ? "" : "!!!", firstLine(o.answer));
  return out;
}

std::string toJson(const WebhookBenchResult& r) {
  json::Array oddities;
  for (const BenchOddity& o : r.oddities)
    oddities.push_back(json::Object{{"name", o.name},
                                    {"status", o.status},
                                    {"ms", o.milliseconds},
                                    {"clear", o.clear},
                                    {"answer", o.answer}});
  const json::Object out{{"profiles", r.options.profiles},
                         {"index_ms", r.indexMilliseconds},
                         {"pods_per_second", r.reached},
                         {"seconds", r.options.seconds},
                         {"changed", r.changed},
                         {"wrong", r.wrong},
                         {"handler", latencyJson(r.handler)},
                         {"round_trip", latencyJson(r.roundTrip)},
                         {"processor", latencyJson(r.cpu)},
                         {"oddities", std::move(oddities)}};
  return json::writePretty(out) + "\n";
}

}  // namespace mangrove::manager
