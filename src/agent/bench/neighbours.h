#pragma once
// Services that can be hurt and batch work that hurts them, for experiments: each victim suffers from
// something else than its share of CPU time.
//
//   auto page = LatencyPage::make();                               // before fork
//   pods.start(uid, [&] { runVictim(Sufferer::kMemory, {.rate = 400}, *page); });
//   pods.start(other, [&] { runAntagonist(Antagonist::kStream, {}); });
//
// Both never return; safe after a fork. Antagonists are stress-ng and fio where they are installed,
// else loops of our own.

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"
#include "stats/histogram_text.h"

namespace mangrove::agent {

// Latencies of one service, in memory shared with whoever measures: a histogram with buckets five
// percent wide, as a service shows it on its metrics page.
class LatencyPage {
 public:
  static constexpr size_t kBuckets = 320;
  static Result<std::unique_ptr<LatencyPage>> make();
  ~LatencyPage();

  void note(double ms);
  stats::Buckets buckets() const;  // cumulative, in ms
  std::string text() const;        // Prometheus, request_seconds

 private:
  struct Shared {
    std::atomic<uint64_t> counts[kBuckets];
  };
  explicit LatencyPage(Shared* shared) : shared_(shared) {}
  Shared* shared_;
};

enum class Sufferer : uint8_t { kMemory, kFsync, kPageCache, kCpu };
inline constexpr Sufferer kVictims[] = {Sufferer::kMemory, Sufferer::kFsync, Sufferer::kPageCache,
                                        Sufferer::kCpu};
std::string_view victimName(Sufferer victim);  // memory-bound, fsyncing, page-cache, cpu-bound

struct WorkPlace {
  std::string dir;  // for files
  long cpus = 1;
};
// Requests leave by the clock; latency counts from when one should have begun.
[[noreturn]] void runVictim(Sufferer victim, const WorkPlace& place, LatencyPage& page);

enum class Antagonist : uint8_t {
  kStream,  // memory bandwidth
  kCache,   // last-level cache
  kDisk,    // synchronous writes
  kFlood,   // page cache
  kSpin,    // CPU time
  // Decoys: they run while others hurt, and hurt nobody.
  kNap,     // a little work, now and then
  kShadow,  // steady work on CPUs that would sleep otherwise
};
inline constexpr Antagonist kCulprits[] = {Antagonist::kStream, Antagonist::kCache,
                                           Antagonist::kDisk, Antagonist::kFlood,
                                           Antagonist::kSpin};
bool isDecoy(Antagonist antagonist);
std::string_view antagonistName(Antagonist antagonist);
// Which program it is here: "stress-ng", "fio" or "built-in".
std::string programOf(Antagonist antagonist);
// Leads a process group of its own, so that it can be stopped and continued with all it started.
[[noreturn]] void runAntagonist(Antagonist antagonist, const WorkPlace& place);

}  // namespace mangrove::agent
