#include "agent/qos/blkio/lines.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kDefaultWeight = 100;
constexpr int64_t kDefaultLatency = 3000;  // microseconds
constexpr int64_t kDefaultShare = 95;      // percent of requests that must be that fast

std::string costQos(const api::IoConfig& io, std::string_view device) {
  return fmt::format("{} enable=1 ctrl=user rpct={} rlat={} wpct={} wlat={}", device,
                     io.readLatencyPercent.value_or(Percent{kDefaultShare}).v,
                     io.readLatency.value_or(kDefaultLatency),
                     io.writeLatencyPercent.value_or(Percent{kDefaultShare}).v,
                     io.writeLatency.value_or(kDefaultLatency));
}

std::string costModel(const api::IoConfig& io, std::string_view device) {
  if (!io.enableUserModel.value_or(false)) return fmt::format("{} ctrl=auto", device);
  return fmt::format(
      "{} ctrl=user rbps={} rseqiops={} rrandiops={} wbps={} wseqiops={} wrandiops={}", device,
      io.modelReadBps.value_or(0), io.modelReadSeqIops.value_or(0),
      io.modelReadRandIops.value_or(0), io.modelWriteBps.value_or(0),
      io.modelWriteSeqIops.value_or(0), io.modelWriteRandIops.value_or(0));
}

std::string limit(std::optional<int64_t> value) {
  return value.value_or(0) > 0 ? std::to_string(*value) : "max";
}

}  // namespace

BlkioLines blkioLines(const api::IoConfig& io, std::string_view device) {
  const auto one = [&](int64_t value) { return fmt::format("{} {}", device, value); };
  BlkioLines out;
  out.group[kernel::resource_name::kReadIops] = one(io.readIops.value_or(0));
  out.group[kernel::resource_name::kReadBps] = one(io.readBps.value_or(0));
  out.group[kernel::resource_name::kWriteIops] = one(io.writeIops.value_or(0));
  out.group[kernel::resource_name::kWriteBps] = one(io.writeBps.value_or(0));
  out.group[kernel::resource_name::kBlkioCostWeight] =
      one(io.ioWeightPercent.value_or(Percent{kDefaultWeight}).v);
  out.root[kernel::resource_name::kBlkioCostQos] = costQos(io, device);
  out.root[kernel::resource_name::kBlkioCostModel] = costModel(io, device);
  return out;
}

BlkioLines blkioReset(std::string_view device) {
  BlkioLines out = blkioLines({}, device);
  out.root = {{kernel::resource_name::kBlkioCostQos, fmt::format("{} enable=0", device)}};
  return out;
}

std::string latencyLine(const api::IoConfig& io, std::string_view device) {
  return fmt::format("{} target={}", device,
                     std::min(io.readLatency.value_or(kDefaultLatency),
                              io.writeLatency.value_or(kDefaultLatency)));
}

IoLines ioLines(const api::IoConfig& io, std::string_view device) {
  IoLines out;
  out.group[kernel::resource_name::kIoMax] =
      fmt::format("{} rbps={} wbps={} riops={} wiops={}", device, limit(io.readBps),
                  limit(io.writeBps), limit(io.readIops), limit(io.writeIops));
  out.group[kernel::resource_name::kIoWeight] =
      fmt::format("{} {}", device, io.ioWeightPercent.value_or(Percent{kDefaultWeight}).v);
  out.root[kernel::resource_name::kIoCostQos] = costQos(io, device);
  out.root[kernel::resource_name::kIoCostModel] = costModel(io, device);
  return out;
}

}  // namespace mangrove::agent
