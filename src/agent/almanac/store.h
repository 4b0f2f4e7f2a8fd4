#pragma once
// The almanac's files: `almanac.dat`, blocks of cells appended as hours, days and months end, and
// `now.log`, the minutes of the hour that is not over yet. Every record carries a checksum; what a
// crash or a disk left half is skipped at the next reading, whole records before and after it count.
// Compacting writes a new file beside the old one and renames it.
//
//   AlmanacStore store("/var/lib/mangrove/agent/almanac");
//   store.keepMinute(minute, cells);                       // once a minute
//   store.keepBlocks({{Level::kMinutes, hour, "node", cells}, …});
//   store.compact(minute);                                 // once a day
//
// Any thread, one at a time; the owner locks.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/almanac/cells.h"
#include "base/result.h"

namespace mangrove::agent {

// How long a cell is, and how many are in a block.
enum class Level : uint8_t { kMinutes, kHours, kDays };
struct LevelShape {
  int64_t minutes = 1;  // of a cell
  size_t cells = 60;    // of a block
  int64_t kept = 0;     // minutes a block is kept
};
LevelShape shapeOf(Level level);

struct Block {
  Level level{};
  int64_t start = 0;  // minutes since 1970
  std::string subject;
  Cells cells;
};

using MinuteCells = std::map<std::string, Cell>;  // by subject

class AlmanacStore {
 public:
  static constexpr size_t kBudget = 5'000'000;  // bytes of both files

  explicit AlmanacStore(std::string dir);

  Result<> keepMinute(int64_t minute, const MinuteCells& cells) const;
  // The minutes that were kept and not yet made a block of.
  std::map<int64_t, MinuteCells> recent() const;
  // Appends them, waits for the disk, and forgets the minutes that they hold.
  Result<> keepBlocks(const std::vector<Block>& blocks) const;
  // Visits what is whole. `wants` is asked before cells are decoded; empty: everything.
  using Wants = std::function<bool(const Block&)>;
  std::vector<Block> read(const Wants& wants = {}) const;
  // Drops what is too old; beyond the budget minutes go, of the smallest workloads and the oldest
  // first: their hours stay.
  Result<> compact(int64_t minute, size_t budget = kBudget) const;
  size_t bytes() const;

 private:
  std::string file(const char* name) const { return dir_ + "/" + name; }
  Result<> append(const char* name, const std::string& bytes, bool sync) const;

  std::string dir_;
};

}  // namespace mangrove::agent
