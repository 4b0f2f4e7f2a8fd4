#pragma once
// The flags that every role has. Used once, at the start.

#include <cstdint>
#include <string>

#include "frame/flags.h"
#include "frame/record/recorder.h"
#include "frame/role.h"

namespace mangrove::frame {

struct CommonFlags {
  std::string ops;
  int64_t verbosity = 0;
  std::string levels;
  std::string format = "text";
  std::string gates;
  record::RecordOptions record;
};

void declareCommon(Flags& flags, CommonFlags& common, const RoleInfo& info);
// --record and --record-limit.
void declareRecord(Flags& flags, record::RecordOptions& record);
// For roles that cannot be recorded, and of which one could expect it: says why not. `why` is a
// literal.
void refuseRecord(Flags& flags, std::string_view why);

}  // namespace mangrove::frame
