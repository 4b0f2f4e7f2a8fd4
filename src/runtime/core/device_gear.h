#pragma once
// What a container gets, beside variables, for the devices that its pod was given: device files of
// the machine, and files and folders of whoever holds it to its share. Who fills it in is not the
// runner's business (NodeFacts::equip). Values.

#include <string>
#include <utility>
#include <vector>

namespace mangrove::runtime {

struct DeviceGear {
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<std::string> nodes;  // device files; nothing else of the machine's /dev is there
  struct Mount {
    std::string source, target;
    bool readOnly = false;
    bool isFolder = false;  // made, open to everybody, where it is not there
  };
  std::vector<Mount> mounts;
};

}  // namespace mangrove::runtime
