#pragma once
// The directory a store lives in: made private, and held by one process at a time. The lock is the
// kernel's, so it ends with the process however that dies.

#include <string>

#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::store {

class DataDir {
 public:
  // Makes the directory (mode 0700) when missing. kConflict names the process that holds it.
  static Result<DataDir> lock(const std::string& dir);

  const std::string& path() const { return path_; }
  std::string file(const char* name) const { return path_ + "/" + name; }
  // Makes earlier creations and renames in it durable.
  Result<> sync() const;

 private:
  DataDir(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  UniqueFd lock_;
};

}  // namespace mangrove::store
