// The roles that users install grant what the code asks for: no less, so that nothing is denied on
// a cluster, and no more.
#include "manager/access.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/text/strings.h"
#include "json/value.h"
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

void addGranted(const std::string& file, Lines& out) {
  std::ifstream in(MANGROVE_SOURCE_DIR "/config/" + file);
  std::stringstream text;
  text << in.rdbuf();
  const auto documents = json::parseYaml(text.str(), file);
  ASSERT_TRUE(documents) << documents.error().text();
  for (const auto& [value, line] : *documents) {
    if (!value.as_object().contains("rules")) continue;
    for (const auto& rule : value.at("rules").as_array())
      for (const auto& group : rule.at("apiGroups").as_array())
        for (const auto& resource : rule.at("resources").as_array())
          for (const auto& verb : rule.at("verbs").as_array())
            out.insert(std::string(group.as_string()) + " " + std::string(resource.as_string()) +
                       " " + std::string(verb.as_string()));
  }
}

Lines grantedBy(const std::vector<std::string>& files) {
  Lines out;
  for (const auto& file : files) addGranted(file, out);
  return out;
}

TEST(Access, OfTheManagerIsWhatItsRolesGrant) {
  EXPECT_EQ(grantedBy({"rbac/manager.yaml", "rbac/manager-enforce.yaml"}),
            linesOf(managerAccess()));
}

TEST(Access, OfAdmissionIsWhatItsRolesGrant) {
  EXPECT_EQ(grantedBy({"webhook/rbac.yaml"}), linesOf(admissionAccess()));
}

}  // namespace
}  // namespace mangrove::manager
