#include "cli/scheduler_config.h"

#include <vector>

#include "api/object/node.h"
#include "api/wire/decode.h"
#include "base/os/files.h"
#include "up/one_machine.h"

namespace mangrove::cli {
namespace {

// The scheduler of `mangrove up` judges in its own way.
bool isUp(client::ApiClient& client) {
  const auto page = client.list(client::kind::kNode, "", {.limit = 2});
  std::vector<api::Node> nodes;
  if (page)
    for (auto item : page->items)
      if (auto node = api::decodeText<api::Node>(item)) nodes.push_back(std::move(*node));
  return up::isOneMachine(nodes);
}

}  // namespace

Result<placement::SchedulerConfig> schedulerConfigOf(const std::string& file,
                                                     client::ApiClient& client) {
  if (isUp(client)) return up::oneMachineConfig(file);
  if (file.empty()) return placement::defaultConfig({"koord-scheduler", "default-scheduler"});
  auto text = readFile(file);
  if (!text) return pass(text.error());
  return placement::readConfig(*text, file);
}

}  // namespace mangrove::cli
