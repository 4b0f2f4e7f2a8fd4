#pragma once
// Flags of kube-scheduler and of the reference's scheduler that manifests may carry and that are
// not ours: accepted and named in a warning, or refused with what to use instead.
//
//   std::vector<std::string> given;
//   declarePeerFlags(flags, given);        // before parsing
//   for (const auto& sentence : peerFlagWarnings(given)) log.warn("{}", sentence);
//
// Once, at start.

#include <string>
#include <vector>

#include "frame/flags.h"

namespace mangrove::scheduler {

void declarePeerFlags(frame::Flags& flags, std::vector<std::string>& given);
// One sentence for each that was given and changes nothing.
std::vector<std::string> peerFlagWarnings(const std::vector<std::string>& given);

}  // namespace mangrove::scheduler
