// mangrove plan: what the descheduler would do now, and why; nothing is done.
#include <fmt/format.h>

#include "base/clock.h"
#include "base/os/files.h"
#include "base/os/log.h"
#include "cli/cluster_access.h"
#include "cli/plan_view.h"
#include "cli/scheduler_config.h"
#include "cli/usage.h"
#include "client/queue/worker.h"
#include "descheduler/config/recommended.h"
#include "descheduler/descheduler.h"
#include "descheduler/plan/at_once.h"
#include "net/loop.h"

namespace mangrove::cli {
namespace {

constexpr Duration kPatience = std::chrono::seconds(60);
constexpr Duration kStep = std::chrono::milliseconds(50);

struct PlanFlags {
  ClusterAccess access;
  Output output;
  std::string config, schedulerConfig;
  mangrove::descheduler::RoomQuestion room;
};

using Config = mangrove::descheduler::DeschedulerConfig;

Result<Config> configOf(const std::string& file) {
  if (file.empty()) return mangrove::descheduler::recommendedConfig();
  auto text = readFile(file);
  if (!text) return pass(text.error());
  return mangrove::descheduler::readConfig(*text, file);
}

Result<Told> look(mangrove::descheduler::Descheduler& descheduler, Mailbox& owner) {
  descheduler.start();
  const MonoTime giveUp = realClock().mono() + kPatience;
  while (!descheduler.waitingFor().empty()) {
    if (realClock().mono() > giveUp) return fail(Code::kTimeout, "{}", descheduler.waitingFor());
    owner.runOne(kStep);
  }
  const auto errors = descheduler.cycle();
  return tellPlan(descheduler.caches().look(realClock().wall()), descheduler.journal(), errors);
}

Result<Told> planned(const PlanFlags& flags) {
  auto config = configOf(flags.config);
  if (!config) return pass(config.error());
  if (flags.room.isEmpty())
    mangrove::descheduler::planAtOnce(*config);
  else if (auto ok = mangrove::descheduler::planRoomFor(*config, flags.room); !ok)
    return pass(ok.error());
  Mailbox owner;  // outlives the loop's thread, which posts answers into it
  net::Loop loop;
  const auto client = flags.access.open(loop);
  if (!client) return pass(client.error());
  auto scheduler = schedulerConfigOf(flags.schedulerConfig, **client);
  if (!scheduler) return pass(scheduler.error());
  client::Worker worker;
  Registry metrics;
  auto made = mangrove::descheduler::Descheduler::make({.client = client->get(),
                                                        .owner = &owner,
                                                        .home = &worker.mailbox(),
                                                        .clock = &realClock(),
                                                        .metrics = &metrics,
                                                        .scheduler = std::move(*scheduler)},
                                                       std::move(*config));
  if (!made) return pass(made.error());
  return look(**made, owner);
}

}  // namespace

int plan(const std::vector<std::string>& args) {
  PlanFlags settings;
  frame::Flags flags("mangrove plan",
                     "what the descheduler would move now, and why; nothing is done");
  settings.access.declare(flags);
  settings.output.declare(flags);
  flags.add("config", settings.config,
            "DeschedulerConfiguration; without one the configuration that we recommend");
  flags.add("scheduler-config", settings.schedulerConfig,
            "KubeSchedulerConfiguration of the live scheduler, by which moves are proven");
  mangrove::descheduler::RoomQuestion& room = settings.room;
  flags.add("for", room.whom,
            "namespace/name of waiting pods or gangs: whom to move so that they get a place");
  flags.add(
      "shape",
      [&room](std::string_view text) -> Result<> {  // its commas are its own
        room.shapes.emplace_back(text);
        return {};
      },
      "", "cpu=8,memory=32Gi: whom to move so that there is a place for a pod like that");
  flags.add("empty-nodes", room.emptyNodes, "whom to move so that so many nodes have no pods");
  flags.add("budget", room.budget, "with these: at most so many moves");
  if (const auto end = readArguments(flags, args)) return *end;
  LogConfig quiet;
  quiet.level = LogLevel::kWarn;  // what would be done is told below
  configureLog(quiet);
  const auto told = planned(settings);
  if (!told) return complain(flags, told.error());
  return say(*told, settings.output);
}

}  // namespace mangrove::cli
