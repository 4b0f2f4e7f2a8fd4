#pragma once
// Reads the keys of slo-controller-config: text → plain values → merged and range-checked. Each
// function takes the text of its key and never fails silently: what is wrong is in the findings.
//
//   auto parsed = parseColocation(data.at("colocation-config"));
//   if (!parsed.config) keepOld(parsed.findings);
//
// Rules: "" and bad JSON void the key, and so does a cluster
// strategy that is out of range after merging. A node entry that is out of range becomes a copy of
// the cluster's strategy, one without a usable selector matches nothing; both are errors in the
// findings, but the key holds. Unknown members and words are warnings with the nearest known name.
//
// Pure; any thread.

#include <string_view>

#include "json/value.h"
#include "manager/config/layered.h"

namespace mangrove::manager {

Parsed<Colocation> parseColocation(std::string_view text);
Parsed<api::ResourceThresholdStrategy> parseThreshold(std::string_view text);
Parsed<api::ResourceQosStrategy> parseQos(std::string_view text);
Parsed<api::CpuBurstStrategy> parseBurst(std::string_view text);
Parsed<api::SystemStrategy> parseSystem(std::string_view text);
Parsed<HostApplications> parseHostApplications(std::string_view text);
Parsed<CpuNormalization> parseNormalization(std::string_view text);
Parsed<ResourceAmplification> parseAmplification(std::string_view text);

// The findings of whichever key that is; an unknown key is one finding with the nearest name.
Findings checkKey(std::string_view key, std::string_view text);

// Whose ranges count: what the reference's webhook admits, or what its controllers accept.
enum class Ranges { kRuntime, kAdmission };
// What is out of range in one strategy under the key's rules (both as toJson writes them): single
// values where they are said, upper and lower bounds in what holds after merging. Paths start with
// `at`. parse… uses kRuntime; admission asks with kAdmission.
void checkRanges(std::string_view key, const json::Value& said, const json::Value& effective,
                 Ranges ranges, std::string_view at, FindingsAbout& out);

}  // namespace mangrove::manager
