#pragma once
// A backup of the whole server while it runs: its store as of one revision, and the keys without
// which what is in it would be worth nothing (authority, signing key, tokens).
//
//   GET /backup            → one file; only for who may get that path (system:masters)
//   ETag: "revision-12/34567"   of that revision, so many bytes
//
// `mangrove backup` fetches it, `mangrove restore` makes a data directory of it. Owner thread.

#include <string>

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

void serveBackup(Server& server, Context& context, std::string dataDir);

// Makes `dataDir` what the backup was made of. Refuses a directory with a store in it.
Result<> restoreServer(const std::string& file, const std::string& dataDir);

}  // namespace mangrove::apiserver
