#pragma once
// A recording on disk: files PATH.1, PATH.2, … of a bounded size each, of which the oldest go when
// they are larger than the limit together. Every process begins a file; so does every eighth of the
// limit.
//
//   auto ring = RingFile::open("/var/lib/mangrove/day", 1 << 30);
//   ring->append(bytes);
//   if (ring->isFull()) ring->next();
//   for (const std::string& file : ringFiles(path)) …     // oldest first
//
// One thread.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::frame::record {

// With their numbers, oldest first.
struct RingPart {
  uint64_t number = 0;
  std::string file;
};
std::vector<RingPart> ringParts(const std::string& path);

class RingFile {
 public:
  static constexpr uint64_t kParts = 8;
  static constexpr size_t kMostFiles = 1000;  // of a process that is started again and again
  // Begins the next file.
  static Result<std::unique_ptr<RingFile>> open(std::string path, uint64_t limit);

  Result<> append(std::string_view bytes);
  bool isFull() const { return size_ >= limit_ / kParts; }
  Result<> next();

 private:
  RingFile(std::string path, uint64_t limit, uint64_t last)
      : path_(std::move(path)), limit_(limit), number_(last) {}
  void dropOldest() const;

  std::string path_;
  uint64_t limit_;
  uint64_t number_;  // of the file at hand
  uint64_t size_ = 0;
  UniqueFd fd_;
};

}  // namespace mangrove::frame::record
