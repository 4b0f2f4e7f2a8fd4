#pragma once
// Making, recognising and opening the store's database file, with the reasons why one is refused.

#include <string>

#include "base/result.h"
#include "store/data_dir.h"
#include "store/sqlite.h"

namespace mangrove::store {

std::string databasePath(const DataDir& dir);
// A store of ours, of a format that this version reads.
Result<> requireVersion(Sqlite& db, const std::string& path);
// What is wrong and what to do about it.
Failure damaged(const std::string& path, const std::string& what);
// Makes the file when the directory has none. Settings are in force when this returns.
Result<Sqlite> openDatabaseFile(const DataDir& dir, const std::string& vfs);

}  // namespace mangrove::store
