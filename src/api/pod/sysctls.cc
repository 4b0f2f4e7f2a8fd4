#include "api/pod/sysctls.h"

#include <algorithm>
#include <iterator>

namespace mangrove::api {
namespace {

constexpr SafeSysctl kSafe[] = {{"kernel.shm_rmid_forced", 0},
                                {"net.ipv4.ip_local_port_range", 0},
                                {"net.ipv4.tcp_syncookies", 0},
                                {"net.ipv4.ping_group_range", 0},
                                {"net.ipv4.ip_unprivileged_port_start", 0},
                                {"net.ipv4.ip_local_reserved_ports", 27},
                                {"net.ipv4.tcp_keepalive_time", 29},
                                {"net.ipv4.tcp_fin_timeout", 29},
                                {"net.ipv4.tcp_keepalive_intvl", 29},
                                {"net.ipv4.tcp_keepalive_probes", 29},
                                {"net.ipv4.tcp_rmem", 32},
                                {"net.ipv4.tcp_wmem", 32}};

}  // namespace

const SafeSysctl* safeSysctl(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSafe), std::end(kSafe),
                                   [&](const SafeSysctl& one) { return one.name == name; });
  return found == std::end(kSafe) ? nullptr : found;
}

std::string sysctlPath(std::string_view name) {
  std::string path(name);
  const size_t first = path.find_first_of("./");
  if (first == std::string::npos || path[first] == '/') return path;
  for (char& c : path) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return path;
}

}  // namespace mangrove::api
