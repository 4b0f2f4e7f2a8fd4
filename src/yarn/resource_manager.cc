#include "yarn/resource_manager.h"

#include <fmt/format.h>

#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::yarn {

using api::decodeText;
using api::field;
using api::Fields;
using api::In;
using api::via;

namespace {

struct NodePage {
  std::string id, state;
  int64_t usedMb = 0, freeMb = 0, usedVcores = 0, freeVcores = 0;
};
struct NodesPage {
  std::vector<NodePage> nodes;
};
struct InfoPage {
  std::string state;
};

json::Object amount(std::string_view name, std::string_view units, int64_t value) {
  return {{"name", name}, {"units", units}, {"value", value}, {"resourceType", "COUNTABLE"}};
}

}  // namespace

static bool read(const In& in, NodePage& out) {
  static constexpr Fields fields{
      field<&NodePage::id>("id"),
      field<&NodePage::state>("state"),
      field<&NodePage::usedMb>("usedMemoryMB"),
      field<&NodePage::freeMb>("availMemoryMB"),
      field<&NodePage::usedVcores>("usedVirtualCores"),
      field<&NodePage::freeVcores>("availableVirtualCores"),
  };
  return fields.read(in, out);
}
static bool readList(const In& in, NodesPage& out) {
  if (!in.view.isArray()) return in.wants("an array");
  size_t index = 0;
  for (json::View value : in.view.elements())
    if (!read(in.element(index++, value), out.nodes.emplace_back())) return false;
  return true;
}
static bool readNodes(const In& in, NodesPage& out) {
  static constexpr Fields fields{via<readList>("node")};
  return fields.read(in, out);
}
static bool readInfo(const In& in, InfoPage& out) {
  static constexpr Fields fields{field<&InfoPage::state>("haState")};
  return fields.read(in, out);
}

Result<std::vector<RmNode>> parseNodes(std::string_view text) {
  api::TextDoc doc;
  const auto view = doc.parse(text);
  if (!view) return view.error().in("nodes of the ResourceManager");
  api::Reading reading;
  NodesPage page;
  const json::View nodes = (*view)["nodes"];
  // Without any node "nodes" is null.
  if (nodes.exists() && !nodes.isNull() && !readNodes(In(nodes, reading), page))
    return api::refusal(reading).value().in("nodes of the ResourceManager");
  std::vector<RmNode> out;
  for (const NodePage& one : page.nodes)
    out.push_back({one.id,
                   one.state,
                   {one.usedVcores + one.freeVcores, one.usedMb + one.freeMb},
                   {one.usedVcores, one.usedMb}});
  return out;
}

Result<std::string> parseState(std::string_view text) {
  api::TextDoc doc;
  const auto view = doc.parse(text);
  if (!view) return view.error().in("info of the ResourceManager");
  api::Reading reading;
  InfoPage page;
  if (!readInfo(In((*view)["clusterInfo"], reading), page) || page.state.empty())
    return invalid("info of the ResourceManager: no clusterInfo.haState");
  return page.state;
}

std::optional<bool> schedulesVcores(std::string_view page) {
  const size_t begin = page.find("[memory-mb");
  const size_t end = begin == std::string_view::npos ? begin : page.find(']', begin);
  if (end == std::string_view::npos) return std::nullopt;
  return page.substr(begin, end - begin).find("vcores") != std::string_view::npos;
}

std::string resourcePath(std::string_view nodeId, std::string_view user) {
  return fmt::format("/ws/v1/cluster/nodes/{}/resource?user.name={}", nodeId, user);
}

std::string resourceBody(const Capacity& capacity, std::optional<Duration> overcommit) {
  const int64_t wait =
      overcommit ? std::chrono::duration_cast<std::chrono::milliseconds>(*overcommit).count() : -1;
  const json::Object list{
      {"resourceInformation", json::Array{amount("memory-mb", "Mi", capacity.memoryMb),
                                          amount("vcores", "", capacity.vcores)}}};
  return json::write(json::Object{{"resource", json::Object{{"memory", capacity.memoryMb},
                                                            {"vCores", capacity.vcores},
                                                            {"resourceInformations", list}}},
                                  {"overCommitTimeout", wait}});
}

}  // namespace mangrove::yarn
