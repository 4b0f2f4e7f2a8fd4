#pragma once
// The course of a process's memory over a measurement: does it grow, and how fast?
//
//   MemoryCourse course = courseOf({{0s, 10_MiB}, {1s, 10_MiB}, …});
//   course.flat
//
// Pure functions; any thread.

#include <span>

#include "base/number/units.h"

namespace mangrove::agent {

struct MemorySample {
  Duration at{};  // since the first one
  Bytes rss;
};

struct MemoryCourse {
  Bytes first, last, peak;
  Bytes latePeak;  // of the second half: pages that only starting needed are given back by then
  // Straight line through the second half, by least squares.
  double bytesPerMinute = 0;
  // Peak of the second half less that of the first. Peaks, because the agent gives pages back every
  // 300 ticks: a line through a saw's teeth depends on where it begins.
  Bytes peakGrowth;
  // Long enough to be judged: each half holds a whole tooth.
  bool judged = false;
  bool flat = false;  // the peak grew by less than 2 %
};

MemoryCourse courseOf(std::span<const MemorySample> samples);

}  // namespace mangrove::agent
