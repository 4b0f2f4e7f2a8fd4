#pragma once
// Puts our network where a container runtime looks for one, when it has none.
//
//   auto folders = cniFoldersIn(status.info);
//   bool ours = *installCni(*folders, options, "/usr/bin/mangrove");
//
// Blocking; start-up only.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/cni/plugin.h"
#include "runtime/cri/messages.h"

namespace mangrove::runtime {

struct CniFolders {
  std::string programs, configurations;
  bool operator==(const CniFolders&) const = default;
};
// From what the runtime says of itself; the usual places when it says nothing. Pure.
CniFolders cniFoldersIn(const cri::Texts& info);

// True: the runtime's network is ours now; false: it has another one, which is left alone.
Result<bool> installCni(const CniFolders& folders, const CniOptions& options,
                        const std::string& program);
void removeCni(const CniFolders& folders);

}  // namespace mangrove::runtime
