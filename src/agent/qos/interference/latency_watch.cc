#include "agent/qos/interference/latency_watch.h"

#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("latency");

bool isIpv6(std::string_view address) {
  return address.find(':') != std::string_view::npos;
}

struct Place {
  net::Url base;
  std::string target;
};

// "http://:8080/metrics" at the pod's own address.
Result<Place> placeOf(const api::LatencyPromise& promise, std::string_view address) {
  const std::string& said = promise.probe.empty() ? promise.prometheus : promise.probe;
  const std::string_view rest = std::string_view(said).substr(std::string_view("http://").size());
  const size_t slash = rest.find('/');
  const std::string port(rest.substr(0, slash));
  auto base = net::Url::parse(isIpv6(address) ? fmt::format("http://[{}]{}", address, port)
                                              : fmt::format("http://{}{}", address, port));
  if (!base) return pass(base.error());
  return Place{*std::move(base),
               slash == std::string_view::npos ? "/" : std::string(rest.substr(slash))};
}

// So much of one answer counts in an experiment.
double mostOf(const api::LatencyPromise& promise) {
  constexpr double kTimes = 3;
  return promise.promisedMs > 0 ? kTimes * promise.promisedMs
                                : std::numeric_limits<double>::infinity();
}

}  // namespace

LatencyWatch::~LatencyWatch() {
  life_.end();
}

void LatencyWatch::trouble(const std::string& uid, std::string why) {
  std::string& known = troubles_[uid];
  if (known == why) return;
  known = std::move(why);
  log.warn("latency of pod {}: {}", uid, known);
}

void LatencyWatch::begin(const std::string& uid, const PodPtr& pod) {
  auto promise = api::parseLatencyPromise(pod->meta.annotations);
  if (!promise) {
    refused_[uid] = pod.get();
    return trouble(uid, promise.error().text());
  }
  if (!*promise || pod->status.podIp.view().empty()) return;
  auto place = placeOf(**promise, pod->status.podIp.view());
  if (!place) return trouble(uid, place.error().text());
  auto client = net::HttpClient::create(loop_, {.base = place->base, .connectTimeout = kLimit});
  if (!client) return trouble(uid, client.error().text());
  Watched one{pod, **promise, interference::LatencyMeter((*promise)->quantile), *std::move(client),
              std::move(place->target)};
  watched_.insert_or_assign(uid, std::move(one));
}

void LatencyWatch::ask(const std::string& uid, Watched& one) {
  ++one.underWay;
  const MonoTime asked = clock_.mono();
  net::HttpRequest request;
  request.target = one.target;
  one.client->send(
      std::move(request), {.timeout = kLimit},
      [&owner = owner_, &clock = clock_,
       done = life_.guard([this, uid, asked](const Result<net::HttpResponse>& answer, MonoTime at) {
         answered(uid, asked, at, answer);
       })](Result<net::HttpResponse> answer) mutable {
        // Before it waits for the owner.
        const MonoTime at = clock.mono();
        owner.post([done = std::move(done), answer = std::move(answer), at]() mutable {
          done(answer, at);
        });
      });
}

void LatencyWatch::answered(const std::string& uid, MonoTime asked, MonoTime now,
                            const Result<net::HttpResponse>& answer) {
  const auto found = watched_.find(uid);
  if (found == watched_.end()) return;
  Watched& one = found->second;
  if (one.underWay > 0) --one.underWay;
  if (!answer && answer.error().code() == Code::kCancelled) return;
  if (!one.promise.probe.empty()) {
    // A service that does not answer is slow: the limit counts.
    if (!answer) trouble(uid, answer.error().text());
    return one.meter.probed(answer ? now - asked : kLimit, now);
  }
  if (!answer) return trouble(uid, answer.error().text());
  auto buckets = stats::readHistogram(answer->body, one.promise.histogram, one.promise.labels);
  if (!buckets) return trouble(uid, buckets.error().text());
  stats::Buckets millis;
  for (const auto& [bound, count] : *buckets) millis[bound * one.promise.toMillis] = count;
  troubles_.erase(uid);
  // What the page shows is of when it was asked for, as far as we can tell.
  one.meter.scraped(std::move(millis), asked);
}

void LatencyWatch::follow(const Look& look) {
  if (!board_->looks) {
    watched_.clear();
    board_->latency.clear();
    return;
  }
  std::set<std::string> present;
  const MonoTime now = clock_.mono();
  for (const PodLook& pod : look.pods) {
    if (!pod.pod || !pod.pod->meta.annotations.has(api::kLatencyAnnotation)) continue;
    const std::string uid = pod.pod->meta.uid.str();
    present.insert(uid);
    auto found = watched_.find(uid);
    const bool changed = found != watched_.end() && found->second.pod != pod.pod &&
                         found->second.pod->meta.annotations != pod.pod->meta.annotations;
    const auto refused = refused_.find(uid);
    if (refused != refused_.end() && refused->second == pod.pod.get()) continue;
    if (found == watched_.end() || changed) begin(uid, pod.pod);
    if ((found = watched_.find(uid)) == watched_.end()) continue;
    Watched& one = found->second;
    board_->latency[uid] = {one.meter.tail(now), one.meter.recent(now, mostOf(one.promise))};
    const bool urgent = board_->watched.count(uid) != 0;
    const bool isProbe = !one.promise.probe.empty();
    if (!urgent && !isProbe && one.next != MonoTime::min() && now < one.next) continue;
    one.next = now + kEvery;
    const int most = isProbe && urgent ? kProbesATick : 1;
    while (one.underWay < most) ask(uid, one);
  }
  const auto gone = [&](const auto& one) { return present.count(one.first) == 0; };
  std::erase_if(watched_, gone);
  std::erase_if(refused_, gone);
  std::erase_if(troubles_, gone);
  std::erase_if(board_->latency, gone);
}

}  // namespace mangrove::agent
