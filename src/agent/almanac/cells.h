#pragma once
// What the almanac keeps of a subject (the node, a class, a workload) for a stretch of time: mean,
// 90th percentile and maximum of CPU and memory, each in a byte. Steps are a twelfth of a doubling, so
// a value comes back within 3 %, from 1 m to 2 000 cores and from 1 MiB to 2 TiB; 0 is 0, and a
// stretch in which nothing was seen is absent.
//
//   Cell cell = summarise(samples);          // of a minute
//   Cell hour = merge(cellsOfTheHour);
//   std::string bytes = encodeCells(cells);  // columns of small differences, runs of equal ones short
//   decodeCells(bytes, 60)
//
// Pure functions and values, any thread.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::agent {

// Milli-cores and MiB.
struct AlmanacSample {
  double cpu = 0, memory = 0;
};

struct CellPart {
  double mean = 0, p90 = 0, max = 0;
  bool operator==(const CellPart&) const = default;
};
struct Cell {
  CellPart cpu, memory;
  bool operator==(const Cell&) const = default;
};
using Cells = std::vector<std::optional<Cell>>;  // nullopt: nothing was seen

uint8_t quantised(double value);
double valueOf(uint8_t step);
// As it comes back from the file.
Cell rounded(const Cell& cell);

// nullopt: there are none.
std::optional<Cell> summarise(std::span<const AlmanacSample> samples);
// A longer stretch of shorter ones: the mean of means, the largest maximum, and of the percentiles
// their own 90th percentile.
std::optional<Cell> merge(std::span<const std::optional<Cell>> cells);

std::string encodeCells(const Cells& cells);
Result<Cells> decodeCells(std::string_view bytes, size_t count);

}  // namespace mangrove::agent
