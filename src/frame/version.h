#pragma once
// What this binary is. The number comes from the file VERSION at the top of the tree.

#include <string>

namespace mangrove::frame {

const char* version();      // "0.1.0"
std::string versionLine();  // "mangrove 0.1.0 (g++ 12.2.0, linux/amd64)"
std::string versionJson();  // the shape of Kubernetes' /version

}  // namespace mangrove::frame
