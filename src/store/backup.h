#pragma once
// A copy of the store's file while the store goes on writing, and the way back.
//
// The copy is made by the thread that writes, a few pages at a time between its transactions, with
// SQLite's backup interface: what is written meanwhile is carried over, so the copy is the store of
// the moment in which it was finished, and nothing waits for longer than a few pages take. Files
// that belong to the store (keys, the authority) can be put into the copy.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/revision.h"
#include "store/sqlite.h"

namespace mangrove::store {

class BackupCopy {
 public:
  // A new file at `path`, mode 0600; `from` must outlive this.
  static Result<BackupCopy> start(Sqlite& from, const std::string& path);
  BackupCopy(BackupCopy&&) noexcept;
  BackupCopy& operator=(BackupCopy&&) noexcept;
  ~BackupCopy();

  // Some pages more; true when the copy is whole and on disk.
  Result<bool> step();
  Revision revision() const { return revision_; }  // of the newest change in it, once whole

 private:
  struct Impl;
  explicit BackupCopy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  Revision revision_;
};

using BackupFiles = std::map<std::string, std::string>;  // name → bytes
Result<> addToBackup(const std::string& path, const BackupFiles& files);
// Makes `dir` the store of this backup. Its files are handed to `keep` before the store has its name:
// a store without them is never there, whatever fails. Refuses a directory that has a store already
// or is in use, and a file that is no backup of a store that we can read.
using KeepFiles = std::function<Result<>(const BackupFiles&)>;
Result<> restoreBackup(const std::string& path, const std::string& dir, const KeepFiles& keep);

}  // namespace mangrove::store
