#pragma once
// Go's strconv.ParseBool: how flags, gates, labels and annotations of this field spell yes and no.
// Pure; any thread.

#include <string_view>

#include "base/result.h"

namespace mangrove {

// 1 t T true TRUE True, 0 f F false FALSE False; everything else is an error that quotes the text.
Result<bool> parseGoBool(std::string_view text);

}  // namespace mangrove
