#include "agent/report/topology_reporter.h"

#include <algorithm>
#include <array>

#include "api/wire/names.h"
#include "base/os/log.h"
#include "kernel/meminfo.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

constexpr std::array kManaged = {api::resource::kCpu, api::resource::kMemory, api::resource::kGpu,
                                 api::resource::kHugePages2Mi, api::resource::kHugePages1Gi};

bool isManaged(const api::ZoneResource& resource) {
  return std::any_of(kManaged.begin(), kManaged.end(),
                     [&](std::string_view name) { return resource.name == name; });
}

// Texts that mean the same JSON are the same.
bool sameJson(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto left = json::parse(a), right = json::parse(b);
  return left && right && json::equal(*left, *right);
}

json::Object annotationsJson(const std::map<std::string, std::string>& values) {
  json::Object out;
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

std::vector<ZoneMemory> zoneMemory(const Machine& machine) {
  std::vector<ZoneMemory> zones;
  for (int node : machine.numaNodes()) {
    auto text = kernel::readText(machine.root(), kernel::numaMemInfoPath(machine.mounts(), node));
    // A text that was cut off may have lost digits; the kernel ends it with a line end.
    const bool whole = text && *text && (*text)->ends_with('\n');
    const auto info =
        whole ? kernel::parseMemInfo(**text) : Result<kernel::MemInfo>(fail(Code::kNotFound, ""));
    if (info)
      zones.push_back(
          {node, info->total, kernel::readHugePages(machine.root(), machine.mounts(), node)});
  }
  return zones;
}

}  // namespace

std::vector<api::Zone> mergedZones(const std::vector<api::Zone>& present,
                                   const std::vector<api::Zone>& want) {
  std::vector<api::Zone> out = want;
  for (api::Zone& zone : out) {
    const auto old = std::find_if(present.begin(), present.end(),
                                  [&](const api::Zone& z) { return z.name == zone.name; });
    if (old == present.end()) continue;
    zone.parent = old->parent;
    zone.costs = old->costs;
    zone.attributes = old->attributes;
    for (const api::ZoneResource& resource : old->resources)
      if (!isManaged(resource)) zone.resources.push_back(resource);
    std::sort(zone.resources.begin(), zone.resources.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  return out;
}

std::optional<json::Value> topologyPatch(const api::NodeResourceTopology& object,
                                         const DesiredTopology& want) {
  json::Object annotations, labels, patch;
  for (const auto& [key, value] : want.annotations) {
    const auto now = object.meta.annotations.get(key);
    if (!now || !sameJson(*now, value)) annotations[key] = value;
  }
  for (const auto& [key, value] : want.labels)
    if (object.meta.labels.get(key) != std::string_view(value)) labels[key] = value;
  if (!want.labels.contains(std::string(api::label::kEnableNumaReservation)) &&
      object.meta.labels.has(api::label::kEnableNumaReservation))
    labels[api::label::kEnableNumaReservation] = nullptr;
  json::Object meta;
  if (!annotations.empty()) meta["annotations"] = std::move(annotations);
  if (!labels.empty()) meta["labels"] = std::move(labels);
  if (!meta.empty()) patch["metadata"] = std::move(meta);
  if (object.topologyPolicies != want.policies)
    patch["topologyPolicies"] = api::toJson(want.policies);
  const std::vector<api::Zone> zones = mergedZones(object.zones, want.zones);
  if (zones != object.zones) patch["zones"] = api::toJson(zones);
  if (patch.empty()) return std::nullopt;
  return patch;
}

json::Value newTopology(const std::string& name, const api::Node& node,
                        const DesiredTopology& want) {
  json::Object labels = annotationsJson(want.labels);
  labels[api::label::kManagedBy] = "Koordinator";
  json::Object owner{
      {"apiVersion", "v1"},         {"kind", "Node"},     {"name", node.meta.name.view()},
      {"uid", node.meta.uid.str()}, {"controller", true}, {"blockOwnerDeletion", true}};
  return json::Object{
      {"apiVersion", api::kind::kNodeResourceTopology.apiVersion()},
      {"kind", "NodeResourceTopology"},
      {"metadata", json::Object{{"name", name},
                                {"labels", std::move(labels)},
                                {"annotations", annotationsJson(want.annotations)},
                                {"ownerReferences", json::Array{std::move(owner)}}}},
      {"topologyPolicies", api::toJson(want.policies)},
      {"zones", api::toJson(want.zones)}};
}

TopologyReporter::TopologyReporter(client::ApiClient& client, Mailbox& owner,
                                   const std::string& node, TopologyOptions options)
    : writer_(client, owner, client::kind::kNodeResourceTopology, node),
      options_(std::move(options)) {}

Result<DesiredTopology> TopologyReporter::desired(
    const Look& look, const api::Node& node, const std::optional<KubeletConfig>& kubelet) const {
  const Machine& machine = *look.machine;
  if (auto ok = machine.numaTrouble(); !ok) return pass(ok.error());
  auto state = kernel::readText(machine.root(),
                                kernel::joinPath({options_.kubeletDir, "cpu_manager_state"}));
  return desiredTopology({machine.cpus(), machine.cpuBasics(), zoneMemory(machine), *look.book,
                          node, kubelet, state && *state ? **state : std::string(),
                          options_.hugePages});
}

void TopologyReporter::tick(const Look& look, const std::shared_ptr<const api::Node>& node,
                            const std::optional<KubeletConfig>& kubelet, bool synced) {
  if (!options_.enabled || !node || !synced || writer_.isBusy()) return;
  if (lastLook_ != MonoTime::min() && look.at - lastLook_ < options_.interval) return;
  const Seen seen{look.book->version(), seen_, node, look.machine->cpus().online};
  if (last_ == seen && look.at - lastLook_ < kResync) return;
  last_ = seen;
  lastLook_ = look.at;
  ++stats_.looks;
  const auto want = desired(look, *node, kubelet);
  if (want) {
    if (onDesired_) onDesired_(*want);
    return write(*want, *node);
  }
  ++stats_.failedLooks;
  if (std::exchange(lastTrouble_, want.error().text()) != lastTrouble_)
    log.warn("NodeResourceTopology stays as it is: {}", lastTrouble_);
}

void TopologyReporter::write(const DesiredTopology& want, const api::Node& node) {
  if (!object_)
    return writer_.create(newTopology(writer_.name(), node, want), counting(stats_.created));
  if (auto patch = topologyPatch(*object_, want)) writer_.patch(*patch, counting(stats_.patched));
}

SoleWriter::Told TopologyReporter::counting(uint64_t& counter) {
  return [this, &counter](bool taken) {
    ++(taken ? counter : stats_.failed);
    if (!taken) last_.reset();  // look again after the interval
  };
}

}  // namespace mangrove::agent
