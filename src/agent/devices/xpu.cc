#include "agent/devices/xpu.h"

#include <algorithm>
#include <set>

#include "api/annotations/device.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "json/view.h"
#include "kernel/hierarchies.h"
#include "kernel/read_text.h"

namespace mangrove::agent {
namespace {

constexpr size_t kLargestFile = 4 * 1024 * 1024;

std::string textOf(json::View view) {
  if (auto text = view.string()) return std::string(*text);
  if (auto number = view.integer()) return std::to_string(*number);
  return "";
}

Result<int32_t> numberOf(json::View view, const char* what, int32_t whenEmpty) {
  const std::string text = textOf(view);
  if (text.empty()) return whenEmpty;
  auto number = parseInt<int32_t>(text);
  if (!number) return invalid("{} '{}': want a number", what, text);
  return *number;
}

Result<XpuLink> linkOf(json::View view) {
  XpuLink link;
  link.type = textOf(view["type"]);
  const std::string peers = textOf(view["peerMinor"]);  // the parts below are views of it
  for (std::string_view peer : splitTrimmed(peers, ',')) {
    if (peer.empty()) continue;
    const auto minor = parseInt<int64_t>(peer);
    if (!minor) return invalid("peerMinor '{}': want a number", peer);
    link.peers.push_back(*minor);
  }
  return link;
}

Result<> readTopology(json::View view, XpuDevice& out) {
  if (!view.isObject()) return {};
  out.hasTopology = true;
  const auto socket = numberOf(view["socketID"], "socketID", -1);
  const auto node = numberOf(view["nodeID"], "nodeID", -1);
  if (!socket) return pass(socket.error());
  if (!node) return pass(node.error());
  out.topology = {*socket, *node, textOf(view["pcieID"]), textOf(view["busID"])};
  out.mustHonorPartition = view["mustHonorPartition"].boolean().value_or(false);
  for (json::View one : view["p2pLinks"].elements()) {
    auto link = linkOf(one);
    if (!link) return pass(link.error());
    out.links.push_back(*std::move(link));
  }
  return {};
}

// Bare names of GPU resources are ours.
std::string fullName(std::string_view name) {
  return name == "gpu-core" || name == "gpu-memory" ? "koordinator.sh/" + std::string(name)
                                                    : std::string(name);
}

Result<> readResources(json::View view, XpuDevice& out) {
  for (const auto& member : view.members()) {
    auto amount = Quantity::parse(textOf(member.value));
    if (!amount) return amount.error().in("resource {}", member.key);
    out.resources.set(fullName(member.key), *amount);
  }
  out.resources.set(api::resource::kGpuMemoryRatio, Quantity::of(100));
  return {};
}

Result<XpuDevice> deviceOf(json::View view) {
  if (!view.isObject()) return invalid("want an object");
  XpuDevice out;
  out.vendor = textOf(view["vendor"]);
  out.model = textOf(view["model"]);
  out.uuid = textOf(view["uuid"]);
  if (textOf(view["minor"]).empty()) return invalid("device '{}' has no minor", out.uuid);
  const auto minor = numberOf(view["minor"], "minor", 0);
  if (!minor) return pass(minor.error());
  out.minor = *minor;
  if (auto ok = readResources(view["resources"], out); !ok) return pass(ok.error());
  if (auto ok = readTopology(view["topology"], out); !ok) return pass(ok.error());
  const json::View status = view["status"];
  out.hasStatus = status.isObject();
  if (!out.hasStatus) return out;
  out.healthy = status["healthy"].boolean().value_or(false);
  out.errCode = textOf(status["errCode"]);
  out.errMessage = textOf(status["errMessage"]);
  return out;
}

api::DeviceInfo infoOf(const XpuDevice& device) {
  api::DeviceInfo info;
  info.type = Interned(kTypeGpu);
  info.id = device.uuid;
  info.minor = device.minor;
  info.health = device.healthy;
  info.resources = device.resources;
  if (device.hasTopology) info.topology = device.topology;
  if (device.hasStatus)
    info.conditions.push_back(
        healthCondition(device.healthy, device.healthy ? "" : device.errCode, device.errMessage));
  return info;
}

// Devices that are linked with each other are one partition, whoever of them says so.
api::GpuPartitionTable partitionsOf(const std::vector<XpuDevice>& devices) {
  api::GpuPartitionTable table;
  for (const XpuDevice& device : devices) {
    for (const XpuLink& link : device.links) {
      std::set<int64_t> minors(link.peers.begin(), link.peers.end());
      minors.insert(device.minor);
      api::GpuPartition one;
      one.minors.assign(minors.begin(), minors.end());
      one.gpuLinkType = link.type;
      one.allocationScore = 1;
      auto& same = table.bySize[static_cast<int>(minors.size())];
      const bool known = std::any_of(same.begin(), same.end(), [&](const api::GpuPartition& p) {
        return p.minors == one.minors;
      });
      if (!known) same.push_back(std::move(one));
    }
  }
  return table;
}

}  // namespace

Result<std::vector<XpuDevice>> parseXpuFile(std::string_view text) {
  json::Doc doc;
  auto root = doc.parse(text);
  if (!root) return pass(root.error());
  if (!root->isArray()) return invalid("want an array of devices");
  std::vector<XpuDevice> devices;
  for (json::View one : root->elements()) {
    auto device = deviceOf(one);
    if (!device) return device.error().in("device {}", devices.size());
    devices.push_back(*std::move(device));
  }
  return devices;
}

Result<std::vector<XpuDevice>> readXpuFiles(const kernel::SysRoot& root, std::string_view where) {
  const std::string dir = kernel::joinPath({where});
  std::vector<XpuDevice> all;
  if (!root.exists(dir).value_or(false)) return all;
  auto entries = root.list(dir);
  if (!entries) return pass(entries.error());
  for (const kernel::Entry& entry : *entries) {
    if (entry.isDir) continue;
    const std::string path = kernel::joinPath({dir, entry.name});
    auto text = kernel::readText(root, path, kLargestFile);
    if (!text) return pass(text.error());
    if (!*text) continue;  // removed meanwhile
    auto devices = parseXpuFile(**text);
    if (!devices) return devices.error().in("{}", path);
    all.insert(all.end(), devices->begin(), devices->end());
  }
  return all;
}

Inventory xpuInventory(const std::vector<XpuDevice>& devices) {
  Inventory out;
  if (devices.empty()) return out;
  for (const XpuDevice& device : devices) out.devices.push_back(infoOf(device));
  const XpuDevice& first = devices.front();
  out.labels[std::string(api::label::kGpuVendor)] = first.vendor;
  out.labels[std::string(api::label::kGpuModel)] = first.model;
  if (!first.links.empty()) {
    out.labels[std::string(api::label::kGpuPartitionPolicy)] =
        first.mustHonorPartition ? "Honor" : "Prefer";
    out.annotations[std::string(api::annotation::kGpuPartitions)] =
        json::write(api::toJson(partitionsOf(devices)));
  }
  return merged(std::move(out), {});
}

}  // namespace mangrove::agent
