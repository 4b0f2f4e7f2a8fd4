// Parsing cpu.stat, memory.stat, memory.numa_stat and pressure files.
#include "kernel/cgroup_stat.h"
#include "kernel/pressure.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using kernel::CgroupVersion;

json::Value stallJson(const kernel::Stall& stall) {
  return json::Object{
      {"avg10", stall.avg10},
      {"avg60", stall.avg60},
      {"avg300", stall.avg300},
      {"total_us", std::chrono::duration_cast<std::chrono::microseconds>(stall.total).count()}};
}

void cpuCase(const json::Object& c, CgroupVersion version, Report& r) {
  const auto throttling = kernel::parseThrottling(text(c, "text"), version);
  json::Object got;
  if (throttling) {
    got["nr_periods"] = throttling->periods;
    got["nr_throttled"] = throttling->throttled;
    got["throttled_ns"] = throttling->throttledTime.count();
  }
  if (version == CgroupVersion::kV2) {
    const auto usage = kernel::parseCpuUsage(text(c, "text"), version);
    if (usage) got["usage_ns"] = usage->count();
    r.expect("throttle_error", member(c, "throttle_error"), !throttling.has_value());
    r.expect("usage_error", member(c, "usage_error"), !usage.has_value());
  } else {
    r.expect("error", member(c, "error"), !throttling.has_value());
  }
  r.expect("expect", member(c, "expect"), got);
}

void memoryCase(const json::Object& c, CgroupVersion version, Report& r) {
  const auto usage = kernel::parseMemoryStat(text(c, "text"), version);
  r.expect("error", member(c, "error"), !usage.has_value());
  if (!usage) return;
  r.expect("expect", member(c, "expect"),
           json::Object{{"usage_bytes", usage->withoutCache.v},
                        {"usage_with_page_cache_bytes", usage->withCache.v}});
}

void numaCase(const json::Object& c, CgroupVersion version, Report& r) {
  const auto stat = kernel::parseNumaStat(text(c, "text"), version, Bytes{4096});
  r.expect("error", member(c, "error"), !stat.has_value());
  if (!stat) return;
  json::Array pages;
  for (size_t i = 0; i < stat->count; ++i)
    if (stat->nodes[i].present)
      pages.push_back(json::Object{{"numa", i}, {"pages", stat->nodes[i].pages}});
  r.expect("expect", member(c, "expect"), json::Object{{"pages", pages}});
}

void pressureCase(const json::Object& c, Report& r) {
  const auto pressure = kernel::parsePressure(text(c, "text"));
  r.expect("error", member(c, "error"), !pressure.has_value());
  if (!pressure) return;
  r.expect("expect", member(c, "expect"),
           json::Object{{"some", stallJson(pressure->some)},
                        {"full", stallJson(pressure->full)},
                        {"full_supported", pressure->fullSupported}});
}

}  // namespace

void cgroupStatParse(const json::Object& c, Report& r) {
  const std::string_view file = text(c, "file");
  const CgroupVersion version = number(c, "version") == 1 ? CgroupVersion::kV1 : CgroupVersion::kV2;
  if (file == "cpu.stat") return cpuCase(c, version, r);
  if (file == "memory.stat") return memoryCase(c, version, r);
  if (file == "memory.numa_stat") return numaCase(c, version, r);
  if (file == "pressure") return pressureCase(c, r);
  r.mismatch("file", "a known one", file);
}

}  // namespace mangrove::vectors
