#pragma once
// Memory that the demo shares with its processes, inside pods and outside: whose turn it is, how
// much work was done, and the latencies of the block that runs. A file in the demo's directory.
//
//   auto board = BoardFile::create(dir + "/board");           // the demo
//   (*board)->setTurn(Turn::kBatch);
//   auto board = BoardFile::open(path);                       // a worker
//   (*board)->work(Turn::kBatch, lane, &multiplyOnce);        // never returns
//
// All members are atomic; any process, any thread.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "agent/bench/service.h"
#include "base/result.h"

namespace mangrove::demo {

enum class Turn : uint32_t { kNobody, kAwake, kCareless, kPlain, kBatch };

struct Board {
  static constexpr size_t kWorkers = 128;  // of each kind
  struct alignas(64) Lane {
    std::atomic<uint64_t> units;
    std::atomic<uint64_t> cpuNanos;
  };
  struct Done {
    double units = 0, cpuSeconds = 0;
  };

  std::atomic<uint32_t> turn;  // also the word that workers sleep on
  std::array<std::array<Lane, kWorkers>, 5> lanes;
  agent::LoadResult load;

  void setTurn(Turn whose);
  Done done(Turn whose) const;
  // Works one unit after the other while it is this worker's turn and sleeps otherwise.
  [[noreturn]] void work(Turn mine, size_t lane, void (*unit)());
};

class BoardFile {
 public:
  static Result<BoardFile> create(const std::string& path);
  static Result<BoardFile> open(const std::string& path);
  BoardFile(BoardFile&& other) noexcept : board_(std::exchange(other.board_, nullptr)) {}
  ~BoardFile();
  Board* operator->() const { return board_; }
  Board& operator*() const { return *board_; }

 private:
  explicit BoardFile(Board* board) : board_(board) {}
  static Result<BoardFile> map(const std::string& path, int flags);
  Board* board_;
};

}  // namespace mangrove::demo
