#include "descheduler/plan/at_once.h"

#include "descheduler/plugins/low_node_load.h"
#include "descheduler/plugins/make_room.h"

namespace mangrove::descheduler {
namespace {

void forgetPatience(json::Object& pool) {
  json::Value& condition = pool["anomalyCondition"];
  if (!condition.is_object()) condition = json::Object{};
  condition.get_object()["consecutiveAbnormalities"] = 1;
}

}  // namespace

void planAtOnce(DeschedulerConfig& config) {
  config.dryRun = true;
  for (ProfileConfig& profile : config.profiles) {
    const auto args = profile.args.find(std::string(LowNodeLoad::kName));
    if (args == profile.args.end() || !args->second.is_object()) continue;
    json::Object& object = args->second.get_object();
    forgetPatience(object);
    json::Value* pools = object.if_contains("nodePools");
    if (pools == nullptr || !pools->is_array()) continue;
    for (json::Value& pool : pools->get_array())
      if (pool.is_object()) forgetPatience(pool.get_object());
  }
}

void planRoomFor(DeschedulerConfig& config, const std::vector<std::string>& whom, int64_t budget) {
  config.dryRun = true;
  config.profiles.resize(1);
  ProfileConfig& profile = config.profiles.front();
  profile.deschedule.clear();
  profile.balance = {std::string(MakeRoom::kName)};
  json::Array names;
  for (const std::string& one : whom) names.emplace_back(one);
  profile.args[std::string(MakeRoom::kName)] =
      json::Object{{"for", std::move(names)}, {"budget", budget}};
}

}  // namespace mangrove::descheduler
