#include "apiserver/backup.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "base/os/files.h"
#include "store/backup.h"

namespace mangrove::apiserver {

namespace {

// What a data directory holds beside the store and cannot be made again.
constexpr const char* kFiles[] = {"ca.pem", "service-account.key", "tokens.csv", "encryption.key"};

store::BackupFiles filesOf(const std::string& dir) {
  store::BackupFiles out;
  for (const char* name : kFiles)
    if (auto bytes = readFile(dir + "/" + name)) out[name] = std::move(*bytes);
  return out;
}

Answer bodyOf(const std::string& dir, const std::string& path, const Result<store::Revision>& at) {
  if (!at) return answer::ofError(at.error());
  if (auto ok = store::addToBackup(path, filesOf(dir)); !ok) return answer::ofError(ok.error());
  auto bytes = readFile(path);
  if (!bytes) return answer::ofError(bytes.error());
  Answer out = answer::json(200, std::move(*bytes));
  out.contentType = "application/vnd.sqlite3";
  out.etag = fmt::format("revision-{}", at->v);
  return out;
}

}  // namespace

void serveBackup(Server& server, Context& context, std::string dataDir) {
  server.onPath("/backup", [&context, dataDir = std::move(dataDir)](const Call& call,
                                                                    ResponderPtr to) {
    if (call.info.verb != Verb::kGet)
      return to->answer(answer::methodNotAllowed("/backup is read with GET"));
    if (dataDir.empty())
      return to->answer(answer::status(501, "NotImplemented", "this server keeps nothing on disk"));
    // Beside the store: the same disk, the same rights, one at a time.
    const std::string path = dataDir + "/backup.partial";
    std::error_code error;
    std::filesystem::remove(path, error);
    context.store.backup(path, [to, path, dataDir](Result<store::Revision> at) {
      to->answer(bodyOf(dataDir, path, at));
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    });
  });
}

Result<> restoreServer(const std::string& file, const std::string& dataDir) {
  auto files = store::restoreBackup(file, dataDir);
  if (!files) return pass(files.error());
  for (const auto& [name, bytes] : *files) {
    if (std::find(std::begin(kFiles), std::end(kFiles), name) == std::end(kFiles))
      return invalid("the backup holds a file '{}', which no data directory has", name);
    if (auto ok = writeFileAtomically(dataDir + "/" + name, bytes, {.mode = 0600}); !ok) return ok;
  }
  return {};
}

}  // namespace mangrove::apiserver
