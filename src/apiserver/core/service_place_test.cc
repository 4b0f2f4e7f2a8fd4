#include "apiserver/core/service_place.h"

#include "apiserver/core/test_server.h"

namespace mangrove::apiserver {
namespace {

class ServicePlace : public testing::ServerFixture {
 protected:
  std::string place(const std::string& name, std::string_view port) {
    return placeOfService(*store_, "d", name, port, rng_).value_or("nowhere");
  }
};

TEST_F(ServicePlace, IsAPodThatIsReady) {
  ask("POST", "/api/v1/namespaces/d/services",
      R"({"metadata":{"name":"hook"},"spec":{"ports":[{"name":"tls","port":443},{"name":"web","port":80}]}})");
  ask("POST", "/api/v1/namespaces/d/endpoints",
      R"({"metadata":{"name":"hook"},"subsets":[{"addresses":[{"ip":"10.1.1.1"}],)"
      R"("notReadyAddresses":[{"ip":"10.1.1.2"}],"ports":[{"name":"tls","port":8443}]}]})");
  EXPECT_EQ(place("hook", "443"), "10.1.1.1:8443");
  EXPECT_EQ(place("hook", "tls"), "10.1.1.1:8443");
  EXPECT_EQ(place("hook", "web"), "nowhere");  // no pod has it
  EXPECT_EQ(place("hook", "8443"), "nowhere");
  EXPECT_EQ(place("hook", ""), "nowhere");  // which of the two?
  EXPECT_EQ(place("none", "443"), "nowhere");
}

}  // namespace
}  // namespace mangrove::apiserver
