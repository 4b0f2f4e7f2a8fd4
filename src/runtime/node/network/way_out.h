#pragma once
// The pods' way out of the machine: packets of the pods' subnet are forwarded and leave under the
// machine's address. Done with the machine's own nft or iptables; where neither is there or they
// are refused, pods reach each other and the machine only, and `open` says why.
//
//   WayOut out({.bridge = "mangrove0", .subnet = "10.88.0.0/16"});
//   if (auto ok = out.open(); !ok) …     // the sentence goes into Events and `mangrove check node`
//   out.close();                         // the rules go; forwarding stays as it was found
//
// Blocking; one thread.

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::runtime {

struct WayOutOptions {
  std::string bridge, subnet;
};

using Words = std::vector<std::string>;
// The commands that open and close the way, for the tool "nft" or "iptables". Pure.
std::vector<Words> openCommands(const std::string& tool, const WayOutOptions& options);
std::vector<Words> closeCommands(const std::string& tool, const WayOutOptions& options);

class WayOut {
 public:
  WayOut(const kernel::SysRoot& root, WayOutOptions options)
      : root_(root), options_(std::move(options)) {}
  Result<> open();
  void close();

 private:
  const kernel::SysRoot& root_;
  const WayOutOptions options_;
  std::string tool_, path_;
  bool forwardingWasOff_ = false;
};

// Runs a program to its end; what it printed is the error. kNotFound: there is no such program.
Result<> runProgram(const std::string& path, const Words& words);

}  // namespace mangrove::runtime
