#include "frame/role_flags.h"

#include <array>

#include "base/number/quantity.h"

namespace mangrove::frame {
namespace {

// klog's options that manifests written for the reference pass; our log always goes to stderr.
constexpr std::array<std::string_view, 11> kKlogFlags = {
    "logtostderr", "alsologtostderr",   "stderrthreshold", "log_dir",
    "log_file",    "log_file_max_size", "skip_headers",    "skip_log_headers",
    "one_output",  "log_backtrace_at",  "add_dir_header"};

constexpr int64_t kLeastRecord = 1 << 20;

}  // namespace

void declareCommon(Flags& flags, CommonFlags& common, const RoleInfo& info) {
  common.ops = info.opsDefault;
  flags.add(info.opsFlag, common.ops,
            "where /healthz, /readyz and /metrics are served; 0 for nowhere");
  flags.add("v", common.verbosity, "log verbosity: 0 info, 2 debug, 4 trace");
  flags.add("vmodule", common.levels,
            "log levels of single components, e.g. client=debug,net=warn");
  flags.add("logging-format", common.format, "text or json");
  flags.add("feature-gates", common.gates, "switches of unsettled parts: A=true,B=false");
  flags.ignore(kKlogFlags);
  if (info.records) declareRecord(flags, common.record);
  if (!info.ownConfigFlag) flags.withConfigFile();
}

void declareRecord(Flags& flags, record::RecordOptions& record) {
  flags.add("record", record.path,
            "write down what comes in and what is decided, in files of this name with numbers "
            "behind it; mangrove sim replay lives through it again");
  flags.add(
      "record-limit",
      [&record](std::string_view text) -> Result<> {
        const auto size = Quantity::parse(text);
        if (!size || size->value() < kLeastRecord)
          return invalid("'{}': want a size of at least 1Mi, such as 1Gi", text);
        record.limit = static_cast<uint64_t>(size->value());
        return {};
      },
      "1Gi", "of --record: bytes of all files together; the oldest go");
}

void refuseRecord(Flags& flags, std::string_view why) {
  flags.hidden("record", true, [why](std::string_view) -> Result<> { return invalid("{}", why); });
}

}  // namespace mangrove::frame
