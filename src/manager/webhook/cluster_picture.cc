#include "manager/webhook/cluster_picture.h"

#include <utility>

#include "api/annotations/quota.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "client/informer/follow.h"
#include "manager/listed.h"

namespace mangrove::manager {
namespace {

const Logger log("webhook");

}  // namespace

ClusterPicture::ClusterPicture(PictureSetup setup)
    : setup_(std::move(setup)),
      profiles_(client::follow(setup_, client::kind::kClusterColocationProfile)),
      namespaces_(client::follow(setup_, client::kind::kNamespace)),
      classes_(client::follow(setup_, client::kind::kPriorityClass)),
      quotas_(client::follow(setup_, client::kind::kElasticQuota)),
      quotaProfiles_(client::follow(setup_, client::kind::kElasticQuotaProfile)),
      configs_(client::followOne(setup_, client::kind::kConfigMap, setup_.configNamespace,
                                 setup_.configName)),
      rules_(client::followOne(setup_, client::kind::kConfigMap, setup_.rulesNamespace,
                               setup_.rulesName)) {
  auto first = std::make_shared<Surroundings>(setup_.fixed);
  first->quotas = std::make_shared<const QuotaTree>();
  now_ = std::move(first);
  if (setup_.clock == nullptr) setup_.clock = &realClock();
  if (setup_.metrics != nullptr) {
    sharedWeight_ = &setup_.metrics->gauges("koord_manager_webhook_quota_shared_weight",
                                            "Weight of a quota in dividing what is left.",
                                            {"elasticquota_name", "resource_name"});
    brokenProfiles_ = setup_.metrics->gauge(
        "mangrove_manager_unusable_colocation_profiles",
        "Profiles that match nothing because a selector of theirs cannot be read.");
  }
  followProfiles();
  followNames();
  followQuotas();
  followConfigs();
}

ClusterPicture::~ClusterPicture() = default;

void ClusterPicture::followProfiles() {
  profiles_.onChange([this](const client::Change<api::ColocationProfile>& change) {
    if (change.after) {
      auto profile = std::make_shared<const Profile>(compileProfile(*change.after));
      if (!profile->trouble.empty())
        log.warn("ClusterColocationProfile {} matches nothing: {}", change.key, profile->trouble);
      compiled_.insert_or_assign(std::string(change.key), std::move(profile));
    } else {
      compiled_.erase(std::string(change.key));
    }
    changed(kProfiles);
  });
}

void ClusterPicture::followNames() {
  namespaces_.onChange([this](const client::Change<api::Namespace>& change) {
    const bool same =
        change.before && change.after && change.before->meta.labels == change.after->meta.labels;
    if (!same) changed(kNamespaces);
  });
  classes_.onChange([this](const client::Change<api::PriorityClass>&) { changed(kClasses); });
}

void ClusterPicture::followQuotas() {
  quotas_.onChange([this](const client::Change<api::ElasticQuota>& change) {
    pending_.erase(std::string(change.key));
    changed(kQuotas);
    if (sharedWeight_ == nullptr) return;
    if (change.before)
      sharedWeight_->removeIf(
          [&](const LabelValues& values) { return values[0] == change.before->meta.name.view(); });
    if (!change.after) return;
    for (const auto& [name, amount] : api::sharedWeightOf(*change.after))
      sharedWeight_->with({change.after->meta.name.str(), name.str()}).set(amount.approximate());
  });
  quotaProfiles_.onChange([this](const client::Change<api::QuotaProfile>&) { changed(kQuotas); });
}

void ClusterPicture::followConfigs() {
  const auto onChange = [this](const client::Change<api::ConfigMap>&) { changed(kConfig); };
  configs_.onChange(onChange);
  rules_.onChange(onChange);
}

void ClusterPicture::start() {
  profiles_.start();
  namespaces_.start();
  classes_.start();
  quotas_.start();
  quotaProfiles_.start();
  configs_.start();
  rules_.start();
}

std::string ClusterPicture::waitingFor() const {
  for (auto& text :
       {notListed(profiles_, "ClusterColocationProfiles"), notListed(namespaces_, "namespaces"),
        notListed(classes_, "PriorityClasses"), notListed(quotas_, "ElasticQuotas"),
        notListed(quotaProfiles_, "ElasticQuotaProfiles"), notListed(configs_, "ConfigMaps"),
        notListed(rules_, "the enhanced validator's ConfigMaps")})
    if (!text.empty()) return text;
  return dirty_ != 0 ? "a new picture of the cluster is being made" : "";
}

std::shared_ptr<const Surroundings> ClusterPicture::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

void ClusterPicture::publish(std::shared_ptr<const Surroundings> next) {
  const std::lock_guard lock(mutex_);
  now_ = std::move(next);
}

void ClusterPicture::changed(Part part) {
  dirty_ |= part;
  if (std::exchange(posted_, true)) return;
  setup_.owner->post(life_.guard([this] { republish(); }));
}

std::shared_ptr<const ProfileIndex> ClusterPicture::indexNow() {
  ProfileIndex::Profiles all;
  all.reserve(compiled_.size());
  size_t broken = 0;
  for (const auto& [name, profile] : compiled_) {
    broken += profile->trouble.empty() ? 0 : 1;
    all.push_back(profile);
  }
  brokenProfiles_.set(static_cast<double>(broken));
  return std::make_shared<const ProfileIndex>(std::move(all));
}

std::shared_ptr<const QuotaTree> ClusterPicture::treeNow() const {
  std::vector<Quota> quotas;
  quotas_.each([&](std::string_view key, const api::ElasticQuota& object) {
    if (pending_.contains(key)) return;
    if (auto quota = quotaOf(object)) quotas.push_back(std::move(*quota));
  });
  for (const auto& [key, pending] : pending_)
    if (!pending.gone) quotas.push_back(pending.quota);
  QuotaTree::TreeNodes nodes;
  quotaProfiles_.each([&](std::string_view, const api::QuotaProfile& profile) {
    const auto tree = profile.meta.labels.get(api::label::kQuotaTreeId);
    if (tree && profile.spec.nodeSelector)
      nodes.emplace(std::string(*tree), *profile.spec.nodeSelector);  // the first one counts
  });
  return std::make_shared<const QuotaTree>(std::move(quotas), std::move(nodes));
}

void ClusterPicture::republish() {
  posted_ = false;
  const unsigned dirty = std::exchange(dirty_, 0);
  auto next = std::make_shared<Surroundings>(*now());
  if (dirty & kProfiles) next->profiles = indexNow();
  if (dirty & kNamespaces) {
    auto names = std::make_shared<NamespaceLabels>();
    namespaces_.each([&](std::string_view key, const api::Namespace& ns) {
      names->emplace(std::string(key), ns.meta.labels);
    });
    next->namespaces = std::move(names);
  }
  if (dirty & kClasses) {
    auto classes = std::make_shared<PriorityClasses>();
    classes_.each([&](std::string_view key, const api::PriorityClass& one) {
      classes->emplace(std::string(key), PriorityClassInfo{one.value, one.preemptionPolicy});
    });
    next->priorityClasses = std::move(classes);
  }
  if (dirty & kQuotas) next->quotas = treeNow();
  if (dirty & kConfig) {
    const auto slo = configs_.find(setup_.configNamespace, setup_.configName);
    next->sloConfig = std::make_shared<const ConfigData>(slo ? slo->data : ConfigData());
    const auto rules = rules_.find(setup_.rulesNamespace, setup_.rulesName);
    auto parsed = parseEnhancedRules(rules ? rules->data : ConfigData());
    if (parsed)
      next->enhancedRules = std::make_shared<const std::vector<EnhancedRule>>(std::move(*parsed));
    else
      log.warn("ConfigMap {}/{}: {}; the rules stay as they were", setup_.rulesNamespace,
               setup_.rulesName, parsed.error().text());
  }
  publish(std::move(next));
}

void ClusterPicture::settle() {
  const MonoTime now = setup_.clock->mono();
  const size_t forgotten =
      std::erase_if(pending_, [&](const auto& entry) { return entry.second.until <= now; });
  if (forgotten == 0) return;
  changed(kQuotas);
  republish();
}

void ClusterPicture::expect(Quota quota) {
  const std::string key = client::keyOf(quota.ns, quota.name);
  pending_[key] = {std::move(quota), false, setup_.clock->mono() + kPendingFor};
  changed(kQuotas);
  republish();
}

void ClusterPicture::expectGone(const std::string& ns, const std::string& name) {
  pending_[client::keyOf(ns, name)] = {{}, true, setup_.clock->mono() + kPendingFor};
  changed(kQuotas);
  republish();
}

}  // namespace mangrove::manager
