#pragma once
// What must not stand in a recording: the contents of Secrets, and tokens. Pure functions.

#include <string>
#include <string_view>

#include "client/api_client.h"

namespace mangrove::frame::record {

inline constexpr std::string_view kRedacted = "(redacted)";

// Whether bodies of this request, or events of this kind, hold what nobody else may read.
bool isSecret(const client::Request& request);
bool isSecret(const api::Kind& kind);
// JSON texts, one a line, with every value of data and stringData replaced, also those of items and
// of events; a line that is no JSON is replaced as a whole.
std::string withoutSecrets(std::string_view lines);

}  // namespace mangrove::frame::record
