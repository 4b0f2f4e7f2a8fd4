#include "base/text/proto_wire.h"
#include "json/value.h"
#include "runtime/cri/messages.h"

namespace mangrove::runtime::cri {

namespace {

// Calls `visit` for every field; an error when the bytes are no message.
template <class F>
Result<> each(std::string_view what, std::string_view bytes, F&& visit) {
  ProtoReader in(bytes);
  while (const auto field = in.next()) visit(*field);
  if (in.broken()) return invalid("the container runtime's {} is no message", what);
  return {};
}

void addEntry(std::string_view bytes, Texts& out) {
  std::string key, value;
  (void)each("map", bytes,
             [&](const ProtoField& field) { (field.number == 1 ? key : value) = field.bytes; });
  out[key] = std::move(value);
}

std::string textIn(std::string_view bytes, uint32_t number) {
  std::string out;
  (void)each("text", bytes, [&](const ProtoField& field) {
    if (field.number == number) out = field.bytes;
  });
  return out;
}

int64_t numberIn(std::string_view bytes, uint32_t number) {
  int64_t out = 0;
  (void)each("number", bytes, [&](const ProtoField& field) {
    if (field.number == number) out = field.value;
  });
  return out;
}

void readSandboxMetadata(std::string_view bytes, Sandbox& out) {
  out.name = textIn(bytes, 1);
  out.uid = textIn(bytes, 2);
  out.ns = textIn(bytes, 3);
  out.attempt = static_cast<uint32_t>(numberIn(bytes, 4));
}

// A sandbox of a list and of a status differ in where the labels and the network are.
Result<Sandbox> readSandbox(std::string_view bytes, bool isStatus) {
  Sandbox out;
  out.ready = true;  // a state of 0 is not written
  auto ok = each("sandbox", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.id = field.bytes;
    if (field.number == 2) readSandboxMetadata(field.bytes, out);
    if (field.number == 3) out.ready = field.value == 0;
    if (field.number == 4) out.createdAt = field.value;
    if (field.number == 5 && isStatus) out.ip = textIn(field.bytes, 1);
    if (field.number == (isStatus ? 7u : 5u)) addEntry(field.bytes, out.labels);
  });
  if (!ok) return pass(ok.error());
  return out;
}

ContainerState stateOf(int64_t value) {
  return value >= 0 && value <= 3 ? static_cast<ContainerState>(value) : ContainerState::kUnknown;
}

Result<ContainerStatus> readListed(std::string_view bytes) {
  ContainerStatus out;
  out.state = ContainerState::kCreated;
  auto ok = each("container", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.id = field.bytes;
    if (field.number == 3) out.name = textIn(field.bytes, 1);
    if (field.number == 3) out.attempt = static_cast<uint32_t>(numberIn(field.bytes, 2));
    if (field.number == 4) out.image = textIn(field.bytes, 1);
    if (field.number == 5) out.imageRef = field.bytes;
    if (field.number == 6) out.state = stateOf(field.value);
    if (field.number == 7) out.createdAt = field.value;
    if (field.number == 8) addEntry(field.bytes, out.labels);
  });
  if (!ok) return pass(ok.error());
  return out;
}

Result<> readStatusInto(std::string_view bytes, ContainerStatus& out) {
  out.state = ContainerState::kCreated;
  return each("container status", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.id = field.bytes;
    if (field.number == 2) out.name = textIn(field.bytes, 1);
    if (field.number == 2) out.attempt = static_cast<uint32_t>(numberIn(field.bytes, 2));
    if (field.number == 3) out.state = stateOf(field.value);
    if (field.number == 4) out.createdAt = field.value;
    if (field.number == 5) out.startedAt = field.value;
    if (field.number == 6) out.finishedAt = field.value;
    if (field.number == 7) out.exitCode = static_cast<int>(field.value);
    if (field.number == 8) out.image = textIn(field.bytes, 1);
    if (field.number == 9) out.imageRef = field.bytes;
    if (field.number == 10) out.reason = field.bytes;
    if (field.number == 11) out.message = field.bytes;
    if (field.number == 12) addEntry(field.bytes, out.labels);
  });
}

Result<Image> readImage(std::string_view bytes) {
  Image out;
  auto ok = each("image", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.id = field.bytes;
    if (field.number == 2) out.tags.emplace_back(field.bytes);
    if (field.number == 3) out.digests.emplace_back(field.bytes);
    if (field.number == 4) out.size = Bytes{field.value};
    if (field.number == 5) out.user = numberIn(field.bytes, 1);
    if (field.number == 6) out.userName = field.bytes;
    if (field.number == 8) out.pinned = field.value != 0;
  });
  if (!ok) return pass(ok.error());
  return out;
}

// The messages of field 1, each read by `one`.
template <class T, class Read>
Result<std::vector<T>> readList(std::string_view what, std::string_view bytes, Read one) {
  std::vector<T> out;
  Result<> inner;
  auto ok = each(what, bytes, [&](const ProtoField& field) {
    if (field.number != 1) return;
    auto read = one(field.bytes);
    if (read)
      out.push_back(std::move(*read));
    else
      inner = pass(read.error());
  });
  if (!ok) return pass(ok.error());
  if (!inner) return pass(inner.error());
  return out;
}

struct Condition {
  std::string type, reason, message;
  bool holds = false;
};

Condition readCondition(std::string_view bytes) {
  Condition out;
  (void)each("condition", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.type = field.bytes;
    if (field.number == 2) out.holds = field.value != 0;
    if (field.number == 3) out.reason = field.bytes;
    if (field.number == 4) out.message = field.bytes;
  });
  return out;
}

void readConditions(std::string_view bytes, RuntimeStatus& out) {
  (void)each("conditions", bytes, [&](const ProtoField& field) {
    if (field.number != 1) return;
    const Condition one = readCondition(field.bytes);
    if (one.type == "RuntimeReady") out.ready = one.holds;
    if (one.type == "NetworkReady") out.networkReady = one.holds;
    if (!one.holds)
      out.trouble += (out.trouble.empty() ? "" : "; ") + one.type + ": " +
                     (one.message.empty() ? one.reason : one.message);
  });
}

}  // namespace

Result<Version> readVersion(std::string_view bytes) {
  Version out;
  auto ok = each("version", bytes, [&](const ProtoField& field) {
    if (field.number == 2) out.runtime = field.bytes;
    if (field.number == 3) out.runtimeVersion = field.bytes;
  });
  if (!ok) return pass(ok.error());
  return out;
}

Result<RuntimeStatus> readStatus(std::string_view bytes) {
  RuntimeStatus out;
  auto ok = each("status", bytes, [&](const ProtoField& field) {
    if (field.number == 1) readConditions(field.bytes, out);
    if (field.number == 2) addEntry(field.bytes, out.info);
  });
  if (!ok) return pass(ok.error());
  return out;
}

Result<std::string> readText(std::string_view bytes) {
  std::string out;
  auto ok = each("answer", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out = field.bytes;
  });
  if (!ok) return pass(ok.error());
  return out;
}

Result<std::vector<Sandbox>> readSandboxes(std::string_view bytes) {
  return readList<Sandbox>("list of sandboxes", bytes,
                           [](std::string_view one) { return readSandbox(one, false); });
}

Result<Sandbox> readSandboxStatus(std::string_view bytes) {
  Result<Sandbox> out = Sandbox{};
  Texts info;
  auto ok = each("sandbox status", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out = readSandbox(field.bytes, true);
    if (field.number == 2) addEntry(field.bytes, info);
  });
  if (!ok) return pass(ok.error());
  if (out) out->info = std::move(info);
  return out;
}

Result<std::vector<ContainerStatus>> readContainers(std::string_view bytes) {
  return readList<ContainerStatus>("list of containers", bytes, readListed);
}

Result<ContainerStatus> readContainerStatus(std::string_view bytes) {
  ContainerStatus out;
  Result<> inner;
  auto ok = each("container status", bytes, [&](const ProtoField& field) {
    if (field.number == 1) inner = readStatusInto(field.bytes, out);
    if (field.number == 2) addEntry(field.bytes, out.info);
  });
  if (!ok || !inner) return pass(ok ? inner.error() : ok.error());
  return out;
}

Result<ExecResult> readExecResult(std::string_view bytes) {
  ExecResult out;
  auto ok = each("answer of a command", bytes, [&](const ProtoField& field) {
    if (field.number == 1) out.out = field.bytes;
    if (field.number == 2) out.err = field.bytes;
    if (field.number == 3) out.exitCode = static_cast<int>(field.value);
  });
  if (!ok) return pass(ok.error());
  return out;
}

Result<std::optional<Image>> readImageStatus(std::string_view bytes) {
  auto found = readList<Image>("image status", bytes, readImage);
  if (!found) return pass(found.error());
  return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

Result<std::vector<Image>> readImages(std::string_view bytes) {
  return readList<Image>("list of images", bytes, readImage);
}

Result<std::vector<ImageDisk>> readImageDisk(std::string_view bytes) {
  return readList<ImageDisk>("disk of images", bytes,
                             [](std::string_view one) -> Result<ImageDisk> {
                               ImageDisk out;
                               auto ok = each("disk of images", one, [&](const ProtoField& field) {
                                 if (field.number == 2) out.mount = textIn(field.bytes, 1);
                                 if (field.number == 3) out.used = Bytes{numberIn(field.bytes, 1)};
                               });
                               if (!ok) return pass(ok.error());
                               return out;
                             });
}

int64_t pidIn(const Texts& info) {
  const auto found = info.find("info");
  if (found == info.end()) return 0;
  const auto parsed = json::parse(found->second);
  if (!parsed || !parsed->is_object()) return 0;
  const json::Value* pid = parsed->get_object().if_contains("pid");
  return pid && pid->is_int64() ? pid->get_int64() : 0;
}

}  // namespace mangrove::runtime::cri
