#pragma once
// writeFileAtomically() for what comes in pieces: readers see the old content until keep(), and without
// it nothing is left.
//
//   auto file = FileInPieces::make(path, {.mode = 0600});
//   if (!file || !file->add(piece) || !file->keep()) return …;
//
// One thread at a time.

#include <string>
#include <string_view>
#include <utility>

#include "base/os/fd.h"
#include "base/os/files.h"
#include "base/result.h"

namespace mangrove {

class FileInPieces {
 public:
  static Result<FileInPieces> make(const std::string& path, WriteOptions options = {});
  FileInPieces(FileInPieces&&) noexcept = default;
  FileInPieces& operator=(FileInPieces&&) = delete;
  ~FileInPieces();

  Result<> add(std::string_view piece);
  Result<> keep();

 private:
  FileInPieces(std::string path, std::string temporary, UniqueFd fd, WriteOptions options)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        fd_(std::move(fd)),
        options_(options) {}

  std::string path_, temporary_;
  UniqueFd fd_;  // none: kept, or moved away
  WriteOptions options_;
};

}  // namespace mangrove
