#include "report/source.h"

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "net/client/http_client.h"
#include "stats/experiment.h"

namespace mangrove::report {
namespace {

// "http://host:port" and what is asked of it.
struct Target {
  std::unique_ptr<net::HttpClient> client;
  std::string path;
  std::string url;
};

Result<Target> targetOf(net::Loop& loop, const std::string& text) {
  auto url = net::Url::parse(text);
  if (!url) return url.error().in("address '{}'", text);
  Target out;
  out.url = text;
  out.path = std::exchange(url->path, "");
  const size_t query = text.find('?');
  if (query != std::string::npos && out.path.find('?') == std::string::npos)
    out.path += text.substr(query);
  if (out.path.empty()) out.path = "/";
  auto client = net::HttpClient::create(loop, {.base = *url, .userAgent = "mangrove-report"});
  if (!client) return client.error().in("{}", text);
  out.client = std::move(*client);
  return out;
}

Seen seenOf(std::vector<double> millis) {
  std::sort(millis.begin(), millis.end());
  return {millis.size(), stats::quantile(millis, 0.5), stats::quantile(millis, 0.99)};
}

class Scraped final : public LatencySource {
 public:
  Scraped(Target target, const SourceOptions& options)
      : target_(std::move(target)), options_(options) {}
  Result<> begin() override {
    auto now = scrape();
    if (!now) return pass(now.error());
    before_ = std::move(*now);
    return {};
  }
  Result<Seen> end() override {
    auto now = scrape();
    if (!now) return pass(now.error());
    const Buckets window = difference(*now, before_);
    return Seen{static_cast<uint64_t>(countOf(window)),
                quantileOf(window, 0.5).value_or(0) * options_.scale,
                quantileOf(window, 0.99).value_or(0) * options_.scale};
  }

 private:
  Result<Buckets> scrape() {
    net::HttpRequest request;
    request.target = target_.path;
    auto answer = target_.client->call(std::move(request));
    if (!answer) return answer.error().in("{}", target_.url);
    if (answer->status != 200)
      return fail(Code::kUnavailable, "{} answered {}", target_.url, answer->status);
    return readHistogram(answer->body, options_.histogram, options_.labels);
  }
  Target target_;
  const SourceOptions options_;
  Buckets before_;
};

// Asks by the clock, whether or not earlier answers have come; latency counts from when a request
// should have left.
class Probe final : public LatencySource {
 public:
  Probe(Target target, double rate) : target_(std::move(target)), rate_(rate) {}
  ~Probe() override { halt(); }
  Result<> begin() override {
    halt();
    failed_ = 0;
    millis_.clear();
    asking_ = true;
    thread_ = std::thread([this] { ask(); });
    return {};
  }
  Result<Seen> end() override {
    halt();
    std::unique_lock lock(mutex_);
    bell_.wait(lock, [this] { return pending_ == 0; });
    if (millis_.empty())
      return fail(Code::kUnavailable, "{}: none of {} requests was answered", target_.url, failed_);
    return seenOf(millis_);
  }

 private:
  void ask() {
    const MonoTime start = realClock().mono();
    const Duration gap(static_cast<int64_t>(1e9 / rate_));
    for (int64_t k = 0;; ++k) {
      const MonoTime due = start + gap * k;
      std::unique_lock lock(mutex_);
      if (bell_.wait_until(lock, due, [this] { return !asking_; })) return;
      ++pending_;
      lock.unlock();
      net::HttpRequest request;
      request.target = target_.path;
      target_.client->send(std::move(request), {},
                           [this, due](const Result<net::HttpResponse>& answer) {
                             note(answer && answer->status < 500, realClock().mono() - due);
                           });
    }
  }
  void note(bool good, Duration latency) {
    std::lock_guard lock(mutex_);
    --pending_;
    if (good)
      millis_.push_back(std::chrono::duration<double, std::milli>(latency).count());
    else
      ++failed_;
    bell_.notify_all();
  }
  void halt() {
    {
      std::lock_guard lock(mutex_);
      asking_ = false;
    }
    bell_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::mutex mutex_;
  std::condition_variable bell_;
  std::vector<double> millis_;
  uint64_t failed_ = 0, pending_ = 0;
  bool asking_ = false;
  Target target_;  // dies first: no answer comes after that
  double rate_;
  std::thread thread_;
};

class Logged final : public LatencySource {
 public:
  Logged(std::string path, LogFormat format) : path_(std::move(path)), format_(std::move(format)) {}
  Result<> begin() override {
    std::ifstream file(path_, std::ios::ate | std::ios::binary);
    if (!file) return fail(Code::kNotFound, "log {}: cannot be read", path_);
    from_ = file.tellg();
    return {};
  }
  Result<Seen> end() override {
    std::ifstream file(path_, std::ios::ate | std::ios::binary);
    if (!file) return fail(Code::kNotFound, "log {}: cannot be read", path_);
    // A log that was turned over starts anew.
    file.seekg(file.tellg() < from_ ? std::streampos(0) : from_);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return seenOf(latenciesOf(text, format_));
  }

 private:
  std::string path_;
  LogFormat format_;
  std::streampos from_ = 0;
};

}  // namespace

Result<std::unique_ptr<LatencySource>> makeSource(net::Loop& loop, const SourceOptions& options) {
  const int named = (options.prometheus.empty() ? 0 : 1) + (options.probe.empty() ? 0 : 1) +
                    (options.log.empty() ? 0 : 1);
  if (named != 1)
    return invalid("{} sources of latency; want one of --prometheus, --probe and --log", named);
  if (!options.log.empty())
    return std::unique_ptr<LatencySource>(new Logged(options.log, options.format));
  const bool scraped = !options.prometheus.empty();
  if (scraped && options.histogram.empty())
    return invalid("--prometheus needs --histogram, e.g. http_request_duration_seconds");
  if (!scraped && options.probeRate <= 0)
    return invalid("--probe-rate {}: want more than 0", options.probeRate);
  auto target = targetOf(loop, scraped ? options.prometheus : options.probe);
  if (!target) return pass(target.error());
  if (scraped) return std::unique_ptr<LatencySource>(new Scraped(std::move(*target), options));
  return std::unique_ptr<LatencySource>(new Probe(std::move(*target), options.probeRate));
}

}  // namespace mangrove::report
