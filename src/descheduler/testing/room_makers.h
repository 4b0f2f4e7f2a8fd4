#pragma once
// Pods that wait, and a MakeRoom with these arguments beside them. Test programs only.

#include <string>

#include "descheduler/testing/proven_cluster.h"

namespace mangrove::descheduler::testing {

class RoomMakers : public ProvenCluster {
 protected:
  void waits(const std::string& name, const std::string& cpu, const std::string& annotations = "") {
    api.put(kind::kPod, "d", name,
            fmt::format(
                R"({{"metadata":{{"uid":"uid-{}","creationTimestamp":"{}","annotations":{{{}}}}},
        "spec":{{"priority":100,"schedulerName":"koord-scheduler","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}},
        "status":{{"phase":"Pending","conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable","lastTransitionTime":"{}"}}]}}}})",
                name, formatTime(clock.wall() - std::chrono::hours(1)), annotations, cpu,
                formatTime(clock.wall() - std::chrono::hours(1))));
  }
  void makeRoom(const std::string& args, bool dryRun = false) {
    startWith(fmt::format(R"({{
      "apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"10s","dryRun":{},
      "profiles":[{{"name":"one","plugins":{{"balance":{{"enabled":[{{"name":"MakeRoom"}}]}}}},"pluginConfig":[
        {{"name":"MakeRoom","args":{{{}}}}},
        {{"name":"MigrationController","args":{{"provenMoves":true,"maxMigratingPerNode":20,
          "maxMigratingPerWorkload":20,"maxUnavailablePerWorkload":20}}}}]}}]}})",
                          dryRun, args));
  }
};

}  // namespace mangrove::descheduler::testing
