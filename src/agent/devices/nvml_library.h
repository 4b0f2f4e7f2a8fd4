#pragma once
// The few calls of NVIDIA's management library that the agent makes, bound at run time.
//
//   auto nvml = NvmlLibrary::load("libnvidia-ml.so.1");  // nullptr: absent, or it will not start
//   for (NvmlHandle gpu : nvml->handles()) nvml->describe(gpu);
//
// Owner thread. Calls that the library lacks say "not supported".

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/devices/nvml.h"

namespace mangrove::agent {

using NvmlHandle = void*;

class NvmlLibrary {
 public:
  static std::unique_ptr<NvmlLibrary> load(const std::string& path);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  std::vector<NvmlHandle> handles() const;
  // Everything but its place in the machine and its health; false in `answers` when it is gone.
  Gpu describe(NvmlHandle handle, bool& answers) const;

  // Listens to critical errors of a card from now on; false: the card cannot tell.
  bool listen(NvmlHandle handle, const std::string& uuid);
  // Errors since the last call: uuid ("": of an unknown card) and number.
  void errors(const std::function<void(const std::string&, uint64_t)>& each) const;

 private:
  explicit NvmlLibrary(void* library) : library_(library) {}
  template <class... Args>
  int call(const char* name, Args... args) const;
  std::string text(const char* name, NvmlHandle handle) const;
  std::optional<std::vector<GpuProcess>> processes(NvmlHandle handle) const;
  void addUtilization(NvmlHandle handle, std::vector<GpuProcess>& processes) const;

  void* library_;
  void* events_ = nullptr;
};

}  // namespace mangrove::agent
