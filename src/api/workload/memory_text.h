#pragma once
// Amounts of memory as Java programs and Flink write them: an integer and a unit in powers of 1024,
// whatever its case. "2048m" is 2048 MiB here, and not the thousandths of Kubernetes.
//
//   parseJavaMemory("4g", kMiB.v)       // 4294967296
//   parseJavaMemory("512", kMiB.v)      // 536870912: a bare number counts in the caller's unit
//   parseFlinkMemory("2 gb"), parseFlinkMemory("2Gi")
//
// Pure functions, any thread.

#include <string_view>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::api {

// b, k, kb, m, mb, g, gb, t, tb, p, pb.
Result<Bytes> parseJavaMemory(std::string_view text, int64_t bareUnit);
// The same with Flink's long names (bytes, kibibytes, …) and a blank before the unit, and
// Kubernetes' binary suffixes, which its operator takes too. A bare number is bytes.
Result<Bytes> parseFlinkMemory(std::string_view text);

}  // namespace mangrove::api
