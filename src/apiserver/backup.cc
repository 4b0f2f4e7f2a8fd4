#include "apiserver/backup.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "base/os/files.h"
#include "store/backup.h"

namespace mangrove::apiserver {

namespace {

// What a data directory holds beside the store and cannot be made again. Not the key that Secrets are
// sealed with: who finds a backup must not find it there.
constexpr const char* kFiles[] = {"ca.pem", "service-account.key", "tokens.csv"};
constexpr std::string_view kPartial = "backup.partial";
constexpr size_t kPiece = 1 << 20;

store::BackupFiles filesOf(const std::string& dir) {
  store::BackupFiles out;
  for (const char* name : kFiles)
    if (auto bytes = readFile(dir + "/" + name)) out[name] = std::move(*bytes);
  return out;
}

// Sends a file that has no name any more, a piece whenever the last one is gone, so that a store of
// any size goes through little memory. Owner thread; lives until the end or until nobody listens.
class Sending : public std::enable_shared_from_this<Sending> {
 public:
  Sending(UniqueFd file, std::unique_ptr<AnswerStream> to)
      : file_(std::move(file)), to_(std::move(to)) {}
  void start() {
    to_->onClosed([self = shared_from_this()] { self->to_.reset(); });
    to_->onDrained([self = shared_from_this()] { self->more(); });
    more();
  }

 private:
  // What cannot be read is missing at the end: who receives it knows the size.
  void more() {
    if (!to_) return;
    std::string piece(kPiece, '\0');
    const ssize_t n = ::read(file_.get(), piece.data(), piece.size());
    piece.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (piece.empty() || !to_->write(std::move(piece))) to_.reset();
  }

  UniqueFd file_;
  std::unique_ptr<AnswerStream> to_;
};

// The whole copy, open for reading and without a name.
Result<UniqueFd> finished(const std::string& dir, const std::string& path,
                          const Result<store::Revision>& at) {
  if (!at) return pass(at.error());
  if (auto ok = store::addToBackup(path, filesOf(dir)); !ok) return pass(ok.error());
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return failErrno(errno, "open " + path);
  return file;
}

void send(UniqueFd file, store::Revision at, ResponderPtr& to) {
  struct stat about {};
  if (::fstat(file.get(), &about) != 0)
    return to->answer(answer::ofError(failErrno(errno, "the backup").value()));
  Answer head;
  head.contentType = "application/vnd.sqlite3";
  head.etag = fmt::format("revision-{}/{}", at.v, about.st_size);
  if (auto stream = to->stream(std::move(head)))
    std::make_shared<Sending>(std::move(file), std::move(stream))->start();
}

// A server that was killed may have left some.
void removeLeftOvers(const std::string& dir) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error))
    if (entry.path().filename().string().starts_with(kPartial))
      std::filesystem::remove(entry.path(), error);
}

}  // namespace

void serveBackup(Server& server, Context& context, std::string dataDir) {
  if (!dataDir.empty()) removeLeftOvers(dataDir);
  server.onPath("/backup", [&context, dataDir = std::move(dataDir), count = 0](
                               const Call& call, ResponderPtr to) mutable {
    if (call.info.verb != Verb::kGet)
      return to->answer(answer::methodNotAllowed("/backup is read with GET"));
    if (dataDir.empty())
      return to->answer(answer::status(501, "NotImplemented", "this server keeps nothing on disk"));
    // Beside the store: the same disk, the same rights. One is made at a time, but several may wait.
    const std::string path = fmt::format("{}/{}-{}", dataDir, kPartial, ++count);
    context.store.backup(path, [to, path, dataDir](Result<store::Revision> at) mutable {
      auto file = finished(dataDir, path, at);
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
      if (!file) return to->answer(answer::ofError(file.error()));
      send(std::move(*file), *at, to);
    });
  });
}

Result<> restoreServer(const std::string& file, const std::string& dataDir) {
  return store::restoreBackup(file, dataDir, [&](const store::BackupFiles& files) -> Result<> {
    for (const auto& [name, bytes] : files) {
      if (std::find(std::begin(kFiles), std::end(kFiles), name) == std::end(kFiles))
        return invalid("the backup holds a file '{}', which no data directory has", name);
      auto ok = writeFileAtomically(dataDir + "/" + name, bytes, {.mode = 0600});
      if (!ok) return ok;
    }
    return {};
  });
}

}  // namespace mangrove::apiserver
