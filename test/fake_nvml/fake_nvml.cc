// A stand-in for NVIDIA's management library: the calls that the agent makes, answered from a
// table.
#include "agent/testing/fake_nvml.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kNotFound = 6, kTooSmall = 7, kTimeout = 10,
              kUnknown = 999;

// FAKE_NVML_CARDS=4: so many cards from the start, for programs that nobody can ask for the state.
fake_nvml::State firstState() {
  fake_nvml::State out;
  const char* count = std::getenv("FAKE_NVML_CARDS");
  for (unsigned i = 0; count != nullptr && i < std::strtoul(count, nullptr, 10); i++)
    out.cards.push_back({"GPU-fake-" + std::to_string(i),
                         "NVIDIA A100-SXM4-80GB",
                         i,
                         "00000000:0" + std::to_string(i) + ":00.0",
                         uint64_t{80} << 30,
                         {}});
  return out;
}

fake_nvml::State& state() {
  static fake_nvml::State one = firstState();
  return one;
}
// Handles are places in the table, from 1 on.
fake_nvml::Card* cardOf(void* handle) {
  const auto place = reinterpret_cast<uintptr_t>(handle);
  return place >= 1 && place <= state().cards.size() ? &state().cards[place - 1] : nullptr;
}
int copy(const std::string& text, char* out, unsigned size) {
  if (text.size() >= size) return kTooSmall;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

struct Memory {
  unsigned long long total, free, used;
};
struct Pci {
  char legacyBusId[16];
  unsigned domain, bus, device, deviceId, subsystemId;
  char busId[32];
};
struct Utilization {
  unsigned gpu, memory;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long usedMemory;
  unsigned gpuInstance, computeInstance;
};
struct ProcessSample {
  unsigned pid;
  unsigned long long timeStamp;
  unsigned sm, memory, encoder, decoder;
};
struct Event {
  void* device;
  unsigned long long type, data;
  unsigned gpuInstance, computeInstance;
};

}  // namespace

extern "C" {

fake_nvml::State* fakeNvmlState() {
  return &state();
}
int nvmlInit_v2() {
  return kSuccess;
}
int nvmlEventSetCreate(void** set) {
  *set = &state();
  return kSuccess;
}
int nvmlEventSetFree(void*) {
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(state().cards.size());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = reinterpret_cast<void*>(static_cast<uintptr_t>(index) + 1);
  return index < state().cards.size() ? kSuccess : kNotFound;
}
int nvmlDeviceGetUUID(void* handle, char* out, unsigned size) {
  return copy(cardOf(handle)->uuid, out, size);
}
int nvmlDeviceGetName(void* handle, char* out, unsigned size) {
  return copy(cardOf(handle)->name, out, size);
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return copy("535.161.08", out, size);
}
int nvmlDeviceGetMinorNumber(void* handle, unsigned* minor) {
  *minor = cardOf(handle)->minor;
  return kSuccess;
}
int nvmlDeviceGetPciInfo_v3(void* handle, Pci* pci) {
  return copy(cardOf(handle)->busId, pci->busId, sizeof pci->busId);
}
int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  const fake_nvml::Card& card = *cardOf(handle);
  if (!card.answers) return kUnknown;
  *memory = {card.memory, card.memory / 2, card.memory / 2};
  return kSuccess;
}
int nvmlDeviceGetUtilizationRates(void*, Utilization* used) {
  *used = {99, 50};
  return kSuccess;
}
int nvmlDeviceGetTemperature(void* handle, int, unsigned* celsius) {
  const int now = cardOf(handle)->celsius;
  if (now < 0) return kNotSupported;
  *celsius = static_cast<unsigned>(now);
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, ProcessInfo* out) {
  const auto& processes = cardOf(handle)->processes;
  const unsigned room = *count;
  *count = static_cast<unsigned>(processes.size());
  if (room < processes.size()) return kTooSmall;
  for (size_t i = 0; i < processes.size(); ++i)
    out[i] = {processes[i].pid, processes[i].memory, ~0u, ~0u};
  return kSuccess;
}
// An older sample of each process comes last, as it may.
int nvmlDeviceGetProcessUtilization(void* handle, ProcessSample* out, unsigned* count,
                                    unsigned long long) {
  std::vector<ProcessSample> samples;
  for (unsigned age : {0u, 1u})
    for (const fake_nvml::Process& one : cardOf(handle)->processes)
      if (one.core >= 0)
        samples.push_back(
            {one.pid, 2000 - age, age == 0 ? static_cast<unsigned>(one.core) : 1u, 0, 0, 0});
  const unsigned room = *count;
  *count = static_cast<unsigned>(samples.size());
  if (samples.empty()) return kNotFound;
  if (out == nullptr || room < samples.size()) return kTooSmall;
  std::copy(samples.begin(), samples.end(), out);
  return kSuccess;
}
int nvmlDeviceRegisterEvents(void* handle, unsigned long long, void*) {
  if (!cardOf(handle)->tellsErrors) return kNotSupported;
  ++state().registered;
  return kSuccess;
}
int nvmlEventSetWait_v2(void*, Event* event, unsigned) {
  if (state().errors.empty()) return kTimeout;
  const fake_nvml::Error error = state().errors.front();
  state().errors.pop_front();
  *event = {reinterpret_cast<void*>(static_cast<intptr_t>(error.card + 1)), 8, error.xid, 0, 0};
  return kSuccess;
}

}  // extern "C"
