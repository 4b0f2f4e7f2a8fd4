#include "agent/collect/pressure_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

using std::chrono::milliseconds;

const Logger log("agent");

struct Wanted {
  Pressing what;
  const char* file;
  kernel::PsiThreshold threshold;
};

// Some task waits for a CPU in half of the time; every task waits for memory in a tenth of it.
constexpr Wanted kWanted[] = {
    {Pressing::kCpu, "cpu", {milliseconds(500), milliseconds(1000), false}},
    {Pressing::kMemory, "memory", {milliseconds(100), milliseconds(1000), true}},
};

}  // namespace

std::unique_ptr<PressureWatch> PressureWatch::start(const Machine& machine, Mailbox& owner,
                                                    Fired fired) {
  std::vector<Watched> triggers;
  const auto dir = machine.root().dir(machine.mounts().procFile("pressure"));
  for (const Wanted& wanted : kWanted) {
    if (!dir) break;
    auto trigger = kernel::PsiTrigger::open(*dir, wanted.file, wanted.threshold);
    if (trigger)
      triggers.push_back({wanted.what, *std::move(trigger)});
    else
      log.debug("no trigger for {} pressure: {}", wanted.file, trigger.error().text());
  }
  return std::unique_ptr<PressureWatch>(
      new PressureWatch(std::move(triggers), owner, std::move(fired)));
}

PressureWatch::PressureWatch(std::vector<Watched> triggers, Mailbox& owner, Fired fired)
    : triggers_(std::move(triggers)),
      owner_(owner),
      fired_(std::make_shared<Fired>(std::move(fired))),
      end_(::eventfd(0, EFD_CLOEXEC)) {
  if (!triggers_.empty()) thread_ = std::thread([this] { wait(); });
}

PressureWatch::~PressureWatch() {
  *fired_ = nullptr;
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  if (::write(end_.get(), &one, sizeof one) == sizeof one) thread_.join();
}

void PressureWatch::wait() {
  std::vector<pollfd> fds;
  for (const Watched& one : triggers_) fds.push_back({one.trigger.fd(), POLLPRI, 0});
  fds.push_back({end_.get(), POLLIN, 0});
  for (;;) {
    const int ready = ::poll(fds.data(), fds.size(), -1);
    if (ready < 0 && errno != EINTR) return;
    if (ready <= 0) continue;
    if (fds.back().revents != 0) return;
    for (size_t i = 0; i < triggers_.size(); ++i) {
      // The kernel takes a trigger away with its file: nothing to wait for any more.
      if ((fds[i].revents & (POLLERR | POLLNVAL)) != 0) fds[i].fd = -1;
      if ((fds[i].revents & POLLPRI) == 0) continue;
      owner_.post([fired = fired_, what = triggers_[i].what] {
        if (*fired) (*fired)(what);
      });
    }
  }
}

}  // namespace mangrove::agent
