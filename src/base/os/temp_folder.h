#pragma once
// A folder that goes with this object, content and all.
//
//   TempFolder folder("shelf");                        // below $TMPDIR, else /tmp
//   writeFileAtomically(folder.file("a"), "text");
//   auto scratch = TempFolder::below("/var/scratch", "bench");   // a Result: the place is the user's
//
// Not thread-safe; movable.

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace mangrove {

class TempFolder {
 public:
  // A machine without room for one is an error of ours: for tests and places known to be good.
  explicit TempFolder(std::string_view name = "mangrove");
  static Result<TempFolder> below(const std::string& parent, std::string_view name);
  // In memory where the machine has such a place and TMPDIR does not say otherwise: what depends
  // on no disk should not wait for one.
  static TempFolder inMemory(std::string_view name);
  ~TempFolder();
  TempFolder(TempFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TempFolder& operator=(TempFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  struct Made {
    std::string path;
  };
  explicit TempFolder(Made made) : path_(std::move(made.path)) {}

  std::string path_;  // "": moved away
};

}  // namespace mangrove
