#pragma once
// A controller at work, with the loop that brings it its keys.
//
//   if (isWanted(info, options)) seats.push_back(std::make_unique<Seat>(info, desk, options, setup));
//
// Owner thread; does not move.

#include <memory>
#include <string>

#include "manager/controller.h"
#include "manager/switches.h"

namespace mangrove::manager {

inline bool isWanted(const ControllerInfo& info, const ManagerOptions& options) {
  return isSwitchedOn(options.controllers, info.name) &&
         (!info.gate || options.gates.on(info.gate->name));
}

struct Seat {
  Seat(const ControllerInfo& is, Desk& desk, const ManagerOptions& options, const CacheSetup& setup)
      : info(is),
        loop(desk.clock, desk.owner, desk.window, std::string(is.name),
             [this](const std::string& key, ControlLoop::Done done) {
               controller->reconcile(key, std::move(done));
             }),
        controller(is.make({desk, loop, options, setup})) {}
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  void addEverything() {
    controller->each([this](std::string_view key) { loop.add(key); });
  }

  const ControllerInfo info;
  ControlLoop loop;
  std::unique_ptr<Controller> controller;
};

}  // namespace mangrove::manager
