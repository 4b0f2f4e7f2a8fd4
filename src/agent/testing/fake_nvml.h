#pragma once
// What the stand-in for NVIDIA's management library answers. A test loads the same library, asks
// for fakeNvmlState() and changes it between the agent's ticks.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace fake_nvml {

struct Process {
  unsigned pid = 0;
  uint64_t memory = 0;
  int core = -1;  // percent; -1: no sample of it
};

struct Card {
  std::string uuid, name;
  unsigned minor = 0;
  std::string busId;
  uint64_t memory = 0;
  std::vector<Process> processes;
  bool answers = true;      // about its memory
  bool tellsErrors = true;  // events can be registered
  int celsius = 54;         // -1: it has no sensor
};

struct Error {
  int card = -1;  // -1: the driver cannot say which
  uint64_t xid = 0;
};

struct State {
  std::vector<Card> cards;
  std::deque<Error> errors;
  int registered = 0;
};

using StateFunction = State* (*)();

}  // namespace fake_nvml
