#include "manager/config_keeper.h"

#include <fmt/core.h>

#include "base/os/log.h"
#include "client/key.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;
const Logger log("manager");

}  // namespace

ConfigKeeper::ConfigKeeper(Desk& desk, const ManagerOptions& options, std::function<void()> changed)
    : desk_(desk),
      where_(client::keyOf(options.configNamespace, options.configName)),
      changed_(std::move(changed)),
      present_(desk.metrics.gauge("mangrove_manager_config_present",
                                  "1 while the ConfigMap with the strategies exists.")) {}

void ConfigKeeper::listen() {
  desk_.caches.configs.onChange([this](const auto& change) { onChange(change); });
}

void ConfigKeeper::settle() {
  if (!desk_.config->colocation.available && desk_.caches.configs.size() == 0) load(nullptr);
}

void ConfigKeeper::tell() const {
  for (const auto& note : notes_) desk_.warn(note.about, note.reason, note.message);
}

void ConfigKeeper::onChange(const client::Change<api::ConfigMap>& change) {
  if (change.before && change.after && change.before->data == change.after->data) return;
  load(change.after.get());
  if (!change.after && change.before) {
    const auto note =
        fmt::format("{} was deleted: every setting has its default now, nothing is sold", where_);
    log.warn("{}", note);
    notes_ = {{api::refTo(kind::kConfigMap, change.before->meta), "ConfigMapDeleted", note}};
  }
  tell();
  changed_();
}

void ConfigKeeper::load(const api::ConfigMap* map) {
  if (map == nullptr) log.info("no ConfigMap {}: every setting has its default", where_);
  present_.set(map ? 1 : 0);
  notes_.clear();
  auto loaded = loadConfig(*desk_.config, map ? &map->data : nullptr);
  for (const auto& finding : loaded.findings) {
    if (finding.severity != Severity::kError) {
      log.warn("{}", finding.text());
      continue;
    }
    log.error("{}", finding.text());
    if (map)
      notes_.push_back({api::refTo(kind::kConfigMap, map->meta),
                        std::string(eventReasonOf(finding.key)), finding.note()});
  }
  desk_.config = std::make_shared<const SloConfig>(std::move(loaded.state));
}

}  // namespace mangrove::manager
