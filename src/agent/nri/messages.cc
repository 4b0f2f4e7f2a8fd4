#include "agent/nri/messages.h"

#include "base/text/proto_wire.h"

namespace mangrove::agent {
namespace {

template <class F>
Result<> each(std::string_view what, std::string_view bytes, F&& visit) {
  ProtoReader in(bytes);
  while (const auto field = in.next()) visit(*field);
  if (in.broken()) return invalid("NRI: {}: the bytes are no message", what);
  return {};
}

std::pair<std::string, std::string> readEntry(std::string_view bytes) {
  std::pair<std::string, std::string> out;
  ProtoReader in(bytes);
  while (const auto field = in.next()) (field->number == 1 ? out.first : out.second) = field->bytes;
  return out;
}

Result<NriPod> readPod(std::string_view bytes) {
  NriPod out;
  auto ok = each("pod", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.id = field.bytes;
    if (field.number == 2) out.name = field.bytes;
    if (field.number == 3) out.uid = field.bytes;
    if (field.number == 4) out.ns = field.bytes;
    if (field.number == 5) {
      const auto [key, value] = readEntry(field.bytes);
      out.labels.set(key, value);
    }
    if (field.number == 6) {
      const auto [key, value] = readEntry(field.bytes);
      out.annotations.set(key, value);
    }
    if (field.number == 8) {
      ProtoReader linux(field.bytes);
      while (const auto one = linux.next())
        if (one->number == 3) out.cgroupParent = one->bytes;
    }
  });
  if (!ok) return pass(ok.error());
  return out;
}

// The value in a path of nested messages; nullopt when a step is missing.
std::optional<std::string_view> inside(std::string_view bytes,
                                       std::initializer_list<uint32_t> path) {
  for (uint32_t number : path) {
    std::optional<std::string_view> found;
    ProtoReader in(bytes);
    while (const auto field = in.next())
      if (field->number == number) found = field->bytes;
    if (!found) return std::nullopt;
    bytes = *found;
  }
  return bytes;
}

std::optional<int64_t> quotaIn(std::string_view resources) {
  const auto quota = inside(resources, {2, 2});
  if (!quota) return std::nullopt;
  ProtoReader in(*quota);
  const auto value = in.next();
  return value ? value->value : 0;
}

Result<NriContainer> readContainer(std::string_view bytes) {
  NriContainer out;
  auto ok = each("container", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.id = field.bytes;
    if (field.number == 2) out.podId = field.bytes;
    if (field.number == 3) out.name = field.bytes;
    if (field.number == 11)
      if (const auto resources = inside(field.bytes, {3})) out.quota = quotaIn(*resources);
  });
  if (!ok) return pass(ok.error());
  return out;
}

std::string optionalNumber(int64_t value) {
  ProtoWriter out;
  out.number(1, value);
  return out.bytes();
}

std::string writeResources(const NriResources& resources) {
  ProtoWriter memory, cpu, rdt, out;
  if (resources.memory) memory.message(1, optionalNumber(*resources.memory));
  if (resources.shares) cpu.message(1, optionalNumber(*resources.shares));
  if (resources.quota) cpu.message(2, optionalNumber(*resources.quota));
  cpu.text(6, resources.cpus);
  rdt.text(1, resources.rdtClass);
  out.text(1, memory.bytes()).text(2, cpu.bytes()).text(5, rdt.bytes());
  return out.bytes();
}

std::string writeDevice(const NriDevice& device) {
  constexpr int64_t kMode = 0666;
  ProtoWriter out;
  out.text(1, device.path).text(2, "c").number(3, device.major).number(4, device.minor);
  return out.message(5, optionalNumber(kMode)).bytes();
}

std::string writeMount(const NriMount& mount) {
  ProtoWriter out;
  out.text(1, mount.destination).text(2, "bind").text(3, mount.source).text(4, "rbind");
  if (mount.readOnly) out.text(4, "ro");
  return out.bytes();
}

std::string writeUpdate(std::string_view container, const NriResources& resources) {
  ProtoWriter linux, out;
  linux.message(1, writeResources(resources));
  out.text(1, container).message(2, linux.bytes());
  return out.bytes();
}

template <class T>
void put(Result<T> from, T& to, Result<>& ok) {
  if (from)
    to = *std::move(from);
  else
    ok = pass(from.error());
}

}  // namespace

bool NriResources::empty() const {
  return *this == NriResources();
}

int32_t eventMask(std::initializer_list<int> events) {
  int32_t out = 0;
  for (int event : events) out |= 1 << (event - 1);
  return out;
}

Result<NriRequest> readCreate(std::string_view bytes) {
  NriRequest out;
  Result<> inner;
  auto ok = each("container request", bytes, [&](const ProtoField& field) {
    if (field.number == 1) put(readPod(field.bytes), out.pod, inner);
    if (field.number == 2) put(readContainer(field.bytes), out.container, inner);
    // Of an update: what is asked for now.
    if (field.number == 3)
      if (const auto quota = quotaIn(field.bytes)) out.container.quota = quota;
  });
  if (!ok) return pass(ok.error());
  if (!inner) return pass(inner.error());
  return out;
}

Result<NriRequest> readStateChange(std::string_view bytes) {
  NriRequest out;
  Result<> inner;
  auto ok = each("state change", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.event = static_cast<int>(field.value);
    if (field.number == 2) put(readPod(field.bytes), out.pod, inner);
    if (field.number == 3) put(readContainer(field.bytes), out.container, inner);
  });
  if (!ok) return pass(ok.error());
  if (!inner) return pass(inner.error());
  return out;
}

Result<NriRequest> readSynchronize(std::string_view bytes) {
  NriRequest out;
  Result<> inner;
  auto ok = each("synchronize", bytes, [&](const ProtoField& field) {
    if (field.number == 1) put(readPod(field.bytes), out.pods.emplace_back(), inner);
    if (field.number == 2) put(readContainer(field.bytes), out.containers.emplace_back(), inner);
    if (field.number == 3) out.more = field.value != 0;
  });
  if (!ok) return pass(ok.error());
  if (!inner) return pass(inner.error());
  return out;
}

Result<NriRequest> readConfigure(std::string_view bytes) {
  NriRequest out;
  auto ok = each("configure", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.config = field.bytes;
    if (field.number == 2) out.runtime = field.bytes;
    if (field.number == 3) out.version = field.bytes;
  });
  if (!ok) return pass(ok.error());
  return out;
}

std::string writeRegister(std::string_view name, std::string_view index) {
  ProtoWriter out;
  return out.text(1, name).text(2, index).bytes();
}

std::string writeConfigured(int32_t events) {
  ProtoWriter out;
  return out.number(2, events).bytes();
}

std::string writeSynchronized(const std::vector<std::pair<std::string, NriResources>>& updates,
                              bool more) {
  ProtoWriter out;
  for (const auto& [id, resources] : updates) out.message(1, writeUpdate(id, resources));
  return out.number(2, more ? 1 : 0).bytes();
}

std::string writeCreated(const NriAdjustment& adjustment) {
  ProtoWriter adjust, linux, out;
  for (const NriMount& mount : adjustment.mounts) adjust.message(3, writeMount(mount));
  for (const auto& [key, value] : adjustment.env) {
    ProtoWriter entry;
    adjust.message(4, entry.text(1, key).text(2, value).bytes());
  }
  for (const NriDevice& device : adjustment.devices) linux.message(1, writeDevice(device));
  if (!adjustment.resources.empty()) linux.message(2, writeResources(adjustment.resources));
  adjust.text(6, linux.bytes());
  return out.text(1, adjust.bytes()).bytes();
}

std::string writeUpdated(std::string_view container, const NriResources& resources) {
  ProtoWriter out;
  if (resources.empty()) return "";
  return out.message(1, writeUpdate(container, resources)).bytes();
}

}  // namespace mangrove::agent
