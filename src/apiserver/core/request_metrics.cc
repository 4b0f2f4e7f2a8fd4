#include "apiserver/core/request_metrics.h"

#include <map>
#include <utility>

#include <fmt/core.h>

#include "apiserver/core/spdy_upgrade.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

double secondsBetween(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

// Subresources are words of the client: beyond this, newcomers are counted without labels.
constexpr size_t kMostRoutes = 4096;

bool isRead(Verb verb) {
  return verb == Verb::kGet || verb == Verb::kList || verb == Verb::kWatch;
}

}  // namespace

std::string metricVerb(const RequestInfo& info) {
  switch (info.verb) {
    case Verb::kGet:
      return "GET";
    case Verb::kList:
      return "LIST";
    case Verb::kWatch:
      return "WATCH";
    case Verb::kCreate:
      return "POST";
    case Verb::kUpdate:
      return "PUT";
    case Verb::kPatch:
      return "PATCH";
    case Verb::kDelete:
      return "DELETE";
    case Verb::kDeleteCollection:
      return "DELETECOLLECTION";
  }
  return "";
}

std::string metricScope(const RequestInfo& info) {
  if (!info.name.empty() || info.verb == Verb::kCreate) return "resource";
  return info.ns.empty() ? "cluster" : "namespace";
}

struct RequestMetrics::Families {
  explicit Families(Registry& registry)
      : total(registry.counters("apiserver_request_total", "Requests by what they asked for.",
                                {"verb", "dry_run", "group", "version", "resource", "subresource",
                                 "scope", "component", "code"})),
        duration(registry.histograms("apiserver_request_duration_seconds",
                                     "Time from the request to its answer, without watches.",
                                     {"verb", "dry_run", "group", "version", "resource",
                                      "subresource", "scope", "component"})),
        running(registry.gauges(
            "apiserver_longrunning_requests", "Watches and followed logs.",
            {"verb", "group", "version", "resource", "subresource", "scope", "component"})) {
    auto& inFlight = registry.gauges("apiserver_current_inflight_requests",
                                     "Requests under way, without watches.", {"request_kind"});
    reading = inFlight.with({"readOnly"});
    writing = inFlight.with({"mutating"});
  }
  CounterFamily& total;
  HistogramFamily& duration;
  GaugeFamily& running;
  Gauge reading, writing;
};

struct RequestMetrics::Route {
  LabelValues labels;  // verb, dry_run, group, version, resource, subresource, scope, component
  Histogram duration;
  Gauge inFlight;
  std::shared_ptr<Families> families;
  std::map<int, Counter> codes = {};

  // Only for those that become long: the labels without dry_run.
  Gauge running() const {
    LabelValues rest = labels;
    rest.erase(rest.begin() + 1);
    return families->running.with(rest);
  }

  void count(int code) {
    auto [at, fresh] = codes.try_emplace(code);
    if (fresh) {
      LabelValues all = labels;
      all.push_back(std::to_string(code));
      at->second = families->total.with(all);
    }
    at->second.inc();
  }
};

// A long answer is under way until it is destroyed.
class RequestMetrics::MeasuredStream final : public AnswerStream {
 public:
  MeasuredStream(Gauge running, std::unique_ptr<AnswerStream> stream)
      : running_(std::move(running)), stream_(std::move(stream)) {
    running_.add(1);
  }
  ~MeasuredStream() override { running_.add(-1); }
  bool write(std::string bytes) override { return stream_->write(std::move(bytes)); }
  Bytes queued() const override { return stream_->queued(); }
  void onClosed(Fn fn) override { stream_->onClosed(std::move(fn)); }
  void onDrained(Fn fn) override { stream_->onDrained(std::move(fn)); }

 private:
  Gauge running_;
  std::unique_ptr<AnswerStream> stream_;
};

class RequestMetrics::Measured final : public Responder, public SpdyUpgrade {
 public:
  Measured(Clock& clock, std::shared_ptr<Route> route, ResponderPtr to)
      : clock_(clock), route_(std::move(route)), to_(std::move(to)), from_(clock.mono()) {
    route_->inFlight.add(1);
  }
  ~Measured() override { end(500); }

  void answer(Answer answer) override {
    end(answer.status);
    to_->answer(std::move(answer));
  }
  std::unique_ptr<AnswerStream> stream(Answer head) override {
    end(head.status, true);
    return std::make_unique<MeasuredStream>(route_->running(), to_->stream(std::move(head)));
  }
  void upgrade(const std::vector<std::string_view>& protocols, Responder::Opened opened) override {
    end(101, true);
    to_->upgrade(protocols, std::move(opened));
  }
  bool wantsSpdy() const override { return spdyOf(*to_) != nullptr; }
  void upgradeToSpdy(const std::vector<std::string_view>& protocols,
                     SpdyUpgrade::Opened opened) override {
    end(101, true);
    if (auto* spdy = spdyOf(*to_)) spdy->upgradeToSpdy(protocols, std::move(opened));
  }

 private:
  void end(int code, bool longRunning = false) {
    if (std::exchange(ended_, true)) return;
    route_->inFlight.add(-1);
    route_->count(code);
    if (!longRunning) route_->duration.observe(secondsBetween(from_, clock_.mono()));
  }

  Clock& clock_;
  std::shared_ptr<Route> route_;
  ResponderPtr to_;
  MonoTime from_;
  bool ended_ = false;
};

RequestMetrics::RequestMetrics(Registry& registry, Clock& clock)
    : clock_(clock), families_(std::make_shared<Families>(registry)) {}
RequestMetrics::~RequestMetrics() = default;

std::shared_ptr<RequestMetrics::Route> RequestMetrics::routeOf(const RequestInfo& info,
                                                               bool known) {
  known = known && routes_.size() < kMostRoutes;
  const std::string verb = metricVerb(info);
  const std::string scope = known ? metricScope(info) : "";
  const std::string dryRun(info.parameter("dryRun") == "All" ? "All" : "");
  const std::string_view sub =
      known ? std::string_view(info.subresource).substr(0, info.subresource.find('/')) : "";
  static const RequestInfo kNone;
  const RequestInfo& named = known ? info : kNone;
  auto& route = routes_[fmt::format("{} {} {}/{}/{}/{} {}", verb, dryRun, named.group,
                                    named.version, named.resource, sub, scope)];
  if (route) return route;
  const std::string subresource(sub);
  LabelValues labels{verb,           dryRun,      named.group, named.version,
                     named.resource, subresource, scope,       "apiserver"};
  route = std::make_shared<Route>(Route{labels, families_->duration.with(labels),
                                        isRead(info.verb) ? families_->reading : families_->writing,
                                        families_});
  return route;
}

Counter RequestMetrics::turnedAway() const {
  return families_->total.with({"", "", "", "", "", "", "", "apiserver", "429"});
}

ResponderPtr RequestMetrics::measured(const RequestInfo& info, bool known, ResponderPtr to) {
  return std::make_shared<Measured>(clock_, routeOf(info, known), std::move(to));
}

}  // namespace mangrove::apiserver
