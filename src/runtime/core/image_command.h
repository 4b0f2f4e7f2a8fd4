#pragma once
// What runs for an image. There are no images here: a container with a command runs the host's
// program of that name; one without runs the program the image is named after, in the foreground,
// if the host has it, and otherwise a built-in stand-in that only stays. Pure but for `find`.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod/pod_run.h"

namespace mangrove::runtime {

struct ImageCommand {
  std::vector<std::string> argv;
  bool standIn = false;
  std::string sentence;  // for an Event, when the image decided
};

// "registry.local:5000/library/nginx:1.25@sha256:…" → "nginx".
std::string imageBaseName(std::string_view image);
// `find` tells where a program is, "" when it is not installed. `self` is our own binary.
ImageCommand commandOf(const api::ContainerRun& container,
                       const std::function<std::string(std::string_view)>& find,
                       std::string_view self);

}  // namespace mangrove::runtime
