#pragma once
// Command-line flags of one command, bound to variables that hold their defaults.
//
//   std::string kubeconfig;
//   Duration period = std::chrono::seconds(60);
//   Flags flags("mangrove agent", "measures this node and keeps services undisturbed");
//   flags.add("kubeconfig", kubeconfig, "file with the API server's address and credentials");
//   flags.add("report-interval", period, "how often the NodeMetric is written");
//   auto go = flags.parse(args);         // false: help was printed and there is nothing to run
//
// What users of the reference's binaries type works unchanged: -name=value and --name=value are the
// same flag, booleans take an optional =true/=false, and flags that mean nothing to us can be
// declared ignored. `--config FILE` reads the same names from a YAML mapping; the command line
// wins. Mistakes name the flag, the value and the nearest right name. Not thread-safe; used once at
// start.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::frame {

class Flags {
 public:
  Flags(std::string program, std::string about);
  ~Flags();

  void add(std::string_view name, std::string& target, std::string_view help);
  void add(std::string_view name, bool& target, std::string_view help);
  void add(std::string_view name, int64_t& target, std::string_view help);
  void add(std::string_view name, double& target, std::string_view help);
  void add(std::string_view name, Duration& target, std::string_view help);
  // May be given several times; each value may itself be a comma-separated list.
  void add(std::string_view name, std::vector<std::string>& target, std::string_view help);
  // A flag with its own reading of the text.
  using Setter = std::function<Result<>(std::string_view)>;
  void add(std::string_view name, Setter setter, std::string_view defaultText,
           std::string_view help);

  // The words after the flags, e.g. file names. Without this call they are mistakes.
  void positionals(std::string_view name, std::vector<std::string>& target, std::string_view help);
  // Accepted for the sake of existing manifests, and without effect (klog's output options and the
  // like).
  void ignore(std::span<const std::string_view> names);
  // One that is known to others and not offered by --help; `takesValue`: "--name value" is one flag.
  void hidden(std::string_view name, bool takesValue, Setter setter);
  // Offers --config FILE. Roles whose --config means something else leave it out.
  void withConfigFile();

  // Fills the targets. False when --help was asked for and has been printed to stdout.
  Result<bool> parse(const std::vector<std::string>& args);
  std::string help() const;
  const std::string& program() const;  // "mangrove agent"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mangrove::frame
