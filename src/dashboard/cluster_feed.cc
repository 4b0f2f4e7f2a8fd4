#include "dashboard/cluster_feed.h"

#include <utility>

#include "api/wire/names.h"
#include "client/informer/follow.h"
#include "dashboard/device_rows.h"
#include "dashboard/interference_rows.h"
#include "dashboard/job_rows.h"
#include "dashboard/migration_rows.h"
#include "dashboard/overview.h"
#include "dashboard/quota_rows.h"
#include "manager/webhook/configmap/lint.h"

namespace mangrove::dashboard {
namespace {

// Quick enough for a person, slow enough for five thousand nodes.
constexpr Duration kBeat = std::chrono::seconds(1);
constexpr size_t kManyNodes = 500;
constexpr int kManyBeats = 5, kMomentBeats = 10;
constexpr Duration kJobsEvery = std::chrono::seconds(5);

FeedSetup withDefaults(FeedSetup setup) {
  if (setup.configNamespace.empty()) setup.configNamespace = api::object::kSystemNamespace;
  if (setup.configName.empty()) setup.configName = api::object::kSloConfig;
  return setup;
}

// Of that node alone, where one is named; `field` is where objects of the kind say it.
client::InformerSetup following(const FeedSetup& setup, const client::Kind& kind,
                                std::string_view field) {
  auto out = client::follow(setup, kind);
  if (!setup.node.empty()) out.follow.fieldSelector = std::string(field) + "=" + setup.node;
  return out;
}

}  // namespace

json::Object configPage(const std::string& name, const api::ConfigMap* config) {
  json::Array keys, findings;
  json::Object page{{"name", name}, {"exists", config != nullptr}};
  if (config) {
    for (const auto& [key, text] : config->data) {
      keys.push_back(json::Object{{"key", key}, {"text", text}});
      const auto lint = manager::lintConfig(text, key, {.key = key});
      if (!lint) {
        findings.push_back(json::Object{{"severity", "error"}, {"text", lint.error().text()}});
        continue;
      }
      for (const auto& line : lint->lines)
        findings.push_back(json::Object{
            {"severity", line.severity == manager::Severity::kError ? "error" : "warning"},
            {"text", line.text()}});
    }
  }
  page.emplace("keys", std::move(keys));
  page.emplace("findings", std::move(findings));
  return page;
}

ClusterFeed::ClusterFeed(FeedSetup setup, Hub& hub)
    : setup_(withDefaults(std::move(setup))),
      hub_(hub),
      nodes_(following(setup_, client::kind::kNode, "metadata.name")),
      metrics_(following(setup_, client::kind::kNodeMetric, "metadata.name")),
      pods_(following(setup_, client::kind::kPod, "spec.nodeName")),
      quotas_(client::follow(setup_, client::kind::kElasticQuota)),
      reservations_(client::follow(setup_, client::kind::kReservation)),
      devices_(following(setup_, client::kind::kDevice, "metadata.name")),
      migrations_(client::follow(setup_, client::kind::kPodMigrationJob)),
      notice_(client::followOne(setup_, client::kind::kConfigMap, setup_.configNamespace,
                                descheduler::kNotice)),
      interference_(client::follow(setup_, api::kind::kInterferenceReport)),
      config_(client::followOne(setup_, client::kind::kConfigMap, setup_.configNamespace,
                                setup_.configName)) {
  nodes_.onChange([this](const auto&) { changed_ = true; });
  metrics_.onChange([this](const auto&) { changed_ = true; });
  pods_.onChange([this](const auto&) { changed_ = true; });
  reservations_.onChange([this](const auto&) { changed_ = true; });
}

ClusterFeed::~ClusterFeed() {
  *self_ = nullptr;
}

void ClusterFeed::start() {
  nodes_.start();
  metrics_.start();
  pods_.start();
  if (setup_.node.empty()) {
    quotas_.start();
    reservations_.start();
    migrations_.start();
    notice_.start();
    interference_.start();
  }
  devices_.start();
  config_.start();
  arm();
}

void ClusterFeed::arm() {
  timer_ = setup_.clock->after(kBeat, [owner = setup_.owner, self = self_] {
    owner->post([self] {
      if (!*self) return;
      (*self)->beat();
      (*self)->lookAtJobs();
      (*self)->arm();
    });
  });
}

// Many nodes are told less often: some of them change every second.
void ClusterFeed::beat() {
  ++beats_;
  const bool due = nodes_.size() < kManyNodes || beats_ % kManyBeats == 0;
  if (due && std::exchange(changed_, false)) publish();
  if (beats_ % kMomentBeats == 0 && nodes_.size() > 0)
    hub_.moment(json::write(momentOf(nodeRows(view()), setup_.clock->wall())));
}

ClusterView ClusterFeed::view() const {
  ClusterView out;
  nodes_.each(
      [&](std::string_view key, const api::Node&) { out.nodes.push_back(nodes_.find(key)); });
  metrics_.each([&](std::string_view key, const api::NodeMetric&) {
    out.metrics.emplace(std::string(key), metrics_.find(key));
  });
  pods_.each([&](std::string_view key, const api::Pod&) { out.pods.push_back(pods_.find(key)); });
  reservations_.each([&](std::string_view key, const api::Reservation&) {
    out.reservations.push_back(reservations_.find(key));
  });
  return out;
}

void ClusterFeed::publish() {
  hub_.nodes(json::write(nodeRows(view())));
}

void ClusterFeed::lookAtJobs() {
  const MonoTime now = setup_.clock->mono();
  const bool isEarly = jobsAt_ != MonoTime::min() && now - jobsAt_ < kJobsEvery;
  if (!setup_.node.empty() || isEarly || !pods_.hasSynced()) return;
  jobsAt_ = now;
  feedLedger(view(), setup_.clock->wall(), jobs_);
}

void ClusterFeed::askJobs(Answer answer) {
  setup_.owner->post([self = self_, answer = std::move(answer)]() mutable {
    if (!*self) return;
    const ClusterFeed& feed = **self;
    if (!feed.setup_.node.empty()) return answer("{}");
    answer(json::write(jobBoard(feed.view(), feed.jobs_, feed.setup_.clock->wall())));
  });
}

void ClusterFeed::askPods(std::string node, Answer answer) {
  setup_.owner->post([self = self_, node = std::move(node), answer = std::move(answer)]() mutable {
    if (!*self) return;
    const auto live = (*self)->hub_.live();
    answer(json::write(podRows((*self)->view(), node, live.get())));
  });
}

void ClusterFeed::askOverview(Answer answer) {
  setup_.owner->post([self = self_, answer = std::move(answer)]() mutable {
    if (!*self) return;
    const auto live = (*self)->hub_.live();
    answer(json::write(overviewOf((*self)->view(), live.get())));
  });
}

void ClusterFeed::askQuotas(Answer answer) {
  setup_.owner->post([self = self_, answer = std::move(answer)]() mutable {
    if (!*self) return;
    const ClusterFeed& feed = **self;
    if (!feed.setup_.node.empty()) return answer("{}");
    QuotaObjects quotas;
    feed.quotas_.each([&](std::string_view key, const api::ElasticQuota&) {
      quotas.push_back(feed.quotas_.find(key));
    });
    answer(json::write(quotaBoard(feed.view(), quotas, feed.setup_.clock->wall())));
  });
}

void ClusterFeed::askDevices(Answer answer) {
  setup_.owner->post([self = self_, answer = std::move(answer)]() mutable {
    if (!*self) return;
    const ClusterFeed& feed = **self;
    DeviceObjects devices;
    feed.devices_.each([&](std::string_view key, const api::Device&) {
      devices.push_back(feed.devices_.find(key));
    });
    answer(json::write(deviceBoard(feed.view(), devices)));
  });
}

void ClusterFeed::askMigrations(Answer answer) {
  setup_.owner->post([self = self_, answer = std::move(answer)]() mutable {
    if (!*self) return;
    const ClusterFeed& feed = **self;
    if (!feed.setup_.node.empty()) return answer("{}");
    MigrationObjects jobs;
    feed.migrations_.each([&](std::string_view key, const api::PodMigrationJob&) {
      jobs.push_back(feed.migrations_.find(key));
    });
    const auto said = feed.notice_.find(feed.setup_.configNamespace, descheduler::kNotice);
    answer(json::write(migrationBoard(
        jobs, [&](std::string_view key) { return feed.pods_.find(key); },
        said ? descheduler::noticeOf(said->data) : descheduler::Notice{})));
  });
}

void ClusterFeed::askInterference(Answer answer) {
  setup_.owner->post([self = self_, answer = std::move(answer)]() mutable {
    if (!*self) return;
    const ClusterFeed& feed = **self;
    if (!feed.setup_.node.empty()) return answer("{}");
    InterferenceObjects reports;
    feed.interference_.each([&](std::string_view key, const api::InterferenceReport&) {
      reports.push_back(feed.interference_.find(key));
    });
    answer(json::write(interferenceBoard(reports)));
  });
}

void ClusterFeed::askConfig(Answer answer) {
  setup_.owner->post([self = self_, answer = std::move(answer)]() mutable {
    if (!*self) return;
    const FeedSetup& setup = (*self)->setup_;
    const auto config = (*self)->config_.find(setup.configNamespace, setup.configName);
    answer(json::write(
        configPage(client::keyOf(setup.configNamespace, setup.configName), config.get())));
  });
}

}  // namespace mangrove::dashboard
