#include "runtime/node/network/network.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <arpa/inet.h>
#include <fmt/core.h>

#include "base/os/files.h"
#include "base/text/strings.h"
#include "runtime/shim/pod_net.h"

namespace mangrove::runtime {

namespace fs = std::filesystem;

namespace {

std::string dotted(uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

uint32_t maskOf(uint32_t bits) {
  return bits == 0 ? 0 : ~uint32_t{0} << (32 - bits);
}

}  // namespace

// 0x0a: not a manufacturer's.
HardwareAddress hardwareAddressOf(uint32_t address) {
  const auto byte = [address](int shift) { return static_cast<uint8_t>(address >> shift); };
  return {0x0a, 0x6d, byte(24), byte(16), byte(8), byte(0)};
}

// Names of interfaces have at most 15 characters.
std::string podInterface(std::string_view uid) {
  uint64_t hash = 1469598103934665603ull;
  for (unsigned char c : uid) hash = (hash ^ c) * 1099511628211ull;
  return fmt::format("mgv{:011x}", hash & 0xfffffffffffull).substr(0, 15);
}

Network::Network(NetworkOptions options) : options_(std::move(options)) {}

Result<> Network::readSubnet() {
  const auto parts = cut(options_.subnet, '/');
  const auto bits = parseInt<uint32_t>(parts.after);
  in_addr address{};
  if (!bits || *bits < 8 || *bits > 29 ||
      ::inet_pton(AF_INET, std::string(parts.before).c_str(), &address) != 1)
    return invalid("pod subnet '{}': want an IPv4 network such as 10.88.0.0/16", options_.subnet);
  maskBits_ = *bits;
  base_ = ntohl(address.s_addr) & maskOf(*bits);
  return {};
}

Result<> Network::start() {
  if (auto ok = readSubnet(); !ok) return ok;
  std::error_code error;
  fs::create_directories(options_.stateDir, error);
  loadLeases();
  auto made = makeBridge(options_.bridge, hardwareAddressOf(base_ + 1));
  if (made) {
    PodAddress address{options_.bridge, dotted(base_ + 1), dotted(maskOf(maskBits_)), ""};
    made = configureInterface(address);
  }
  available_ = made.has_value();
  if (!made) trouble_ = made.error().text();
  return {};
}

void Network::loadLeases() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options_.stateDir, error)) {
    in_addr address{};
    auto uid = readFile(entry.path());
    const bool isLease =
        uid && ::inet_pton(AF_INET, entry.path().filename().c_str(), &address) == 1;
    // A file that was being written when the process was killed, or a second one of the same pod.
    if (!isLease || !leases_.emplace(*uid, ntohl(address.s_addr)).second)
      fs::remove(entry.path(), error);
    else
      newest_ = std::max(newest_, ntohl(address.s_addr));
  }
}

std::vector<std::string> Network::holders() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [uid, address] : leases_) out.push_back(uid);
  return out;
}

std::string Network::mask() const {
  return dotted(maskOf(maskBits_));
}

std::string Network::gateway() const {
  return dotted(base_ + 1);
}

PodLease Network::leaseFor(uint32_t address) const {
  return {dotted(address), dotted(maskOf(maskBits_)), gateway()};
}

Result<PodLease> Network::allocate(const std::string& uid) {
  std::lock_guard lock(mutex_);
  if (auto found = leases_.find(uid); found != leases_.end()) return leaseFor(found->second);
  const uint32_t address = freeAddress();
  if (address == 0) return fail(Code::kTooMany, "no address left in {}", options_.subnet);
  const std::string file = options_.stateDir + "/" + dotted(address);
  if (auto ok = writeFileAtomically(file, uid, {.sync = false}); !ok) return pass(ok.error());
  leases_[uid] = newest_ = address;
  return leaseFor(address);
}

// In turn, so that one that was just given back rests: somebody may still talk to who had it.
uint32_t Network::freeAddress() const {
  std::set<uint32_t> taken;
  for (const auto& [who, address] : leases_) taken.insert(address);
  const uint32_t first = base_ + 2;               // behind network and gateway
  const uint32_t count = ~maskOf(maskBits_) - 2;  // up to the broadcast address
  const uint32_t after = newest_ < first ? 0 : newest_ - first + 1;
  for (uint32_t i = 0; i < count; ++i)
    if (const uint32_t address = first + (after + i) % count; !taken.contains(address))
      return address;
  return 0;
}

Result<> Network::connect(const std::string& uid, int64_t pid) {
  uint32_t address = 0;
  {
    std::lock_guard lock(mutex_);
    const auto lease = leases_.find(uid);
    if (lease == leases_.end()) return fail(Code::kNotFound, "pod {} has no address", uid);
    address = lease->second;
  }
  return makeVeth(podInterface(uid), options_.bridge, {.pid = pid}, hardwareAddressOf(address));
}

void Network::release(const std::string& uid) {
  std::lock_guard lock(mutex_);
  auto found = leases_.find(uid);
  if (found == leases_.end()) return;
  std::error_code error;
  fs::remove(options_.stateDir + "/" + dotted(found->second), error);
  leases_.erase(found);
}

void Network::stop() {
  std::lock_guard lock(mutex_);
  if (available_ && leases_.empty()) (void)removeLink(options_.bridge);
}

}  // namespace mangrove::runtime
