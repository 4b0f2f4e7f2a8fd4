#pragma once
// How often pods of one workload or namespace may be evicted: a bucket of tokens each, full at its
// first eviction, refilled at most/duration.
//
//   ObjectLimiter limiter(args);
//   if (limiter.isExceeded(pod, replicas, now)) …      10 replicas: 2 in 300 s, so one each 150 s
//   limiter.took(pod, replicas, now);                  after an eviction
//
// Owner's thread; time is given.

#include <map>
#include <string>

#include "client/queue/token_bucket.h"
#include "descheduler/migration/args.h"

namespace mangrove::descheduler {

class ObjectLimiter {
 public:
  explicit ObjectLimiter(const MigrationArgs& args)
      : workload_(args.perWorkload),
        ns_(args.perNamespace),
        perWorkload_(args.limits.perWorkload) {}

  // `replicas`: of the pod's workload; without a controller only its namespace counts.
  bool isExceeded(const api::Pod& pod, MonoTime now);
  void took(const api::Pod& pod, int64_t replicas, MonoTime now);
  size_t buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    client::TokenBucket tokens;
    MonoTime usedAt;
    Duration duration;
  };
  void take(const std::string& key, const ObjectLimit& limit, int64_t most, MonoTime now);
  void dropIdle(MonoTime now);

  ObjectLimit workload_;
  ObjectLimit ns_;
  std::optional<api::IntOrString> perWorkload_;
  std::map<std::string, Bucket, std::less<>> buckets_;
};

}  // namespace mangrove::descheduler
