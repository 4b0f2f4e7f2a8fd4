#pragma once
// Node status admission: a node sells more than it has, by the ratios in its
// annotation, and remembers what the kubelet really reported.
//
//   allocatable cpu 64, ratio {"cpu":1.22} → allocatable 78080m, raw-allocatable {"cpu":"64",…}
//
// Who is believed: a node whose kubelet writes under its own name (system:node:…) takes raw
// amounts from it alone; what others write over them is put right. Where no kubelet has been seen
// (other names, simulated nodes), whoever changes the amounts is believed, as in the reference.
//
// Pure; any thread.

#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// Annotation: "kubelet" once the raw amounts came from one.
inline constexpr std::string_view kRawAllocatableFrom = "mangrove.io/raw-allocatable-from";

// UPDATE of nodes/status.
Review mutateNodeStatus(const AdmissionRequest& request, const Surroundings& around);

// Node labels that make two entries of one configuration match: UPDATE of nodes.
Review validateNode(const AdmissionRequest& request, const Surroundings& around);

}  // namespace mangrove::manager
