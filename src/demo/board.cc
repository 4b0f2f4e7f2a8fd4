#include "demo/board.h"

#include <cerrno>
#include <climits>
#include <ctime>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/fd.h"

namespace mangrove::demo {
namespace {

void sleepOn(std::atomic<uint32_t>& word, uint32_t seen) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

uint64_t ownCpuNanos() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

}  // namespace

void Board::setTurn(Turn whose) {
  turn = static_cast<uint32_t>(whose);
  ::syscall(SYS_futex, reinterpret_cast<uint32_t*>(&turn), FUTEX_WAKE, INT_MAX, nullptr, nullptr,
            0);
}

Board::Done Board::done(Turn whose) const {
  Done out;
  for (const Lane& lane : lanes[static_cast<size_t>(whose)]) {
    out.units += static_cast<double>(lane.units.load());
    out.cpuSeconds += static_cast<double>(lane.cpuNanos.load()) / 1e9;
  }
  return out;
}

void Board::work(Turn mine, size_t lane, void (*unit)()) {
  Lane& out = lanes[static_cast<size_t>(mine)][lane % kWorkers];
  const uint64_t before = out.cpuNanos;  // of a predecessor that was evicted
  const auto word = static_cast<uint32_t>(mine);
  for (;;) {
    if (const uint32_t now = turn; now != word) {
      sleepOn(turn, now);
      continue;
    }
    unit();
    ++out.units;
    out.cpuNanos = before + ownCpuNanos();
  }
}

Result<BoardFile> BoardFile::map(const std::string& path, int flags) {
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0600));
  if (!file) return failErrno(errno, path);
  if (flags != 0 && ::ftruncate(file.get(), sizeof(Board)) != 0) return failErrno(errno, path);
  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return failErrno(errno, "map " + path);
  return BoardFile(static_cast<Board*>(memory));
}

Result<BoardFile> BoardFile::create(const std::string& path) {
  return map(path, O_CREAT | O_EXCL);
}

Result<BoardFile> BoardFile::open(const std::string& path) {
  return map(path, 0);
}

BoardFile::~BoardFile() {
  if (board_ != nullptr) ::munmap(board_, sizeof(Board));
}

}  // namespace mangrove::demo
