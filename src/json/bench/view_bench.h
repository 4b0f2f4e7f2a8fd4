#pragma once
// How fast documents are read, in numbers a person can compare: used by `mangrove bench`, and run
// once by a test so that it keeps working. No judgement here; the caller prints.
//
//   auto result = benchmarkReading(50'000, clock);
//   fmt::print("{:.0f} MB/s tape, {:.0f} MB/s with every field looked at\n",
//   result.parseMbPerSecond(), …);

#include <cstddef>
#include <string>

#include "base/clock.h"
#include "base/number/units.h"

namespace mangrove::json {

struct ReadingBenchmark {
  size_t pods = 0;
  size_t bytes = 0;
  Duration parse{};  // text to views
  Duration visit{};  // looking at the dozen fields of each pod that a scheduler wants
  size_t found = 0;  // fields seen, so that the work cannot be left out

  double parseMbPerSecond() const;
  double totalMbPerSecond() const;
};

// A v1 PodList of that many pods, about 1.6 KB each; the same text for the same number.
std::string podListText(size_t pods);

ReadingBenchmark benchmarkReading(size_t pods, const Clock& clock);

}  // namespace mangrove::json
