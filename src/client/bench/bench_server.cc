#include "client/bench/bench_server.h"

#include <mutex>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/strings.h"
#include "client/bench/pod_text.h"
#include "net/http/url.h"
#include "net/loop.h"
#include "net/server/http_server.h"

namespace mangrove::client {

namespace {

constexpr uint64_t kFirstVersion = 1000000;
constexpr size_t kEventsAtOnce = 64;

// Everything is made before the first request, so that the measured time is ours alone.
class Pods {
 public:
  Pods(int64_t pods, int64_t events) : events_(events) {
    texts_.reserve(static_cast<size_t>(pods));
    for (int64_t i = 0; i < pods; ++i)
      texts_.push_back(podText(i, kFirstVersion + static_cast<uint64_t>(i)));
  }

  std::string page(size_t first, size_t limit) const {
    size_t last = limit == 0 ? texts_.size() : std::min(texts_.size(), first + limit);
    std::string out = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                      std::to_string(kFirstVersion + texts_.size()) + "\"";
    if (last < texts_.size()) out += R"(,"continue":")" + std::to_string(last) + "\"";
    out += R"(},"items":[)";
    for (size_t i = first; i < last; ++i) {
      if (i > first) out += ',';
      out += texts_[i];
    }
    return out + "]}";
  }

  bool hasEvents(int64_t from) const { return from < events_; }
  std::string events(int64_t from) const {
    std::string out;
    int64_t last = std::min<int64_t>(events_, from + static_cast<int64_t>(kEventsAtOnce));
    for (int64_t i = from; i < last; ++i) {
      uint64_t version = kFirstVersion + texts_.size() + 1 + static_cast<uint64_t>(i);
      out += R"({"type":"MODIFIED","object":)" +
             podText(i * 7919 % static_cast<int64_t>(texts_.size()), version) + "}\n";
    }
    return out;
  }

 private:
  std::vector<std::string> texts_;
  int64_t events_;
};

// Sends the next events each time the last ones have left.
struct Feed : std::enable_shared_from_this<Feed> {
  void next() {
    if (!pods->hasEvents(sent)) return;
    std::string more = pods->events(sent);
    sent += static_cast<int64_t>(kEventsAtOnce);
    stream->write(std::move(more));
  }
  const Pods* pods = nullptr;
  int64_t sent = 0;
  std::unique_ptr<net::ResponseStream> stream;
};

void answer(const Pods& pods, const std::shared_ptr<net::Exchange>& exchange,
            std::vector<std::shared_ptr<Feed>>& feeds) {
  auto query = net::Query::parse(net::Target::split(exchange->request().target).query);
  auto number = [&](const char* name) {
    return parseInt<size_t>(query ? query->find(name).value_or("") : "").value_or(0);
  };
  if (!query || !query->has("watch"))
    return exchange->reply(
        net::HttpResponse::json(200, pods.page(number("continue"), number("limit"))));
  auto feed = std::make_shared<Feed>();
  feed->pods = &pods;
  feed->stream = exchange->stream(net::HttpResponse::json(200, ""));
  feeds.push_back(feed);
  if (number("resourceVersion") == 0) return;
  feed->stream->onDrained([weak = std::weak_ptr(feed)] {
    if (auto self = weak.lock()) self->next();
  });
  feed->next();
}

[[noreturn]] void serve(int64_t count, int64_t events, int tell, int lifeline) {
  Pods pods(count, events);
  net::Loop loop(1);
  std::mutex mutex;
  std::vector<std::shared_ptr<Feed>> feeds;
  auto server = net::HttpServer::listen(loop, {}, [&](std::shared_ptr<net::Exchange> exchange) {
    std::lock_guard lock(mutex);
    answer(pods, exchange, feeds);
  });
  std::string url = server ? (*server)->url() : "";
  if (::write(tell, url.data(), url.size()) < 0) ::_exit(1);
  ::close(tell);
  char byte = 0;
  while (::read(lifeline, &byte, 1) > 0) {
  }
  ::_exit(0);
}

}  // namespace

Result<std::unique_ptr<BenchServer>> BenchServer::start(int64_t pods, int64_t events) {
  int told[2], life[2];
  if (::pipe2(told, O_CLOEXEC) != 0 || ::pipe2(life, O_CLOEXEC) != 0)
    return failErrno(errno, "pipe");
  pid_t child = ::fork();
  if (child < 0) return failErrno(errno, "fork");
  if (child == 0) {
    ::close(told[0]);
    ::close(life[1]);
    serve(pods, events, told[1], life[0]);
  }
  ::close(told[1]);
  ::close(life[0]);
  UniqueFd answer(told[0]);
  UniqueFd lifeline(life[1]);
  std::string url(256, '\0');
  ssize_t size = ::read(answer.get(), url.data(), url.size());
  url.resize(size > 0 ? static_cast<size_t>(size) : 0);
  std::unique_ptr<BenchServer> server(new BenchServer(child, std::move(lifeline), std::move(url)));
  if (server->url().empty())
    return fail(Code::kUnavailable, "the benchmark's server did not start");
  return server;
}

BenchServer::BenchServer(pid_t child, UniqueFd lifeline, std::string url)
    : child_(child), lifeline_(std::move(lifeline)), url_(std::move(url)) {}

BenchServer::~BenchServer() {
  lifeline_.reset();
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace mangrove::client
