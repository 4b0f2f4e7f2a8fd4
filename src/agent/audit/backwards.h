#pragma once
// The lines of a file from its end to its beginning, without reading more of it than is asked for.
//
//   BackwardLines lines(UniqueFd(::open(path, O_RDONLY)));
//   while (auto line = lines.next()) …
//
// What is appended after construction is not seen. One owner.

#include <optional>
#include <string>

#include "base/os/fd.h"

namespace mangrove::agent {

class BackwardLines {
 public:
  explicit BackwardLines(UniqueFd file);
  // Without its line end; empty lines are left out. A last line without line end is still being
  // written and left out, too.
  std::optional<std::string> next();
  bool atBegin() const { return offset_ == 0 && buffer_.empty(); }

 private:
  bool fill();  // puts what is before into the front of the buffer

  UniqueFd file_;
  int64_t offset_ = 0;  // of the buffer in the file
  std::string buffer_;  // ends with a line end, or is empty
};

}  // namespace mangrove::agent
