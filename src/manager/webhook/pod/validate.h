#pragma once
// Pod validating admission, on CREATE and UPDATE. Stages in order; the first that
// finds something wrong answers with everything it found.
//
//   for (const Fault& f : colocationFaults(pod, nullptr, gates)) …
//
// Pure; any thread.

#include <string>
#include <vector>

#include "api/pod/pod.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// One thing that is wrong: a word that stays the same for ever, and a sentence.
struct Fault {
  std::string_view reason;  // "qos-priority-combination"
  std::string message;
};
using Faults = std::vector<Fault>;

Review validatePod(const AdmissionRequest& request, const Surroundings& around);

// The stages. `old` is null on CREATE.
Faults annotationFaults(const api::Pod& pod);
Faults colocationFaults(const api::Pod& pod, const api::Pod* old, const WebhookGates& gates);
Faults quotaFaults(const api::Pod& pod, const api::Pod* old, std::string_view ns,
                   const Surroundings& around);
Faults katalystFaults(const api::Pod& pod);
Faults deviceFaults(const api::Pod& pod);
Faults requiredLabelFaults(const api::Pod& pod, std::string_view ns, const Surroundings& around);

// Pods/binding: who may bind pods past the scheduler (gate BindingAdmissionWebhook).
Review validateBinding(const AdmissionRequest& request, const Surroundings& around);

}  // namespace mangrove::manager
