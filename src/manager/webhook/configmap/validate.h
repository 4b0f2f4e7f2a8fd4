#pragma once
// Admission of the ConfigMap slo-controller-config: every key that changed must
// parse, be in range, and its node entries must not overlap. The same judgement as the live reload
// and `mangrove check config`, with the ranges of admission.
//
//   if (auto trouble = firstTrouble(data, {}, {.nodes = &nodes}, warnings))
//     refuse(trouble->reason, trouble->message);
//
// Pure; any thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manager/config/finding.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// Reasons as users of the reference know them.
namespace config_reason {
inline constexpr std::string_view kParse = "ParseConfigFail";
inline constexpr std::string_view kParam = "ConfigParamInvalid";
inline constexpr std::string_view kOverlap = "NodeStrategiesOverlap";
inline constexpr std::string_view kNodeConflict = "ExistNodeConfict";  // sic, as on the wire
}  // namespace config_reason

struct ConfigTrouble {
  std::string key;
  std::string reason;
  std::string message;
  Findings findings;  // empty for overlaps
};

struct ConfigCheckOptions {
  bool namesRequired = false;  // every node entry has a name, and no two the same
  const std::vector<NodeLabels>* nodes = nullptr;
};

// The first trouble, keys in the order colocation, threshold, qos, system, burst, host
// applications, normalization, amplification. Keys whose text is as in `before` are not looked at.
// `warnings` gets what is no reason to refuse: members nobody reads.
std::optional<ConfigTrouble> firstTrouble(const ConfigData& data, const ConfigData& before,
                                          const ConfigCheckOptions& options, Findings& warnings);

// All findings of one key with the ranges of admission, errors first in the text's order.
// `data` holds the other keys: bandwidths of resource-qos-config are compared with system-config.
Findings adviceOn(std::string_view key, const ConfigData& data, bool namesRequired = false);

Review validateConfigMap(const AdmissionRequest& request, const Surroundings& around);

}  // namespace mangrove::manager
