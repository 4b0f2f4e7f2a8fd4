// Bucket layout of the cpu and memory histograms.
#include "stats/decaying_histogram.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

void histogramBuckets(const json::Object& c, Report& r) {
  const auto buckets =
      (text(c, "kind") == "cpu" ? stats::cpuHistogram() : stats::memoryHistogram()).buckets;
  const std::string_view op = text(c, "op");
  const double want = number(c, "expect");
  if (op == "bucket_count") {
    r.expect("count", want, static_cast<double>(buckets.count()));
  } else if (op == "bucket_start") {
    const auto bucket = static_cast<size_t>(number(c, "bucket"));
    r.expectNear("start", want, buckets.start(bucket), 1e-9);
  } else if (op == "find_bucket") {
    r.expect("bucket", want, static_cast<double>(buckets.find(number(c, "value"))));
  } else {
    r.mismatch("op", "bucket_count, bucket_start or find_bucket", op);
  }
}

}  // namespace mangrove::vectors
