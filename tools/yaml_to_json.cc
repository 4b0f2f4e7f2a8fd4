// yaml_to_json IN OUT: one YAML document as compact JSON. Used by the build, so that the program
// need not parse YAML when it starts, which costs ten times as much.
#include <cstdio>

#include "base/os/files.h"
#include "json/yaml.h"

int main(int argc, char** argv) {
  using namespace mangrove;
  if (argc != 3) {
    std::fprintf(stderr, "usage: yaml_to_json IN OUT\n");
    return 2;
  }
  auto text = readFile(argv[1]);
  auto value =
      text ? json::parseYamlDocument(*text, argv[1]) : Result<json::Value>(pass(text.error()));
  auto done = value ? writeFileAtomically(argv[2], json::write(*value), {.sync = false})
                    : Result<>(pass(value.error()));
  if (done) return 0;
  std::fprintf(stderr, "yaml_to_json: %s\n", done.error().text().c_str());
  return 1;
}
