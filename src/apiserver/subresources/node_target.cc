#include "apiserver/subresources/node_target.h"

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

std::vector<std::string> containerNames(const json::Object& spec, std::string_view key) {
  std::vector<std::string> names;
  const json::Array* list = findArray(spec, key);
  if (!list) return names;
  for (const json::Value& one : *list)
    if (one.is_object()) names.emplace_back(textAt(one.get_object(), "name"));
  return names;
}

bool hasContainer(const json::Object& spec, std::string_view name) {
  for (const char* key : {"containers", "initContainers", "ephemeralContainers"})
    for (const auto& known : containerNames(spec, key))
      if (known == name) return true;
  return false;
}

Outcome<std::string> chooseContainer(const RequestInfo& info, const json::Object& spec) {
  const std::string wanted(info.parameter("container"));
  const auto names = containerNames(spec, "containers");
  if (wanted.empty() && names.size() == 1) return names[0];
  if (wanted.empty()) {
    const auto init = containerNames(spec, "initContainers");
    const std::string others =
        init.empty() ? "" : fmt::format(" or one of the init containers: [{}]", join(init, " "));
    return refuse(answer::badRequest(
        fmt::format("a container name must be specified for pod {}, choose one of: [{}]{}",
                    info.name, join(names, " "), others)));
  }
  if (!hasContainer(spec, wanted))
    return refuse(
        answer::badRequest(fmt::format("container {} is not valid for pod {}", wanted, info.name)));
  return wanted;
}

// nullopt: not given.
Outcome<std::optional<int64_t>> number(const RequestInfo& info, std::string_view key,
                                       int64_t least) {
  if (!info.has(key)) return std::optional<int64_t>();
  auto value = parseInt<int64_t>(info.parameter(key));
  if (!value || *value < least)
    return refuse(
        answer::badRequest(fmt::format("{}: Invalid value: \"{}\": want a number of at "
                                       "least {}",
                                       key, info.parameter(key), least)));
  return value;
}

Outcome<std::optional<WallTime>> sinceOf(const RequestInfo& info, WallTime now) {
  auto seconds = number(info, "sinceSeconds", 1);
  if (!seconds) return tl::unexpected(seconds.error());
  const bool hasTime = info.has("sinceTime");
  if (*seconds && hasTime)
    return refuse(answer::badRequest("at most one of sinceTime or sinceSeconds may be specified"));
  if (*seconds) return std::optional<WallTime>(now - std::chrono::seconds(**seconds));
  if (!hasTime) return std::optional<WallTime>();
  auto time = parseTime(info.parameter("sinceTime"));
  if (!time) return refuse(answer::badRequest("sinceTime: " + time.error().text()));
  return std::optional<WallTime>(*time);
}

}  // namespace

Outcome<frame::ContainerTarget> containerTarget(const RequestInfo& info, const json::Object& pod) {
  static const json::Object kNone;
  const json::Object* spec = findObject(pod, "spec");
  if (textAt(spec ? *spec : kNone, "nodeName").empty())
    return refuse(
        answer::badRequest(fmt::format("pod {} does not have a host assigned", info.name)));
  frame::ContainerTarget target{info.ns, info.name, std::string(uidOf(pod)), ""};
  if (info.subresource == "portforward") return target;
  auto container = chooseContainer(info, *spec);
  if (!container) return tl::unexpected(container.error());
  target.container = std::move(*container);
  return target;
}

Outcome<frame::LogOptions> logOptions(const RequestInfo& info, WallTime now) {
  frame::LogOptions options;
  options.follow = info.flag("follow");
  options.previous = info.flag("previous");
  options.timestamps = info.flag("timestamps");
  auto tail = number(info, "tailLines", 0);
  if (!tail) return tl::unexpected(tail.error());
  options.tailLines = *tail;
  auto limit = number(info, "limitBytes", 1);
  if (!limit) return tl::unexpected(limit.error());
  if (*limit) options.limit = Bytes{**limit};
  auto since = sinceOf(info, now);
  if (!since) return tl::unexpected(since.error());
  options.since = *since;
  if (info.has("stream")) options.stream = info.parameter("stream");
  if (options.stream != "All" && options.stream != "Stdout" && options.stream != "Stderr")
    return refuse(answer::badRequest(fmt::format(
        "stream: Unsupported value: \"{}\": supported values: \"All\", \"Stdout\", \"Stderr\"",
        options.stream)));
  return options;
}

Outcome<frame::SessionOptions> sessionOptions(const RequestInfo& info, bool attach) {
  frame::SessionOptions options;
  for (const auto& [key, value] : info.parameters)
    if (key == "command") options.command.push_back(value);
  options.in = info.flag("stdin");
  options.out = info.has("stdout") ? info.flag("stdout") : attach;
  options.err = info.has("stderr") ? info.flag("stderr") : attach;
  options.tty = info.flag("tty");
  if (options.tty) options.err = false;
  if (!options.in && !options.out && !options.err)
    return refuse(answer::badRequest("you must specify at least one of stdin, stdout, stderr"));
  if (!attach && options.command.empty())
    return refuse(answer::badRequest("you must specify at least one command for the container"));
  return options;
}

Outcome<std::vector<uint16_t>> forwardPorts(const RequestInfo& info) {
  std::vector<uint16_t> ports;
  for (const auto& [key, value] : info.parameters) {
    if (key != "ports") continue;
    for (auto one : splitTrimmed(value, ',')) {
      auto port = parseInt<uint16_t>(one);
      if (!port || *port == 0)
        return refuse(
            answer::badRequest(fmt::format("ports: Invalid value: \"{}\": want 1 to 65535", one)));
      ports.push_back(*port);
    }
  }
  return ports;
}

}  // namespace mangrove::apiserver
