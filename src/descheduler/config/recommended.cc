#include "descheduler/config/recommended.h"

namespace mangrove::descheduler {
namespace {

constexpr std::string_view kText = R"(
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
deschedulingInterval: 10s
profiles:
  - name: balance
    plugins:
      balance: {enabled: [{name: LowNodeLoad}]}
    pluginConfig:
      - name: LowNodeLoad
        args:
          lowThresholds: {cpu: 45, memory: 55}
          highThresholds: {cpu: 75, memory: 80}
      - name: MigrationController
        args:
          namespaces: {exclude: [kube-system, koordinator-system]}
          defaultJobMode: ReservationFirst
          provenMoves: true
)";

}  // namespace

DeschedulerConfig recommendedConfig() {
  return *readConfig(kText, "the recommended configuration");
}

}  // namespace mangrove::descheduler
