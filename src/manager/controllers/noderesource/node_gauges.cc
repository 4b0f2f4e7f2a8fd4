#include "manager/controllers/noderesource/node_gauges.h"

#include <iterator>

#include <fmt/format.h>

#include "api/wire/names.h"

namespace mangrove::manager {
namespace {

constexpr std::string_view kName = "slo_controller_node_extended_resource_allocatable_internal";

struct Column {
  std::string_view resource;
  std::string_view unit;
};
constexpr std::array<Column, 4> kColumns = {{{api::resource::kBatchCpu, "milli"},
                                             {api::resource::kBatchMemory, "byte"},
                                             {api::resource::kMidCpu, "milli"},
                                             {api::resource::kMidMemory, "byte"}}};

}  // namespace

void NodeGauges::set(const std::string& node, const Values& values) {
  std::lock_guard lock(mutex_);
  nodes_[node] = values;
}

void NodeGauges::remove(const std::string& node) {
  std::lock_guard lock(mutex_);
  nodes_.erase(node);
}

std::string NodeGauges::exposition() const {
  std::string out = fmt::format(
      "# HELP {0} What was calculated for a node, written or not.\n# TYPE {0} gauge\n", kName);
  std::lock_guard lock(mutex_);
  for (const auto& [node, values] : nodes_)
    for (size_t i = 0; i < kColumns.size(); i++)
      if (values[i] != kNone)
        fmt::format_to(std::back_inserter(out),
                       "{}{{node=\"{}\",resource=\"{}\",unit=\"{}\"}} {}\n", kName, node,
                       kColumns[i].resource, kColumns[i].unit, values[i]);
  return out;
}

}  // namespace mangrove::manager
