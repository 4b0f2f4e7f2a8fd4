// The roles that users install grant what the code asks for: no less, so that nothing is denied on
// a cluster, and no more.
#include "manager/access.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text/strings.h"
#include "json/yaml.h"

namespace mangrove::manager {
namespace {

using Lines = std::set<std::string>;  // "group resource/subresource verb"

Lines linesOf(const std::vector<Access>& access) {
  Lines out;
  for (const auto& need : access) {
    std::string what = std::string(need.kind.group) + " " + std::string(need.kind.plural);
    if (!need.subresource.empty()) what += "/" + std::string(need.subresource);
    for (const auto verb : split(need.verbs, ' ')) out.insert(what + " " + std::string(verb));
  }
  return out;
}

// Of the first object of that kind in the file.
Lines grantedBy(const std::string& file, std::string_view kind) {
  std::ifstream in(MANGROVE_SOURCE_DIR "/config/" + file);
  std::stringstream text;
  text << in.rdbuf();
  const auto documents = json::parseYaml(text.str(), file);
  EXPECT_TRUE(documents) << documents.error().text();
  Lines out;
  for (const auto& [value, line] : *documents) {
    if (value.at("kind").as_string() != kind) continue;
    for (const auto& rule : value.at("rules").as_array())
      for (const auto& group : rule.at("apiGroups").as_array())
        for (const auto& resource : rule.at("resources").as_array())
          for (const auto& verb : rule.at("verbs").as_array())
            out.insert(std::string(group.as_string()) + " " + std::string(resource.as_string()) +
                       " " + std::string(verb.as_string()));
    break;
  }
  return out;
}

TEST(Access, OfTheManagerIsWhatItsRoleGrants) {
  EXPECT_EQ(grantedBy("rbac/manager.yaml", "ClusterRole"), linesOf(managerAccess()));
  EXPECT_EQ(grantedBy("rbac/manager.yaml", "Role"), linesOf(managerOwnAccess()));
}

TEST(Access, OfAdmissionIsWhatItsRoleGrants) {
  EXPECT_EQ(grantedBy("webhook/rbac.yaml", "ClusterRole"), linesOf(admissionAccess()));
  EXPECT_EQ(grantedBy("webhook/rbac.yaml", "Role"), linesOf(admissionOwnAccess()));
}

}  // namespace
}  // namespace mangrove::manager
