// Texts of a KubeSchedulerConfiguration: whatever is written there is refused with a sentence, or
// read into profiles that have names, known plugins and limits in range, and the same text is read
// the same way again.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "placement/config/config.h"
#include "placement/plugins/registry.h"

using namespace mangrove;
using namespace mangrove::placement;

namespace {

bool isKnown(std::string_view plugin) {
  for (const auto& entry : pluginEntries())
    if (entry.name == plugin) return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 16384) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = readConfig(text, "fuzz");
  if (!config) {
    CHECK(!config.error().text().empty(), "an empty refusal");
    return 0;
  }
  CHECK(!config->profiles.empty(), "no profile");
  CHECK(config->percentageOfNodesToScore >= 0 && config->percentageOfNodesToScore <= 100, "{}",
        config->percentageOfNodesToScore);
  for (const auto& profile : config->profiles) {
    CHECK(!profile.schedulerName.empty(), "a profile without a name");
    for (const auto& [point, plugins] : profile.points)
      for (const auto& plugin : plugins)
        CHECK(isKnown(plugin.name), "{} has {}", point, plugin.name);
  }
  const auto again = readConfig(text, "fuzz");
  CHECK(again && again->profiles.size() == config->profiles.size(), "read differently");
  for (size_t i = 0; i < config->profiles.size(); i++)
    CHECK(again->profiles[i].points == config->profiles[i].points, "merged differently");
  return 0;
}
