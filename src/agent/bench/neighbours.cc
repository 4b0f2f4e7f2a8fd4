#include "agent/bench/neighbours.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/bench/batch_work.h"
#include "base/number/rng.h"

namespace mangrove::agent {
namespace {

constexpr double kFirst = 0.02;  // ms
constexpr double kWidth = 1.05;
constexpr size_t kLine = 64 / sizeof(uint32_t);
constexpr size_t kMebi = 1024 * 1024;

double boundOf(size_t bucket) {
  return kFirst * std::pow(kWidth, static_cast<double>(bucket));
}

double nowMs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

void sleepUntil(double ms) {
  timespec at{};
  at.tv_sec = static_cast<time_t>(ms / 1e3);
  at.tv_nsec = static_cast<long>((ms - static_cast<double>(at.tv_sec) * 1e3) * 1e6);
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

// A walk through memory in which every step waits for the one before: one line after another, in a
// random circle.
std::vector<uint32_t> circleOf(size_t bytes, uint64_t seed) {
  const size_t lines = bytes / 64;
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  Rng rng(seed);
  for (size_t i = lines - 1; i > 0; --i) std::swap(order[i], order[rng.below(i + 1)]);
  std::vector<uint32_t> out(lines * kLine);
  for (size_t i = 0; i < lines; ++i)
    out[order[i] * kLine] = static_cast<uint32_t>(order[(i + 1) % lines] * kLine);
  return out;
}

int fileOf(const std::string& dir, std::string_view name, size_t bytes) {
  const int fd = ::open(fmt::format("{}/{}-{}", dir, name, ::getpid()).c_str(),
                        O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  static char block[kMebi];
  std::memset(block, 7, sizeof block);
  for (size_t at = 0; fd >= 0 && at < bytes; at += sizeof block)
    if (::pwrite(fd, block, sizeof block, static_cast<off_t>(at)) < 0) break;
  return fd;
}

template <class Request>
[[noreturn]] void serve(double rate, LatencyPage& page, Request request) {
  const double period = 1e3 / rate;
  double due = nowMs() + period;
  for (;;) {
    sleepUntil(due);
    request();
    page.note(nowMs() - due);
    due += period;
    // A service that fell far behind drops what nobody waits for any more.
    if (nowMs() - due > 1e3) due = nowMs() + period;
  }
}

[[noreturn]] void walkMemory(LatencyPage& page) {
  const std::vector<uint32_t> circle = circleOf(48 * kMebi, 1);
  uint32_t at = 0;
  serve(300, page, [&] {
    for (int i = 0; i < 4000; ++i) at = circle[at];
    asm volatile("" : : "r"(at) : "memory");
  });
}

[[noreturn]] void syncFile(const WorkPlace& place, LatencyPage& page) {
  const int fd = fileOf(place.dir, "victim", 4 * kMebi);
  static char block[4096];
  uint64_t n = 0;
  serve(40, page, [&] {
    const auto at = static_cast<off_t>(++n % 1024 * sizeof block);
    if (::pwrite(fd, block, sizeof block, at) > 0) (void)::fdatasync(fd);
  });
}

[[noreturn]] void readCached(const WorkPlace& place, LatencyPage& page) {
  const int fd = fileOf(place.dir, "victim", 96 * kMebi);
  static char block[4096];
  Rng rng(2);
  serve(200, page, [&] {
    for (int i = 0; i < 32; ++i)
      (void)!::pread(fd, block, sizeof block, static_cast<off_t>(rng.below(96 * 256) * 4096));
  });
}

[[noreturn]] void copyFor(size_t bytes) {
  std::vector<char> a(bytes, 1), b(bytes, 2);
  for (;;) {
    std::memcpy(a.data(), b.data(), bytes);
    asm volatile("" : : "r"(a.data()) : "memory");
    std::swap(a, b);
  }
}

[[noreturn]] void walkFor(size_t bytes) {
  std::vector<uint32_t> circle = circleOf(bytes, 3);
  for (uint32_t at = 0;;) {
    const uint32_t next = circle[at];
    circle[at + 1]++;  // dirty lines
    at = next;
  }
}

[[noreturn]] void writeFor(const std::string& dir) {
  const int fd = fileOf(dir, "antagonist", kMebi);
  std::vector<char> block(kMebi, 3);
  for (uint64_t n = 0;; ++n) {
    if (::pwrite(fd, block.data(), block.size(), static_cast<off_t>(n % 128 * kMebi)) < 0)
      ::sleep(1);
    (void)::fdatasync(fd);
  }
}

[[noreturn]] void floodFor(const std::string& dir) {
  constexpr size_t kSize = 768;
  const int fd = fileOf(dir, "flood", kSize * kMebi);
  std::vector<char> block(kMebi);
  for (uint64_t n = 0;; ++n)
    (void)!::pread(fd, block.data(), block.size(), static_cast<off_t>(n % kSize * kMebi));
}

[[noreturn]] void napFor() {
  for (;;) {
    const double until = nowMs() + 15;
    while (nowMs() < until) multiplyOnce();
    sleepUntil(nowMs() + 35);
  }
}

bool isInstalled(const char* program) {
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "";
  for (size_t at = 0; at <= rest.size();) {
    const size_t end = std::min(rest.find(':', at), rest.size());
    if (::access((rest.substr(at, end - at) + "/" + program).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

void exec(std::vector<std::string> words) {
  std::vector<char*> args;
  for (std::string& word : words) args.push_back(word.data());
  args.push_back(nullptr);
  ::execvp(args[0], args.data());
}

}  // namespace

Result<std::unique_ptr<LatencyPage>> LatencyPage::make() {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failErrno(errno, "memory for latencies");
  return std::unique_ptr<LatencyPage>(new LatencyPage(static_cast<Shared*>(memory)));
}

LatencyPage::~LatencyPage() {
  ::munmap(shared_, sizeof(Shared));
}

void LatencyPage::note(double ms) {
  const double place = ms <= kFirst ? 0 : std::ceil(std::log(ms / kFirst) / std::log(kWidth));
  shared_->counts[std::min(static_cast<size_t>(place), kBuckets - 1)]++;
}

stats::Buckets LatencyPage::buckets() const {
  stats::Buckets out;
  double sum = 0;
  for (size_t i = 0; i < kBuckets; ++i)
    out[boundOf(i)] = sum += static_cast<double>(shared_->counts[i].load());
  return out;
}

std::string LatencyPage::text() const {
  std::string out;
  for (const auto& [bound, count] : buckets())
    out += fmt::format("request_seconds_bucket{{le=\"{:.9f}\"}} {}\n", bound / 1e3, count);
  return out;
}

std::string_view victimName(Sufferer victim) {
  constexpr std::string_view kNames[] = {"memory-bound", "fsyncing", "page-cache", "cpu-bound"};
  return kNames[static_cast<size_t>(victim)];
}

void runVictim(Sufferer victim, const WorkPlace& place, LatencyPage& page) {
  switch (victim) {
    case Sufferer::kMemory:
      walkMemory(page);
    case Sufferer::kFsync:
      syncFile(place, page);
    case Sufferer::kPageCache:
      readCached(place, page);
    case Sufferer::kCpu:
      break;
  }
  serve(150, page, [] { multiplyOnce(); });
}

bool isDecoy(Antagonist antagonist) {
  return antagonist >= Antagonist::kNap;
}

std::string_view antagonistName(Antagonist antagonist) {
  constexpr std::string_view kNames[] = {"memory stream",    "cache", "disk writes",
                                         "page flood",       "CPU",   "decoy: naps",
                                         "decoy: idle class"};
  return kNames[static_cast<size_t>(antagonist)];
}

std::string programOf(Antagonist antagonist) {
  using enum Antagonist;
  const bool stress = antagonist == kStream || antagonist == kCache || antagonist == kSpin;
  if (stress && isInstalled("stress-ng")) return "stress-ng";
  return antagonist == kDisk && isInstalled("fio") ? "fio" : "built-in";
}

void runAntagonist(Antagonist antagonist, const WorkPlace& place) {
  using enum Antagonist;
  ::setpgid(0, 0);
  const std::string cpus = std::to_string(place.cpus), program = programOf(antagonist);
  if (program == "stress-ng") {
    const char* what = antagonist == kStream  ? "--stream"
                       : antagonist == kCache ? "--cache"
                                              : "--cpu";
    exec({"stress-ng", what, cpus, "--temp-path", place.dir, "--quiet"});
  }
  if (program == "fio")
    exec({"fio", "--name=antagonist", "--directory=" + place.dir, "--rw=randwrite", "--bs=64k",
          "--size=128m", "--fsync=1", "--time_based", "--runtime=1d", "--output=/dev/null"});
  for (long i = 1; i < place.cpus && antagonist != kDisk && antagonist != kNap; ++i)
    if (::fork() == 0) break;
  switch (antagonist) {
    case kStream:
      copyFor(64 * kMebi);
    case kCache:
      walkFor(16 * kMebi);
    case kDisk:
      writeFor(place.dir);
    case kFlood:
      floodFor(place.dir);
    case kNap:
      napFor();
    case kShadow:
      becomeIdleClass();
      break;
    case kSpin:
      break;
  }
  for (;;) multiplyOnce();
}

}  // namespace mangrove::agent
