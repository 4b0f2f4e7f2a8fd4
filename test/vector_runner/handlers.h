#pragma once
// One handler per vector file, found by the file's name. A handler lives in its own .cc file, is
// declared here and listed in handlers.cc; it gets one case of the file and reports every field
// that differs.
//
//   void quantity(const json::Object& c, Report& r) {
//     auto parsed = Quantity::parse(text(c, "in"));
//     r.expect("error", c.at("error"), !parsed);
//   }

#include <span>
#include <string_view>

#include "json/value.h"
#include "vector_runner/report.h"

namespace mangrove::vectors {

struct Handler {
  std::string_view file;  // without .json
  void (*run)(const json::Object& vectorCase, Report& report);
};

// All handlers, in the order of handlers.cc.
std::span<const Handler> handlers();

// Members of a case. A missing member reads as null, "" or the fallback: vectors omit what is
// empty.
const json::Value& member(const json::Object& c, std::string_view key);
std::string_view text(const json::Object& c, std::string_view key);
double number(const json::Object& c, std::string_view key, double fallback = 0);

void annotationParse(const json::Object& c, Report& r);
void resourceAmplification(const json::Object& c, Report& r);
void nodesloRender(const json::Object& c, Report& r);
void nodeSync(const json::Object& c, Report& r);
void midResource(const json::Object& c, Report& r);
void cpuNormalization(const json::Object& c, Report& r);
void colocationConfig(const json::Object& c, Report& r);
void batchZoneUpdate(const json::Object& c, Report& r);
void batchResource(const json::Object& c, Report& r);
void batchPrepare(const json::Object& c, Report& r);
void cpuBurst(const json::Object& c, Report& r);
void cpuBurstLimiter(const json::Object& c, Report& r);
void cpuBurstQuota(const json::Object& c, Report& r);
void memoryQos(const json::Object& c, Report& r);
void evict(const json::Object& c, Report& r);
void resctrl(const json::Object& c, Report& r);
void blkio(const json::Object& c, Report& r);
void systemConfigFiles(const json::Object& c, Report& r);
void hookCpuset(const json::Object& c, Report& r);
void hookBatchResource(const json::Object& c, Report& r);
void hookGroupIdentity(const json::Object& c, Report& r);
void cpuSuppressBudget(const json::Object& c, Report& r);
void cpuSuppressCpuset(const json::Object& c, Report& r);
void cpuSuppressPick(const json::Object& c, Report& r);
void cpuSuppressQuota(const json::Object& c, Report& r);
void cpuset(const json::Object& c, Report& r);
void cpuConversions(const json::Object& c, Report& r);
void cgroupStatParse(const json::Object& c, Report& r);
void cgroupPaths(const json::Object& c, Report& r);
void decayingHistogram(const json::Object& c, Report& r);
void deschedulerArbitration(const json::Object& c, Report& r);
void deschedulerArbitrationOrder(const json::Object& c, Report& r);
void deschedulerClassify(const json::Object& c, Report& r);
void deschedulerDetector(const json::Object& c, Report& r);
void deschedulerLoadEvict(const json::Object& c, Report& r);
void deschedulerLoadRounds(const json::Object& c, Report& r);
void deschedulerMaxUnavailable(const json::Object& c, Report& r);
void deschedulerPodOrder(const json::Object& c, Report& r);
void deviceAllocate(const json::Object& c, Report& r);
void deviceRequest(const json::Object& c, Report& r);
void histogramBuckets(const json::Object& c, Report& r);
void metricAggregation(const json::Object& c, Report& r);
void configMapAdmission(const json::Object& c, Report& r);
void nodeStatusAmplification(const json::Object& c, Report& r);
void podClasses(const json::Object& c, Report& r);
void podMutating(const json::Object& c, Report& r);
void podMutatingDevice(const json::Object& c, Report& r);
void podValidating(const json::Object& c, Report& r);
void prodReclaimable(const json::Object& c, Report& r);
void quantity(const json::Object& c, Report& r);
void queueSort(const json::Object& c, Report& r);
void gangParse(const json::Object& c, Report& r);
void gangPermit(const json::Object& c, Report& r);
void quotaWaterfill(const json::Object& c, Report& r);
void quotaTree(const json::Object& c, Report& r);
void quotaGuarantee(const json::Object& c, Report& r);
void reservationExpiry(const json::Object& c, Report& r);
void reservationFit(const json::Object& c, Report& r);
void reservationMatch(const json::Object& c, Report& r);
void reservationOwnerMatch(const json::Object& c, Report& r);
void reservationPreAllocation(const json::Object& c, Report& r);
void scorePrimitives(const json::Object& c, Report& r);
void scoreNormalize(const json::Object& c, Report& r);
void loadawareEstimate(const json::Object& c, Report& r);
void loadawareFilterScore(const json::Object& c, Report& r);
void numaCpuAccumulator(const json::Object& c, Report& r);
void numaHints(const json::Object& c, Report& r);
void numaPolicyMerge(const json::Object& c, Report& r);
void numaAllocate(const json::Object& c, Report& r);

}  // namespace mangrove::vectors
