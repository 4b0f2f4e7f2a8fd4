// A client::WorkQueue on a virtual clock:
//   add KEY [after=DURATION] | fail KEY | forget KEY | take | done KEY | wait DURATION | show
#include <fmt/core.h>

#include "base/clock.h"
#include "base/text/time_text.h"
#include "client/queue/work_queue.h"
#include "script_runner/drivers.h"

namespace mangrove::scripts {
namespace {

class QueueDriver final : public Driver {
 public:
  std::string run(const std::vector<std::string>& commands) override {
    std::string out;
    for (const auto& line : commands) out += one(parseCommand(line));
    return out;
  }

 private:
  std::string one(const Command& c) {
    const std::string key = c.words.empty() ? "" : c.words[0];
    if (c.verb == "add") return add(key, c.option("after"));
    if (c.verb == "fail") return quiet([&] { queue_.addRateLimited(key); });
    if (c.verb == "forget") return quiet([&] { queue_.forget(key); });
    if (c.verb == "done") return quiet([&] { queue_.done(key); });
    if (c.verb == "take") return take();
    if (c.verb == "wait") return wait(key);
    if (c.verb == "show") return show();
    return fmt::format("error: unknown command '{}'\n", c.verb);
  }

  template <class F>
  static std::string quiet(F action) {
    action();
    return "";
  }

  std::string add(const std::string& key, const std::string& after) {
    if (after.empty()) return quiet([&] { queue_.add(key); });
    auto delay = parseDuration(after);
    if (!delay) return "error: " + delay.error().text() + "\n";
    return quiet([&] { queue_.addAfter(key, *delay); });
  }

  std::string take() {
    auto key = queue_.tryGet();
    return key ? *key + "\n" : "nothing\n";
  }

  std::string wait(const std::string& text) {
    auto duration = parseDuration(text);
    if (!duration) return "error: " + duration.error().text() + "\n";
    return quiet([&] { clock_.advance(*duration); });
  }

  std::string show() {
    return fmt::format("ready {}, delayed {}, working {}\n", queue_.ready(), queue_.delayed(),
                       queue_.working());
  }

  VirtualClock clock_;
  client::WorkQueue queue_{clock_};
};

}  // namespace

std::unique_ptr<Driver> makeQueueDriver() {
  return std::make_unique<QueueDriver>();
}

}  // namespace mangrove::scripts
