// Texts of kernel files: resctrl, block I/O, system parameters.
#include "agent/qos/blkio/lines.h"
#include "agent/qos/resctrl/schemata.h"
#include "agent/qos/system_config/files.h"
#include "vector_runner/enforce_support.h"

namespace mangrove::vectors {
namespace {

std::vector<int> idsOf(const json::Object& c) {
  std::vector<int> out;
  for (const json::Value& one : c.at("cache_ids").get_array()) out.push_back(one.to_number<int>());
  return out;
}

json::Object byCache(const std::map<int, int64_t>& values) {
  json::Object out;
  for (const auto& [id, value] : values) out[std::to_string(id)] = value;
  return out;
}

template <class Map>
json::Object objectOf(const Map& values) {
  json::Object out;
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

void mask(const json::Object& c, Report& r) {
  auto got = agent::cacheMask(text(c, "cbm_mask_hex"),
                              static_cast<int64_t>(number(c, "cat_start_percent")),
                              static_cast<int64_t>(number(c, "cat_end_percent")));
  r.expect("error", json::Value(member(c, "error") == json::Value(true)), !got);
  if (got) r.expect("expect", member(c, "expect"), json::Value(*got));
}

void schemataParse(const json::Object& c, Report& r) {
  auto got =
      agent::parseSchemata(text(c, "text"), static_cast<int>(number(c, "expected_l3_count")));
  r.expect("error", member(c, "error"), !got);
  if (!got || !member(c, "expect").is_object()) return;
  const json::Object& want = c.at("expect").get_object();
  r.expect("l3", member(want, "l3"), byCache(got->l3));
  r.expect("mb", member(want, "mb"), byCache(got->mb));
}

}  // namespace

void resctrl(const json::Object& c, Report& r) {
  const std::string_view op = text(c, "op");
  if (op == "l3_mask") return mask(c, r);
  if (op == "schemata_parse") return schemataParse(c, r);
  if (op == "mba") {
    auto got =
        agent::bandwidthValue(text(c, "vendor"), static_cast<int64_t>(number(c, "mba_percent")));
    return r.expect("expect", member(c, "expect"), got ? json::Value(*got) : json::Value());
  }
  const json::Object& want = c.at("expect").get_object();
  r.expect("l3", member(want, "l3"),
           json::Value(agent::cacheLine(idsOf(c), text(c, "l3_mask_hex"))));
  r.expect("mb", member(want, "mb"), json::Value(agent::bandwidthLine(idsOf(c), text(c, "mb"))));
}

void blkio(const json::Object& c, Report& r) {
  auto block = decoded<api::BlockConfig>(member(c, "block"), r, "block");
  if (!block) return;
  const agent::BlkioLines got = text(c, "op") == "remove"
                                    ? agent::blkioReset(text(c, "device"))
                                    : agent::blkioLines(block->ioConfig, text(c, "device"));
  const json::Object& want = c.at("expect").get_object();
  r.expect("group_files", member(want, "group_files"), objectOf(got.group));
  r.expect("root_files", member(want, "root_files"), objectOf(got.root));
}

void systemConfigFiles(const json::Object& c, Report& r) {
  auto strategy = decoded<api::SystemStrategy>(member(c, "strategy"), r, "strategy");
  if (!strategy) return;
  json::Object got;
  const Bytes memory{static_cast<int64_t>(number(c, "memory_capacity_bytes"))};
  for (const auto& [path, value] : agent::systemFiles(*strategy, memory)) got["/" + path] = value;
  r.expect("expect_files", member(c, "expect_files"), got);
}

}  // namespace mangrove::vectors
