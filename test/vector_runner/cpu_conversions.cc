// cpu.shares, cpu.weight, milli-cores, quota, throttled ratio, cpu.max.
#include "kernel/cgroup_stat.h"
#include "kernel/cpu_units.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

void expectResult(const json::Object& c, const Result<int64_t>& got, Report& r) {
  r.expect("error", member(c, "error"), !got.has_value());
  if (got) r.expect("expect", member(c, "expect"), *got);
}

void expectQuota(const json::Object& c, const Result<kernel::CpuQuota>& got, Report& r) {
  expectResult(c, got ? Result<int64_t>(got->signedUs()) : pass(got.error()), r);
}

double throttledRatio(const json::Object& in) {
  const auto at = [&](std::string_view when) {
    return kernel::CpuThrottling{int64_t(number(in, std::string(when) + "_periods")),
                                 int64_t(number(in, std::string(when) + "_throttled")),
                                 {}};
  };
  return kernel::throttledRatio(at("prev"), at("cur"));
}

}  // namespace

void cpuConversions(const json::Object& c, Report& r) {
  const std::string_view op = text(c, "op");
  const auto in = static_cast<int64_t>(number(c, "in"));
  if (op == "milli_to_shares")
    return r.expect("expect", member(c, "expect"), kernel::sharesOf(MilliCpu{in}));
  if (op == "milli_to_quota_us")
    return r.expect("expect", member(c, "expect"), kernel::quotaOf(MilliCpu{in}).signedUs());
  if (op == "shares_to_weight") return expectResult(c, kernel::weightOfShares(in), r);
  if (op == "weight_to_shares") return expectResult(c, kernel::sharesOfWeight(in), r);
  if (op == "throttled_ratio")
    return r.expectNear("expect", number(c, "expect"), throttledRatio(c.at("in").get_object()),
                        1e-12);
  if (op == "cpu_max_quota") return expectQuota(c, kernel::parseCpuMax(text(c, "in")).quota, r);
  if (op == "cpu_max_period")
    return expectResult(c, kernel::parseCpuMax(text(c, "in")).periodUs, r);
  r.mismatch("op", "a known one", op);
}

}  // namespace mangrove::vectors
