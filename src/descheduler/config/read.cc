#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "descheduler/config/config.h"
#include "descheduler/config/known.h"
#include "json/yaml.h"

namespace mangrove::descheduler {
namespace {

constexpr std::string_view kApiVersion = "descheduler/v1alpha2";
constexpr std::string_view kKind = "DeschedulerConfiguration";
constexpr std::string_view kDefaultEvict = "MigrationController";

std::string nearestPlugin(std::string_view name) {
  std::vector<std::string_view> names;
  for (const KnownPlugin& one : knownPlugins()) names.push_back(one.name);
  return didYouMean(name, names);
}

std::vector<std::string> namesIn(Args& args, std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& entry : args.list(key)) {
    Args one(entry, fmt::format("{}.{}", args.where(), key));
    one.only({"name"});
    const std::string name = one.text("name");
    if (name != "*" && knownPlugin(name) == nullptr) {
      one.complain(fmt::format("unknown plugin '{}'{}", name, nearestPlugin(name)));
    }
    if (std::find(out.begin(), out.end(), name) != out.end()) {
      one.complain(fmt::format("plugin {} is listed twice", name));
    }
    out.push_back(name);
    args.take(one);
  }
  return out;
}

// Defaults stay in front unless they are disabled; what is enabled besides follows in its order.
std::vector<std::string> merged(Args& plugins, std::string_view point, bool KnownPlugin::*serves,
                                std::vector<std::string> defaults) {
  Args part = plugins.object(point);
  part.only({"enabled", "disabled"});
  const std::vector<std::string> enabled = namesIn(part, "enabled");
  const std::vector<std::string> disabled = namesIn(part, "disabled");
  std::vector<std::string> out;
  for (std::string& name : defaults) {
    const bool off = std::any_of(disabled.begin(), disabled.end(),
                                 [&](const auto& one) { return one == "*" || one == name; });
    if (!off) out.push_back(std::move(name));
  }
  for (const std::string& name : enabled) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  for (const std::string& name : out) {
    const KnownPlugin* plugin = knownPlugin(name);
    if (plugin != nullptr && !(plugin->*serves)) {
      part.complain(fmt::format("plugin {} cannot be used for {}", name, point));
    }
  }
  plugins.take(part);
  return out;
}

void readPluginConfig(Args& args, ProfileConfig& profile) {
  for (const json::Value& entry : args.list("pluginConfig")) {
    Args one(entry, args.where() + ".pluginConfig");
    one.only({"name", "args"});
    const std::string name = one.text("name");
    if (knownPlugin(name) == nullptr) {
      one.complain(fmt::format("unknown plugin '{}'{}", name, nearestPlugin(name)));
    }
    const json::Value* value = one.find("args");
    if (!profile.args.emplace(name, value != nullptr ? *value : json::Value()).second) {
      one.complain(fmt::format("arguments of {} are given twice", name));
    }
    args.take(one);
  }
}

ProfileConfig readProfile(Args& args) {
  args.only({"name", "nodeSelector", "plugins", "pluginConfig"});
  ProfileConfig out;
  out.name = args.text("name");
  if (out.name.empty()) args.complain("a profile has no name");
  out.nodeSelector = readSelector(args, "nodeSelector");
  Args plugins = args.object("plugins");
  plugins.only({"deschedule", "balance", "evict", "filter"});
  out.deschedule = merged(plugins, "deschedule", &KnownPlugin::deschedule, {});
  out.balance = merged(plugins, "balance", &KnownPlugin::balance, {});
  out.evict = merged(plugins, "evict", &KnownPlugin::evict, {std::string(kDefaultEvict)});
  out.filter = merged(plugins, "filter", &KnownPlugin::evict, {std::string(kDefaultEvict)});
  if (out.evict.size() != 1) {
    plugins.complain(fmt::format("profile {} has {} evict plugins ({}), want exactly one", out.name,
                                 out.evict.size(), join(out.evict, ", ")));
  }
  args.take(plugins);
  readPluginConfig(args, out);
  return out;
}

void readProfiles(Args& args, DeschedulerConfig& out) {
  std::set<std::string> names;
  for (const json::Value& entry : args.list("profiles")) {
    Args one(entry, "profiles");
    ProfileConfig profile = readProfile(one);
    if (!names.insert(profile.name).second) {
      one.complain(fmt::format("two profiles are called '{}'", profile.name));
    }
    out.profiles.push_back(std::move(profile));
    args.take(one);
  }
  if (out.profiles.empty()) out.profiles = defaultConfig().profiles;
}

void readElection(Args& args, ElectionSettings& out) {
  Args part = args.object("leaderElection");
  part.only({"leaderElect", "leaseDuration", "renewDeadline", "retryPeriod", "resourceLock",
             "resourceName", "resourceNamespace"});
  out.elect = part.boolean("leaderElect", out.elect);
  client::ElectionConfig& lease = out.lease;
  lease.leaseDuration = part.duration("leaseDuration").value_or(lease.leaseDuration);
  lease.renewDeadline = part.duration("renewDeadline").value_or(lease.renewDeadline);
  lease.retryPeriod = part.duration("retryPeriod").value_or(lease.retryPeriod);
  lease.name = part.text("resourceName", lease.name);
  lease.ns = part.text("resourceNamespace", lease.ns);
  args.take(part);
}

void readConnection(Args& args, DeschedulerConfig& out) {
  Args part = args.object("clientConnection");
  part.only({"kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"});
  out.kubeconfig = part.text("kubeconfig");
  out.qps = part.number("qps", out.qps);
  out.burst = part.integer("burst", out.burst);
  args.take(part);
}

std::optional<int64_t> readCount(Args& args, std::string_view key) {
  if (!args.has(key)) return std::nullopt;
  const int64_t count = args.integer(key, 0);
  if (count < 0) args.complain(fmt::format("{} is {}, want 0 or more", key, count));
  return count;
}

std::string readAddress(Args& args, std::string_view key, const std::string& fallback) {
  const auto address = bindAddress(args.text(key, fallback));
  if (!address) args.complain(fmt::format("{}: {}", key, address.error().text()));
  return address ? *address : fallback;
}

void checkKind(Args& args) {
  const std::string version = args.text("apiVersion");
  const std::string kind = args.text("kind");
  if (version != kApiVersion || kind != kKind) {
    args.complain(
        fmt::format("it is a {} of '{}', want a {} of '{}'", kind, version, kKind, kApiVersion));
  }
}

// Arguments of the reference's that this program reads over: who sets one is told why.
struct WithoutEffect {
  std::string_view plugin, member, why;
};
constexpr WithoutEffect kWithoutEffect[] = {
    {"MigrationController", "maxConcurrentReconciles", "jobs are carried by their events"},
    {"MigrationController", "enabled", "jobs are always arbitrated"},
    {"CustomPriority", "keepThreshold", "a level is left or not by its nodeSelector alone"},
    {"CustomPriority", "rejectThreshold", "a level is left or not by its nodeSelector alone"},
};

// Whether a member of that name stands anywhere in the value.
bool mentions(const json::Value& value, std::string_view member) {
  if (const auto* object = value.if_object()) {
    return std::any_of(object->begin(), object->end(), [&](const auto& entry) {
      return std::string_view(entry.key()) == member || mentions(entry.value(), member);
    });
  }
  const auto* array = value.if_array();
  return array != nullptr && std::any_of(array->begin(), array->end(), [&](const auto& entry) {
           return mentions(entry, member);
         });
}

void warnOfPlugin(const json::Value& entry, std::vector<std::string>& out) {
  const auto* object = entry.if_object();
  const auto* name = object == nullptr ? nullptr : object->if_contains("name");
  const auto* args = object == nullptr ? nullptr : object->if_contains("args");
  if (name == nullptr || !name->is_string() || args == nullptr) return;
  for (const auto& [plugin, member, why] : kWithoutEffect) {
    if (std::string_view(name->get_string()) == plugin && mentions(*args, member))
      out.push_back(fmt::format("{}: {} has no effect: {}", plugin, member, why));
  }
}

void warnOfArguments(const json::Value& document, std::vector<std::string>& out) {
  const auto* object = document.if_object();
  const auto* profiles = object == nullptr ? nullptr : object->if_contains("profiles");
  if (profiles == nullptr || !profiles->is_array()) return;
  for (const auto& profile : profiles->get_array()) {
    const auto* one = profile.if_object();
    const auto* plugins = one == nullptr ? nullptr : one->if_contains("pluginConfig");
    if (plugins == nullptr || !plugins->is_array()) continue;
    for (const auto& entry : plugins->get_array()) warnOfPlugin(entry, out);
  }
}

}  // namespace

DeschedulerConfig defaultConfig() {
  DeschedulerConfig out;
  ProfileConfig profile;
  profile.evict = profile.filter = {std::string(kDefaultEvict)};
  out.profiles.push_back(std::move(profile));
  return out;
}

Result<std::string> bindAddress(std::string_view text) {
  constexpr std::string_view kPort = "10251";
  if (text.empty()) return std::string("0.0.0.0:10251");
  const size_t colon = text.rfind(':');
  const bool bareV6 = text.find(':') != colon && !text.starts_with('[');
  if (colon == std::string_view::npos || bareV6) return fmt::format("{}:{}", text, kPort);
  const std::string_view host = text.substr(0, colon);
  const auto port = parseInt<uint16_t>(text.substr(colon + 1));
  if (!port) return invalid("'{}' is no address, want host:port", text);
  return fmt::format("{}:{}", host.empty() ? "0.0.0.0" : host, *port);
}

Result<DeschedulerConfig> readConfig(std::string_view text, std::string_view name) {
  auto document = json::parseYamlDocument(text, name);
  if (!document) return pass(document.error());
  Args args(*document, std::string(name));
  args.only({"leaderElection", "clientConnection", "enableProfiling", "enableContentionProfiling",
             "healthzBindAddress", "metricsBindAddress", "deschedulingInterval", "dryRun",
             "nodeSelector", "maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace",
             "maxNoOfPodsToEvictTotal", "profiles"});
  checkKind(args);
  DeschedulerConfig out;
  readElection(args, out.election);
  readConnection(args, out);
  out.healthAddress = readAddress(args, "healthzBindAddress", out.healthAddress);
  out.metricsAddress = readAddress(args, "metricsBindAddress", out.metricsAddress);
  out.interval = args.duration("deschedulingInterval").value_or(Duration::zero());
  if (out.interval < Duration::zero()) args.complain("deschedulingInterval is negative");
  out.dryRun = args.boolean("dryRun", false);
  out.nodeSelector = readSelector(args, "nodeSelector");
  out.maxPerNode = readCount(args, "maxNoOfPodsToEvictPerNode");
  out.maxPerNamespace = readCount(args, "maxNoOfPodsToEvictPerNamespace");
  out.maxTotal = readCount(args, "maxNoOfPodsToEvictTotal");
  readProfiles(args, out);
  warnOfArguments(*document, out.warnings);
  for (const char* key : {"enableProfiling", "enableContentionProfiling"}) {
    if (args.boolean(key, false)) out.warnings.push_back(fmt::format("{} has no effect here", key));
  }
  // The frame opens its port before a file is read.
  for (const std::string* address : {&out.healthAddress, &out.metricsAddress}) {
    if (*address == DeschedulerConfig{}.healthAddress) continue;
    out.warnings.push_back(fmt::format(
        "{}: the address is set by --metrics-bind-address, not by this file", *address));
  }
  if (auto ok = args.done(); !ok) return pass(ok.error());
  out.text = std::move(*document);
  return out;
}

}  // namespace mangrove::descheduler
