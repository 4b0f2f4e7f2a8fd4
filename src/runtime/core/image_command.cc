#include "runtime/core/image_command.h"

#include <fmt/core.h>

namespace mangrove::runtime {

namespace {

// Programs that would go into the background by themselves, and how they are kept from it.
struct Foreground {
  std::string_view program;
  std::vector<std::string> args;
};

const std::vector<Foreground>& foregrounds() {
  static const std::vector<Foreground> all = {
      {"nginx", {"-g", "daemon off;"}}, {"redis", {}},
      {"httpd", {"-DFOREGROUND"}},      {"apache2", {"-DFOREGROUND"}},
      {"memcached", {"-u", "nobody"}},
  };
  return all;
}

// Images whose program has another name.
std::string_view programOf(std::string_view image) {
  if (image == "redis") return "redis-server";
  if (image == "httpd") return "apache2";
  if (image == "python") return "python3";
  if (image == "busybox" || image == "alpine") return "sh";
  if (image == "debian" || image == "ubuntu") return "bash";
  return image;
}

}  // namespace

std::string imageBaseName(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const size_t slash = image.rfind('/');
  if (slash != std::string_view::npos) image.remove_prefix(slash + 1);
  return std::string(image.substr(0, image.find(':')));
}

ImageCommand commandOf(const api::ContainerRun& container,
                       const std::function<std::string(std::string_view)>& find,
                       std::string_view self) {
  ImageCommand out;
  if (!container.command.empty()) {
    out.argv = container.command;
    out.argv.insert(out.argv.end(), container.args.begin(), container.args.end());
    return out;
  }
  const std::string base = imageBaseName(container.image);
  const std::string path = find(programOf(base));
  if (path.empty()) {
    out.standIn = true;
    out.argv = {std::string(self), "stand-in"};
    out.sentence = fmt::format(
        "image \"{}\" has no command and this machine has no program \"{}\": container {} runs a "
        "stand-in that only waits",
        container.image, programOf(base), container.name);
    return out;
  }
  out.argv = {path};
  if (!container.args.empty()) {
    out.argv.insert(out.argv.end(), container.args.begin(), container.args.end());
  } else {
    for (const auto& one : foregrounds())
      if (one.program == base) out.argv.insert(out.argv.end(), one.args.begin(), one.args.end());
  }
  out.sentence = fmt::format("image \"{}\" has no command: container {} runs this machine's {}",
                             container.image, container.name, path);
  return out;
}

}  // namespace mangrove::runtime
