#pragma once
// How built-in admission says no: `pods "web" is forbidden: <why>`. Pure; any thread.

#include <string_view>

#include "apiserver/admission/admission.h"

namespace mangrove::apiserver {

// 403; `causes` (an array or null) goes into the details.
Answer admissionForbids(const AdmissionRequest& request, std::string_view why,
                        json::Value causes = nullptr);

}  // namespace mangrove::apiserver
