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
// Where blocks are is remembered (16 bytes of each, half a megabyte when the files are full): asking for
// the same hours of yesterday reads those blocks and not the whole file. Any thread, one at a time; the
// owner locks. One store writes to a directory.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

struct BlockHead {
  Level level{};
  int64_t start = 0;  // minutes since 1970
  std::string_view subject;
};

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
  using Wants = std::function<bool(const BlockHead&)>;
  std::vector<Block> read(const Wants& wants = {}) const;
  // Drops what is too old; beyond the budget minutes go, of the smallest workloads and the oldest
  // first: their hours stay.
  Result<> compact(int64_t minute, size_t budget = kBudget) const;
  size_t bytes() const;

 private:
  // A whole block of the file: where its payload is.
  struct Place {
    uint32_t offset = 0, size = 0;
    uint32_t start = 0;
    uint16_t subject = 0;  // of subjects
    Level level{};
  };
  struct Index {
    std::vector<Place> places;
    std::vector<std::string> subjects;
    std::map<std::string, uint16_t, std::less<>> numbers;
  };
  const Index& index() const;
  static void note(Index& index, std::string_view text, size_t offset);

  std::string file(const char* name) const { return dir_ + "/" + name; }
  Result<> append(const char* name, const std::string& bytes, bool sync) const;

  std::string dir_;
  mutable std::optional<Index> index_;  // nullopt: not read since the file was replaced
};

}  // namespace mangrove::agent
