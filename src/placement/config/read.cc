#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/text/nearest.h"
#include "json/yaml.h"
#include "placement/config/config.h"
#include "placement/config/merge.h"
#include "placement/framework/args.h"
#include "placement/plugins/registry.h"

namespace mangrove::placement {

namespace {

constexpr std::string_view kApiVersion = "kubescheduler.config.k8s.io/v1";

bool isKnown(std::string_view name) {
  for (const auto& entry : pluginEntries())
    if (entry.name == name) return true;
  return false;
}

// So that the sum over all plugins of weight · 100 stays a 32-bit number.
constexpr int64_t kMaxWeight = 1'000'000;

std::string nearestPlugin(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& entry : pluginEntries()) known.push_back(entry.name);
  return didYouMean(name, known);
}

void checkPlugin(std::string_view name, Args& args) {
  if (!isKnown(name) && name != "*")
    args.complain(fmt::format("unknown plugin '{}'{}", name, nearestPlugin(name)));
}

PluginWishes::Point readPoint(Args args, Args& complaints) {
  PluginWishes::Point point;
  args.only({"enabled", "disabled"});
  for (const auto& entry : args.list("enabled")) {
    Args one(entry, args.where() + ".enabled");
    one.only({"name", "weight"});
    const std::string name = one.text("name");
    checkPlugin(name, one);
    const int64_t weight = one.integer("weight", 0);
    if (weight < 0 || weight > kMaxWeight)
      one.complain(fmt::format("weight {} of plugin {}: want 0..{}", weight, name, kMaxWeight));
    point.enabled.push_back(
        {name, static_cast<int32_t>(std::clamp<int64_t>(weight, 0, kMaxWeight))});
    args.take(one);
  }
  for (const auto& entry : args.list("disabled")) {
    Args one(entry, args.where() + ".disabled");
    one.only({"name", "weight"});
    const std::string name = one.text("name");
    checkPlugin(name, one);
    point.disabled.push_back(name);
    args.take(one);
  }
  complaints.take(args);
  return point;
}

PluginWishes readPlugins(Args args, Args& complaints) {
  PluginWishes wishes;
  args.only({"multiPoint", "preEnqueue", "queueSort", "preFilter", "filter", "postFilter",
             "preScore", "score", "reserve", "permit", "preBind", "bind", "postBind"});
  wishes.points["multiPoint"] = readPoint(args.object("multiPoint"), args);
  for (auto point : pointNames())
    if (args.has(point)) wishes.points[std::string(point)] = readPoint(args.object(point), args);
  complaints.take(args);
  return wishes;
}

// Every profile that says anything about plugins writes through DefaultPreBind unless told not to.
void addDefaultPreBind(PluginWishes& wishes) {
  auto& preBind = wishes.points["preBind"];
  const bool listed =
      std::any_of(preBind.enabled.begin(), preBind.enabled.end(),
                  [](const auto& plugin) { return plugin.name == "DefaultPreBind"; });
  const bool dropped = std::find(preBind.disabled.begin(), preBind.disabled.end(),
                                 "DefaultPreBind") != preBind.disabled.end();
  if (!listed && !dropped) preBind.enabled.push_back({"DefaultPreBind", 0});
}

void readPluginArgs(Args& args, ProfileConfig& profile) {
  for (const auto& entry : args.list("pluginConfig")) {
    Args one(entry, args.where() + ".pluginConfig");
    one.only({"name", "args"});
    const std::string name = one.text("name");
    checkPlugin(name, one);
    if (profile.args.contains(name)) one.complain(fmt::format("plugin {} is there twice", name));
    if (const json::Value* given = one.find("args")) {
      Args inner(*given, name);
      const std::string kind = inner.text("kind", name + "Args");
      if (kind != name + "Args")
        one.complain(fmt::format("kind '{}' of plugin {}: want {}Args", kind, name, name));
      one.take(inner);
      profile.args[name] = *given;
    }
    args.take(one);
  }
}

void readPluginsOf(Args& args, PlainProfile plain, ProfileConfig& profile) {
  if (!args.has("plugins")) {
    ProfileConfig rest = plain(profile.schedulerName);
    profile.points = std::move(rest.points);
    readPluginArgs(args, profile);
    profile.args.merge(rest.args);
    return;
  }
  PluginWishes wishes = readPlugins(args.object("plugins"), args);
  addDefaultPreBind(wishes);
  profile.points = mergePoints(wishes);
  readPluginArgs(args, profile);
}

ProfileConfig readProfile(const json::Value& value, PlainProfile plain, Args& complaints) {
  Args args(value, "profiles");
  args.only({"schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"});
  ProfileConfig profile;
  profile.schedulerName = args.text("schedulerName", "default-scheduler");
  if (args.has("percentageOfNodesToScore")) {
    const int64_t percentage = args.integer("percentageOfNodesToScore", 0);
    if (percentage < 0 || percentage > 100)
      args.complain(fmt::format("percentageOfNodesToScore: {} is not in 0..100", percentage));
    profile.percentageOfNodesToScore = static_cast<int32_t>(percentage);
  }
  readPluginsOf(args, plain, profile);
  complaints.take(args);
  return profile;
}

// Arguments of a plugin that the profile does not have.
void warnOfIdleArgs(SchedulerConfig& config) {
  for (const ProfileConfig& profile : config.profiles)
    for (const auto& [plugin, args] : profile.args) {
      const bool isThere = std::any_of(
          profile.points.begin(), profile.points.end(), [&name = plugin](const auto& point) {
            return std::any_of(point.second.begin(), point.second.end(),
                               [&](const auto& enabled) { return enabled.name == name; });
          });
      if (!isThere)
        config.warnings.push_back(
            fmt::format("profile {}: pluginConfig of {} has no effect: the profile does not enable "
                        "the plugin at any extension point",
                        profile.schedulerName, plugin));
    }
}

void readElection(Args args, Args& complaints, LeaderElectionConfig& out) {
  args.only({"leaderElect", "leaseDuration", "renewDeadline", "retryPeriod", "resourceLock",
             "resourceName", "resourceNamespace"});
  out.leaderElect = args.boolean("leaderElect", out.leaderElect);
  out.leaseDuration = args.duration("leaseDuration").value_or(out.leaseDuration);
  out.renewDeadline = args.duration("renewDeadline").value_or(out.renewDeadline);
  out.retryPeriod = args.duration("retryPeriod").value_or(out.retryPeriod);
  out.resourceName = args.text("resourceName", out.resourceName);
  out.resourceNamespace = args.text("resourceNamespace", out.resourceNamespace);
  if (const std::string lock = args.text("resourceLock", "leases"); lock != "leases")
    args.complain(fmt::format("resourceLock '{}': want leases", lock));
  complaints.take(args);
}

void checkProfiles(const SchedulerConfig& config, Args& args) {
  std::set<std::string> names;
  for (const auto& profile : config.profiles) {
    if (!names.insert(profile.schedulerName).second)
      args.complain(fmt::format("schedulerName '{}' is there twice", profile.schedulerName));
    const auto& sort = profile.at("queueSort");
    if (sort.size() != 1)
      args.complain(fmt::format("profile {}: {} plugins at queueSort, want one",
                                profile.schedulerName, sort.size()));
    else if (sort != config.profiles[0].at("queueSort"))
      args.complain(fmt::format("profile {}: queueSort differs from that of profile {}",
                                profile.schedulerName, config.profiles[0].schedulerName));
    if (profile.at("bind").empty())
      args.complain(
          fmt::format("profile {}: no plugin at bind, want DefaultBinder", profile.schedulerName));
  }
}

Duration readBackoff(Args& args, std::string_view key, int64_t fallback) {
  const int64_t seconds = args.integer(key, fallback);
  if (seconds < 0) args.complain(fmt::format("{}: {} is below 0", key, seconds));
  return std::chrono::seconds(seconds);
}

// Fields that a file may have and that change nothing here: said, never passed over.
void warnOfUseless(const Args& args,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> fields,
                   SchedulerConfig& out) {
  for (const auto& [field, why] : fields)
    if (args.has(field)) out.warnings.push_back(fmt::format("{} has no effect: {}", field, why));
}

}  // namespace

Result<SchedulerConfig> readConfig(std::string_view text, std::string_view name,
                                   PlainProfile plain) {
  auto document = json::parseYamlDocument(text, name);
  if (!document) return pass(document.error());
  Args args(*document, std::string(name));
  args.only({"parallelism", "leaderElection", "clientConnection", "enableProfiling",
             "enableContentionProfiling", "percentageOfNodesToScore", "podInitialBackoffSeconds",
             "podMaxBackoffSeconds", "profiles", "extenders", "delayCacheUntilActive",
             "healthzBindAddress", "metricsBindAddress"});
  SchedulerConfig out;
  if (const auto v = args.text("apiVersion", kApiVersion); v != kApiVersion)
    args.complain(fmt::format("apiVersion '{}': want {}", v, kApiVersion));
  if (const auto kind = args.text("kind", "KubeSchedulerConfiguration");
      kind != "KubeSchedulerConfiguration")
    args.complain(fmt::format("kind '{}': want KubeSchedulerConfiguration", kind));
  if (!args.list("extenders").empty())
    args.complain("extenders: HTTP extenders are not supported; use plugins of a profile instead");
  out.percentageOfNodesToScore = static_cast<int32_t>(args.integer("percentageOfNodesToScore", 0));
  if (out.percentageOfNodesToScore < 0 || out.percentageOfNodesToScore > 100)
    args.complain(
        fmt::format("percentageOfNodesToScore: {} is not in 0..100", out.percentageOfNodesToScore));
  out.podInitialBackoff = readBackoff(args, "podInitialBackoffSeconds", 1);
  out.podMaxBackoff = readBackoff(args, "podMaxBackoffSeconds", 10);
  readElection(args.object("leaderElection"), args, out.leaderElection);
  Args connection = args.object("clientConnection");
  connection.only({"kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"});
  out.kubeconfig = connection.text("kubeconfig");
  if (connection.has("qps")) out.qps = connection.number("qps", 0);
  if (connection.has("burst")) out.burst = connection.number("burst", 0);
  warnOfUseless(connection,
                {{"contentType", "the client asks for what the server does best"},
                 {"acceptContentTypes", "the client asks for what the server does best"}},
                out);
  warnOfUseless(args,
                {{"parallelism", "one thread decides"},
                 {"enableProfiling", "profiles are taken with tools of the system"},
                 {"enableContentionProfiling", "one thread decides, nothing contends"},
                 {"delayCacheUntilActive", "caches are filled from the start"},
                 {"healthzBindAddress", "use --metrics-bind-address"},
                 {"metricsBindAddress", "use --metrics-bind-address"}},
                out);
  args.take(connection);
  for (const auto& profile : args.list("profiles"))
    out.profiles.push_back(readProfile(profile, plain, args));
  if (out.profiles.empty()) out.profiles.push_back(plain("default-scheduler"));
  checkProfiles(out, args);
  warnOfIdleArgs(out);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::placement
