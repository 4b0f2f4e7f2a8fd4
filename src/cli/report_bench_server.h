#pragma once
// The server of `mangrove bench reports`: NodeMetrics of many nodes on it, watchers beside, and what it
// spends on one report. Removes what it made. Blocks; one thread.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/os/temp_folder.h"
#include "cli/report_bench.h"
#include "client/bench/api/connections.h"
#include "client/bench/api/own_server.h"
#include "client/bench/api/process_probe.h"
#include "kernel/sys_root.h"

namespace mangrove::cli {

class ReportServer {
 public:
  // Connects, makes the objects and gives each the status; then somebody watches.
  static Result<std::unique_ptr<ReportServer>> open(const ReportBenchOptions& options,
                                                    const std::string& status);
  ~ReportServer();

  const std::string& address() const { return address_; }
  // Milliseconds of the server's processor for one of these reports. The reference's are whole objects
  // that are put, ours are merge patches.
  Result<double> costOf(agent::Rhythm rhythm, const std::vector<std::string>& bodies);

 private:
  explicit ReportServer(const ReportBenchOptions& options) : options_(options) {}
  Result<> connect();
  Result<> fill(const std::string& status);
  Result<> follow();
  Result<std::vector<std::string>> versions() const;
  client::LoadResult send(int64_t operations, std::function<client::Request(int64_t)> make) const;

  const ReportBenchOptions& options_;
  kernel::SysRoot root_;
  std::string address_;
  std::unique_ptr<TempFolder> folder_;
  std::unique_ptr<client::OwnServer> own_;
  std::unique_ptr<client::ProcessProbe> probe_;
  std::unique_ptr<client::Connections> connections_;
  std::vector<std::unique_ptr<client::Watch>> watches_;
  int64_t made_ = 0, next_ = 0;
};

}  // namespace mangrove::cli
