// A server's whole state in one file, taken while it runs, and a data directory made of it.
#include "apiserver/backup.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/os/file_in_pieces.h"
#include "base/text/strings.h"
#include "cli/command.h"
#include "client/http/credentials.h"
#include "client/http/kubeconfig.h"
#include "frame/flags.h"
#include "net/client/http_client.h"

namespace mangrove::cli {
namespace {

constexpr const char* kDefaultConfig = "/var/lib/mangrove/kubeconfig";

int failed(const char* command, const Error& error) {
  fmt::print(stderr, "mangrove {}: {}\n", command, error.text());
  return kFailed;
}

// Waits for what happens on other threads.
template <class T>
class Awaited {
 public:
  void set(T value) {
    std::lock_guard lock(mutex_);
    value_ = std::move(value);
    changed_.notify_all();
  }
  T get() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return value_.has_value(); });
    return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> value_;
};

Result<std::unique_ptr<net::HttpClient>> connect(net::Loop& loop,
                                                 const client::ClientConfig& config,
                                                 client::Credentials& credentials) {
  auto tls = credentials.tls();
  if (!tls) return pass(tls.error());
  auto url = net::Url::parse(config.server);
  if (!url) return pass(url.error());
  net::ClientOptions options;
  options.base = *url;
  options.tls = *tls;
  return net::HttpClient::create(loop, options);
}

// A large store that is written to takes its time before the first byte comes.
constexpr net::StreamOptions kPatience{.firstByteTimeout = std::chrono::minutes(30),
                                       .idleTimeout = std::chrono::minutes(2)};

// The answer, as it comes, into the file. On the thread of the client until it ends.
class Receiving {
 public:
  explicit Receiving(FileInPieces& file) : file_(file) {}

  net::StreamHandler handler() {
    return {.onHead = [this](const net::HttpResponse& head) { begin(head); },
            .onData = [this](std::string_view piece) { take(piece); },
            .onEnd = [this](Result<> end) { ended_.set(std::move(end)); }};
  }
  // How many bytes came.
  Result<size_t> wait() {
    if (auto end = ended_.get(); !end) return pass(end.error());
    if (status_ != 200)
      return fail(status_ == 403 || status_ == 401 ? Code::kDenied : Code::kIo,
                  "the server answered {}: {}", status_, said_);
    if (!written_) return pass(written_.error());
    if (promised_ && *promised_ != bytes_)
      return fail(Code::kIo, "the server sent {} bytes of {}", bytes_, *promised_);
    return bytes_;
  }

 private:
  void begin(const net::HttpResponse& head) {
    status_ = head.status;
    // "revision-12/34567": of that revision, so many bytes
    promised_ = parseInt<size_t>(cut(cut(head.headers.get("ETag"), '/').after, '"').before);
  }
  void take(std::string_view piece) {
    constexpr size_t kMostSaid = 300;
    if (status_ != 200) {
      said_ += piece.substr(0, kMostSaid - std::min(said_.size(), kMostSaid));
      return;
    }
    bytes_ += piece.size();
    if (written_) written_ = file_.add(piece);
  }

  FileInPieces& file_;
  int status_ = 0;
  std::optional<size_t> promised_;
  size_t bytes_ = 0;
  std::string said_;
  Result<> written_;
  Awaited<Result<>> ended_;
};

Result<size_t> receive(net::HttpClient& http, const client::Authorization& who,
                       FileInPieces& file) {
  net::HttpRequest request;
  request.target = "/backup";
  for (const auto& [name, value] : who.headers.fields()) request.headers.set(name, value);
  Receiving receiving(file);
  auto stream = http.open(std::move(request), receiving.handler(), kPatience);
  return receiving.wait();
}

Result<size_t> fetch(const std::string& kubeconfig, FileInPieces& file) {
  client::ConfigRequest where;
  where.kubeconfig = kubeconfig;
  if (where.kubeconfig.empty() && !std::getenv("KUBECONFIG")) where.kubeconfig = kDefaultConfig;
  auto config = client::loadClientConfig(where);
  if (!config) return pass(config.error());
  net::Loop loop;
  client::Credentials credentials(*config, realClock());
  auto http = connect(loop, *config, credentials);
  if (!http) return pass(http.error());
  Awaited<Result<client::Authorization>> who;
  credentials.authorize([&](Result<client::Authorization> a) { who.set(std::move(a)); });
  auto authorization = who.get();
  if (!authorization) return pass(authorization.error());
  return receive(**http, *authorization, file);
}

}  // namespace

int backup(const std::vector<std::string>& args) {
  std::string kubeconfig, file;
  frame::Flags flags("mangrove backup",
                     "copies a running server's state into one file: objects and keys");
  flags.add("file", file, "where to write it; it holds every secret of the server");
  flags.add("kubeconfig", kubeconfig, "the server; $KUBECONFIG or that of mangrove up");
  auto go = flags.parse(args);
  if (!go) return fmt::print(stderr, "mangrove backup: {}\n", go.error().text()), kWrongUsage;
  if (!*go) return 0;
  if (file.empty()) return fmt::print(stderr, "mangrove backup: --file is missing\n"), kWrongUsage;
  auto copy = FileInPieces::make(file, {.mode = 0600});
  if (!copy) return failed("backup", copy.error());
  auto bytes = fetch(kubeconfig, *copy);
  if (!bytes) return failed("backup", bytes.error());
  if (auto ok = copy->keep(); !ok) return failed("backup", ok.error());
  fmt::print("{}: {} bytes\n", file, *bytes);
  return 0;
}

int restore(const std::vector<std::string>& args) {
  std::string file, dataDir;
  frame::Flags flags("mangrove restore", "makes a data directory of a backup");
  flags.add("file", file, "the backup");
  flags.add("data-dir", dataDir, "directory to make; must have no store yet");
  auto go = flags.parse(args);
  if (!go) return fmt::print(stderr, "mangrove restore: {}\n", go.error().text()), kWrongUsage;
  if (!*go) return 0;
  if (file.empty() || dataDir.empty())
    return fmt::print(stderr, "mangrove restore: want --file and --data-dir\n"), kWrongUsage;
  if (auto ok = apiserver::restoreServer(file, dataDir); !ok) return failed("restore", ok.error());
  fmt::print("{} is what {} was made of; start it with --data-dir {}\n", dataDir, file, dataDir);
  return 0;
}

}  // namespace mangrove::cli
