#pragma once
// The entries of one file of a recording, one after the other and with little of it in memory at a
// time. Files that were not packed are read as well.
//
//   auto file = EntryFile::open("/var/lib/mangrove/day.1");
//   while (auto entry = (*file)->next()) …
//
// One thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/os/fd.h"
#include "base/result.h"
#include "frame/record/entry.h"
#include "frame/record/packing.h"

namespace mangrove::frame::record {

class EntryFile {
 public:
  static Result<std::unique_ptr<EntryFile>> open(const std::string& path);

  std::optional<Entry> next();
  uint64_t bytes() const { return bytes_; }  // of the file, as far as it was read
  // Behind the last entry: there is no end, as after a kill, or in a file that is being written.
  bool isTorn() const {
    return broken_ || at_ < unpacked_.size() || (isPacked_ == true && !unpacker_.isEnded());
  }

 private:
  explicit EntryFile(UniqueFd fd) : fd_(std::move(fd)) {}
  bool readOn();

  UniqueFd fd_;
  uint64_t bytes_ = 0;
  std::optional<bool> isPacked_;  // once something was read
  Unpacker unpacker_;
  std::string unpacked_;
  size_t at_ = 0;  // in it
  Moment last_{};
  bool broken_ = false;
};

}  // namespace mangrove::frame::record
