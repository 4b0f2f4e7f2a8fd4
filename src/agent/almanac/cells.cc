#include "agent/almanac/cells.h"

#include <algorithm>
#include <cmath>

namespace mangrove::agent {
namespace {

constexpr double kStepsPerDoubling = 12;
constexpr int kColumns = 6;
// Words of half a byte: differences from -6 to 6, a value in full, and runs of no difference.
constexpr int kMostDifference = 6;
constexpr uint8_t kFull = 13, kRun = 14;
constexpr size_t kLongestRun = 16 + 2;  // a run shorter than three is cheaper as it is

double quantile90(std::vector<double> values) {
  const size_t at = (values.size() * 9 + 9) / 10 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<long>(at), values.end());
  return values[at];
}

CellPart partOf(const std::vector<double>& means, const std::vector<double>& upper,
                const std::vector<double>& most) {
  CellPart out;
  for (double one : means) out.mean += one / static_cast<double>(means.size());
  out.p90 = quantile90(upper);
  out.max = *std::max_element(most.begin(), most.end());
  return out;
}

using Steps = std::array<uint8_t, kColumns>;

// Percentile and maximum as what they are above the mean: they move together.
Steps stepsOf(const Cell& cell) {
  Steps out{};
  const CellPart* parts[] = {&cell.cpu, &cell.memory};
  for (size_t i = 0; i < 2; ++i) {
    const uint8_t mean = quantised(parts[i]->mean);
    const uint8_t p90 = std::max(mean, quantised(parts[i]->p90));
    out[i * 3] = mean;
    out[i * 3 + 1] = static_cast<uint8_t>(p90 - mean);
    out[i * 3 + 2] = static_cast<uint8_t>(std::max(p90, quantised(parts[i]->max)) - p90);
  }
  return out;
}

Cell cellOf(const Steps& steps) {
  const auto part = [&](size_t i) {
    const int mean = steps[i], p90 = std::min(mean + steps[i + 1], 255);
    return CellPart{valueOf(static_cast<uint8_t>(mean)), valueOf(static_cast<uint8_t>(p90)),
                    valueOf(static_cast<uint8_t>(std::min(p90 + steps[i + 2], 255)))};
  };
  return {part(0), part(3)};
}

class NibbleWriter {
 public:
  void put(uint8_t nibble) {
    if (half_)
      bytes_.back() = static_cast<char>(static_cast<uint8_t>(bytes_.back()) | nibble << 4);
    else
      bytes_.push_back(static_cast<char>(nibble));
    half_ = !half_;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  bool half_ = false;
};

class NibbleReader {
 public:
  explicit NibbleReader(std::string_view bytes) : bytes_(bytes) {}
  std::optional<uint8_t> next() {
    if (at_ / 2 >= bytes_.size()) return std::nullopt;
    const auto byte = static_cast<uint8_t>(bytes_[at_ / 2]);
    return at_++ % 2 == 0 ? byte & 15 : byte >> 4;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

void writeColumn(const std::vector<uint8_t>& column, NibbleWriter& out) {
  uint8_t last = 0;
  for (size_t i = 0; i < column.size();) {
    size_t run = 0;
    while (i + run < column.size() && column[i + run] == last && run < kLongestRun) ++run;
    if (run >= 3) {
      out.put(kRun);
      out.put(static_cast<uint8_t>(run - 3));
      i += run;
      continue;
    }
    const int difference = column[i] - last;
    if (std::abs(difference) <= kMostDifference) {
      out.put(static_cast<uint8_t>(difference + kMostDifference));
    } else {
      out.put(kFull);
      out.put(column[i] & 15);
      out.put(column[i] >> 4);
    }
    last = column[i++];
  }
}

Result<std::vector<uint8_t>> readColumn(NibbleReader& in, size_t count) {
  std::vector<uint8_t> out;
  uint8_t last = 0;
  while (out.size() < count) {
    const auto word = in.next();
    const auto first = word && *word >= kFull ? in.next() : std::optional<uint8_t>(0);
    const auto second = word && *word == kFull ? in.next() : std::optional<uint8_t>(0);
    if (!word || !first || !second || *word > kRun)
      return invalid("almanac: a column of {} values ends after {}", count, out.size());
    if (*word == kRun) {
      out.insert(out.end(), std::min<size_t>(*first + 3u, count - out.size()), last);
      continue;
    }
    last = *word == kFull ? static_cast<uint8_t>(*first | *second << 4)
                          : static_cast<uint8_t>(last + *word - kMostDifference);
    out.push_back(last);
  }
  return out;
}

}  // namespace

uint8_t quantised(double value) {
  if (!(value >= 1)) return value > 0 ? 1 : 0;
  return static_cast<uint8_t>(std::min(254.0, std::round(std::log2(value) * kStepsPerDoubling)) +
                              1);
}

double valueOf(uint8_t step) {
  return step == 0 ? 0 : std::exp2((step - 1) / kStepsPerDoubling);
}

Cell rounded(const Cell& cell) {
  return cellOf(stepsOf(cell));
}

std::optional<Cell> summarise(std::span<const AlmanacSample> samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> cpu, memory;
  for (const AlmanacSample& one : samples) cpu.push_back(one.cpu), memory.push_back(one.memory);
  return Cell{partOf(cpu, cpu, cpu), partOf(memory, memory, memory)};
}

std::optional<Cell> merge(std::span<const std::optional<Cell>> cells) {
  std::vector<double> values[kColumns];
  for (const auto& cell : cells) {
    if (!cell) continue;
    const CellPart* parts[] = {&cell->cpu, &cell->memory};
    for (size_t i = 0; i < 2; ++i) {
      values[i * 3].push_back(parts[i]->mean);
      values[i * 3 + 1].push_back(parts[i]->p90);
      values[i * 3 + 2].push_back(parts[i]->max);
    }
  }
  if (values[0].empty()) return std::nullopt;
  return Cell{partOf(values[0], values[1], values[2]), partOf(values[3], values[4], values[5])};
}

// First which cells are there, as a column of its own.
std::string encodeCells(const Cells& cells) {
  NibbleWriter out;
  std::vector<uint8_t> there;
  std::vector<Steps> steps;
  for (const auto& cell : cells) {
    there.push_back(cell ? 1 : 0);
    if (cell) steps.push_back(stepsOf(*cell));
  }
  writeColumn(there, out);
  for (size_t column = 0; column < kColumns; ++column) {
    std::vector<uint8_t> values;
    for (const Steps& one : steps) values.push_back(one[column]);
    writeColumn(values, out);
  }
  return out.take();
}

Result<Cells> decodeCells(std::string_view bytes, size_t count) {
  NibbleReader in(bytes);
  const auto there = readColumn(in, count);
  if (!there) return pass(there.error());
  const auto known = static_cast<size_t>(
      std::count_if(there->begin(), there->end(), [](uint8_t one) { return one != 0; }));
  std::vector<Steps> steps(known);
  for (size_t column = 0; column < kColumns; ++column) {
    const auto values = readColumn(in, known);
    if (!values) return pass(values.error());
    for (size_t i = 0; i < known; ++i) steps[i][column] = (*values)[i];
  }
  Cells out(count);
  for (size_t i = 0, next = 0; i < count; ++i)
    if ((*there)[i] != 0) out[i] = cellOf(steps[next++]);
  return out;
}

}  // namespace mangrove::agent
