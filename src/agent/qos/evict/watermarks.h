#pragma once
// Eviction by watermarks: when memory, a disk, inodes, a disk's time, the load, CPU or pressure
// stay above a mark for a while, best-effort pods go until the estimate is below the target. Pure
// functions and values; any thread.
//
//   auto marks = parseWatermarks(R"([{"metric":"disk","watermark":90,"durationSeconds":30,
//                                     "target":85}])");
//   WatermarkTimer timer;
//   if (timer.over(mark, value, now)) victims = watermarkVictims(mark, value, pods);
//
// The configuration is the Node's annotation node.mangrove.io/watermarks; without one the defaults
// hold.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod/pod.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::agent {

inline constexpr std::string_view kWatermarksAnnotation = "node.mangrove.io/watermarks";

namespace metric {
inline constexpr std::string_view kMemory = "memory";       // percent used
inline constexpr std::string_view kDisk = "disk";           // percent used
inline constexpr std::string_view kInodes = "inodes";       // percent used
inline constexpr std::string_view kDiskUtil = "disk-util";  // percent of time busy
inline constexpr std::string_view kLoad = "load";           // load1 per CPU
inline constexpr std::string_view kCpu = "cpu";             // percent used
inline constexpr std::string_view kPressure = "pressure";   // percent of time that memory stalls
}  // namespace metric

struct Watermark {
  std::string metric;
  double watermark = 0;
  double target = 0;
  Duration duration{};
  bool operator==(const Watermark&) const = default;
};
// memory 90 % for 5 s to 85, disk and inodes 90 % for 30 s to 85, load 3.0 for 60 s to 2.0.
std::vector<Watermark> defaultWatermarks();
Result<std::vector<Watermark>> parseWatermarks(std::string_view json);

// How long a value has been above its mark.
class WatermarkTimer {
 public:
  bool over(const Watermark& mark, std::optional<double> value, MonoTime now);

 private:
  std::map<std::string, MonoTime, std::less<>> since_;
};

struct WatermarkPod {
  const api::Pod* pod = nullptr;
  // Of the offending metric, in its unit; nullopt: nobody can say.
  std::optional<double> share;
  bool leaving = false;
};
// By priority, then the largest share, then the youngest. Where shares are not known one pod goes
// and the next look decides.
std::vector<const WatermarkPod*> watermarkVictims(const Watermark& mark, double value,
                                                  std::span<const WatermarkPod> pods);

// "0.52 0.58 0.59 …" to load1.
std::optional<double> loadOf(std::string_view loadavg);
// Milliseconds that each disk was busy since boot, from /proc/diskstats; partitions left out.
std::map<std::string, int64_t> busyOf(std::string_view diskstats);

}  // namespace mangrove::agent
