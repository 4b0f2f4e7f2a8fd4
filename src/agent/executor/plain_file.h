#pragma once
// Files that are no kernel's: other programs of the machine read them. A file that is not there is
// the empty text, so a strategy that wants "" wants it gone; its folder is made when it is needed.
// Readers see the old text or the new one, never half.
//
//   writePlainFile(root, "var/lib/terway/qos/pod.json", text);
//   readPlainFile(root, "var/lib/terway/qos/pod.json")          // "": there is none
//
// Called by the executor; owner thread.

#include <string>
#include <string_view>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

// The resource of wishes for them; a wish's cgroup is the path below the machine's root.
inline constexpr std::string_view kPlainFile = "plain_file";

Result<std::string> readPlainFile(const kernel::SysRoot& root, const std::string& path);
Result<> writePlainFile(const kernel::SysRoot& root, const std::string& path,
                        std::string_view text);
// For people: a long text is told by its beginning and its size.
std::string shortened(std::string_view text);

}  // namespace mangrove::agent
