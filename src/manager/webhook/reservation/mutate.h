#pragma once
// Reservation mutating admission, on CREATE: profiles whose selector matches the
// Reservation's labels put theirs on it; scheduler and priority class go into its template.
// Resources are not translated.
//
// Pure; any thread.

#include "manager/webhook/admission.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

Review mutateReservation(const AdmissionRequest& request, const Surroundings& around);

}  // namespace mangrove::manager
