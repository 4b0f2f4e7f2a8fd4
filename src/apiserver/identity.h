#pragma once
// Who asks, once authentication is through. Values.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::apiserver {

namespace group {
inline constexpr std::string_view kAuthenticated = "system:authenticated";
inline constexpr std::string_view kUnauthenticated = "system:unauthenticated";
inline constexpr std::string_view kMasters =
    "system:masters";  // may do everything, whatever RBAC says
inline constexpr std::string_view kServiceAccounts = "system:serviceaccounts";
inline constexpr std::string_view kNodes = "system:nodes";
}  // namespace group

struct Identity {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> extra;
  std::shared_ptr<const Identity> behind = nullptr;  // who asks in this one's name, if anybody

  bool in(std::string_view wanted) const {
    for (const auto& g : groups) {
      if (g == wanted) return true;
    }
    return false;
  }
  static Identity anonymous() {
    return {"system:anonymous", "", {std::string(group::kUnauthenticated)}, {}};
  }
  // Us: controllers inside the server that act for nobody.
  static Identity system() {
    return {"system:apiserver",
            "",
            {std::string(group::kMasters), std::string(group::kAuthenticated)},
            {}};
  }
};

}  // namespace mangrove::apiserver
