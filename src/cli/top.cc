// mangrove top: nodes, pods, classes, budget and pressure, live in the terminal.
#include <atomic>
#include <csignal>

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/os/files.h"
#include "base/text/strings.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/top_devices.h"
#include "cli/usage.h"
#include "dashboard/top_source.h"
#include "frame/flags.h"

namespace mangrove::cli {
namespace {

struct Options {
  std::string server = "http://127.0.0.1:9317";
  std::string tokenFile;
  ClusterAccess access;
  Output output;
  bool once = false;
  std::string by = "node";
  bool byQuota() const { return by == "quota"; }
  Duration every = std::chrono::seconds(1);
};

volatile std::sig_atomic_t resized = 0;
volatile std::sig_atomic_t ended = 0;

// The whole screen is ours while this lives, and as it was afterwards.
class Screen {
 public:
  Screen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fmt::print("\x1b[?1049h\x1b[?25l");
    std::signal(SIGWINCH, [](int) { resized = 1; });
    std::signal(SIGINT, [](int) { ended = 1; });
    std::signal(SIGTERM, [](int) { ended = 1; });
  }
  ~Screen() {
    fmt::print("\x1b[?25h\x1b[?1049l");
    std::fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void show(const std::vector<std::string>& lines) {
    std::string text = "\x1b[H";
    for (size_t i = 0; i < lines.size(); i++)
      text += lines[i] + "\x1b[K" + (i + 1 < lines.size() ? "\r\n" : "");
    fmt::print("{}\x1b[J", text);
    std::fflush(stdout);
  }

 private:
  termios before_{};
};

void measure(dashboard::TopView& view) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return;
  view.width = size.ws_col;
  view.height = size.ws_row;
}

// A key within `limit`; 0 when none came, 'q' when the terminal is gone.
char awaitKey(Duration limit) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  if (::poll(&input, 1, static_cast<int>(ms)) <= 0) return 0;
  char key = 0;
  return ::read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
}

// A picture that cannot be had leaves the last one on the screen, with the reason.
void refresh(dashboard::TopSource& source, dashboard::TopPicture& picture, bool byQuota) {
  auto fresh = source.fetch(byQuota);
  if (fresh)
    picture = std::move(*fresh);
  else
    picture.trouble = fresh.error().text();
}

int live(dashboard::TopSource& source, dashboard::TopPicture picture, const Options& options) {
  dashboard::TopView view{.colour = std::getenv("NO_COLOR") == nullptr};
  view.byQuota = options.byQuota();
  Screen screen;
  MonoTime next = realClock().mono() + options.every;
  while (!ended) {
    measure(view);
    resized = 0;
    screen.show(dashboard::renderTop(picture, view));
    const char key = awaitKey(std::max(Duration::zero(), next - realClock().mono()));
    if (key == 'q') break;
    const bool wasByQuota = view.byQuota;
    const bool turned = key != 0 && dashboard::turnKey(key, picture, view);
    if (turned && view.byQuota == wasByQuota) continue;
    if (!turned && realClock().mono() < next) continue;
    refresh(source, picture, view.byQuota);
    next = realClock().mono() + options.every;
  }
  return 0;
}

std::string asJson(const dashboard::TopPicture& picture, bool byQuota) {
  json::Object out{{"nodes", picture.nodes},
                   {"pods", picture.pods},
                   {"tick", picture.tick},
                   {"decisions", picture.decisions}};
  if (byQuota) {
    out["quotas"] = picture.quotas;
    out["loans"] = picture.loans;
  }
  return json::writePretty(out);
}

Result<int> show(dashboard::TopSource& source, const Options& options) {
  auto picture = source.fetch(options.byQuota());
  if (!picture) return pass(picture.error());
  if (!options.output.isTable()) {
    options.output.show(asJson(*picture, options.byQuota()), "");
    return 0;
  }
  if (!options.once && ::isatty(STDOUT_FILENO) && ::isatty(STDIN_FILENO))
    return live(source, std::move(*picture), options);
  dashboard::TopView view;
  view.byQuota = options.byQuota();
  measure(view);
  fmt::print("{}", dashboard::printTop(*picture, view));
  return 0;
}

Result<int> showCards(const Options& options) {
  net::Loop loop(1);
  auto client = options.access.open(loop);
  if (!client) return pass(client.error());
  const auto cards = readCards(**client);
  if (!cards) return pass(cards.error());
  options.output.show(cardJson(*cards), cardTable(*cards));
  return 0;
}

Result<int> run(const Options& options) {
  if (options.by == "device") return showCards(options);
  net::Loop loop(1);
  if (!options.access.isSaid()) {
    std::string token;
    if (!options.tokenFile.empty()) {
      auto text = readFile(options.tokenFile);
      if (!text) return pass(text.error());
      token = trim(*text);
    }
    auto source = dashboard::boardSource(loop, realClock(), options.server, token);
    if (!source) return pass(source.error());
    auto done = show(**source, options);
    if (!done)
      return done.error().in(
          "no dashboard at {} (is 'mangrove up' running? --kubeconfig FILE asks a cluster instead)",
          options.server);
    return done;
  }
  auto client = options.access.open(loop);
  if (!client) return pass(client.error());
  return show(*dashboard::clusterSource(**client, realClock()), options);
}

Result<bool> readFlags(const std::vector<std::string>& args, Options& options) {
  frame::Flags flags("mangrove top", "nodes, pods, classes, budget and pressure, live");
  flags.add("server", options.server, "the dashboard of 'mangrove up' to ask");
  flags.add("token-file", options.tokenFile, "file with the dashboard's token");
  flags.add("kubeconfig", options.access.kubeconfig,
            "ask this cluster's API instead of a dashboard");
  flags.add("context", options.access.context, "which context of the kubeconfig");
  flags.add("by", options.by,
            "node: the live picture; quota: the trees of quotas and who borrows from whom; device: "
            "every card and who has it, once, from the cluster");
  flags.add("once", options.once, "print one picture and end");
  flags.add("every", options.every, "time between two pictures");
  options.output.declare(flags);
  auto go = flags.parse(args);
  if (!go || !*go) return go;
  if (options.by != "node" && options.by != "device" && !options.byQuota())
    return invalid("--by is '{}'; want node, quota or device", options.by);
  if (options.every < std::chrono::milliseconds(100))
    return invalid("--every: want at least 100ms");
  return true;
}

}  // namespace

int top(const std::vector<std::string>& args) {
  Options options;
  const auto go = readFlags(args, options);
  if (!go) return complain("mangrove top", go.error(), kWrongUsage);
  if (!*go) return 0;
  const auto done = run(options);
  return done ? *done : complain("mangrove top", done.error());
}

}  // namespace mangrove::cli
