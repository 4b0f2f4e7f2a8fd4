#include "descheduler/plan/at_once.h"

#include "base/text/strings.h"
#include "descheduler/plugins/low_node_load.h"
#include "descheduler/plugins/make_room.h"

namespace mangrove::descheduler {
namespace {

void forgetPatience(json::Object& pool) {
  json::Value& condition = pool["anomalyCondition"];
  if (!condition.is_object()) condition = json::Object{};
  condition.get_object()["consecutiveAbnormalities"] = 1;
}

// "cpu=8,memory=32Gi"
Result<json::Value> shapeOf(const std::string& text) {
  json::Object requests;
  for (const std::string_view part : split(text, ',')) {
    const size_t at = part.find('=');
    if (at == 0 || at == std::string_view::npos || at + 1 == part.size())
      return invalid("shape '{}': found '{}', want RESOURCE=AMOUNT, separated by commas", text,
                     part);
    requests[part.substr(0, at)] = part.substr(at + 1);
  }
  return json::Object{{"name", text}, {"requests", std::move(requests)}};
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

Result<> planRoomFor(DeschedulerConfig& config, const RoomQuestion& question) {
  config.dryRun = true;
  config.profiles.resize(1);
  ProfileConfig& profile = config.profiles.front();
  profile.deschedule.clear();
  profile.balance = {std::string(MakeRoom::kName)};
  json::Array names, shapes;
  for (const std::string& one : question.whom) names.emplace_back(one);
  for (const std::string& text : question.shapes) {
    auto shape = shapeOf(text);
    if (!shape) return pass(shape.error());
    shapes.push_back(std::move(*shape));
  }
  json::Object args{{"budget", question.budget},
                    {"shapes", std::move(shapes)},
                    {"emptyNodes", question.emptyNodes}};
  // Who asks for shapes alone does not ask for those that wait.
  if (names.empty()) names.emplace_back("nobody/");
  args["for"] = std::move(names);
  profile.args[std::string(MakeRoom::kName)] = std::move(args);
  return {};
}

}  // namespace mangrove::descheduler
