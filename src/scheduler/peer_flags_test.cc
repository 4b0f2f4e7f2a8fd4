// Whatever kube-scheduler 1.35 or the reference's scheduler is started with is taken or refused by
// its name.
#include "scheduler/peer_flags.h"

#include <array>

#include <gtest/gtest.h>

#include "scheduler/role.h"

namespace mangrove::scheduler {
namespace {

struct Started {
  explicit Started(const std::vector<std::string>& args) {
    role.flags(flags);
    // What every role has.
    for (auto name : {"v", "vmodule", "logging-format", "feature-gates", "metrics-bind-address"})
      flags.hidden(name, true, [](std::string_view) { return Result<>(); });
    const auto parsed = flags.parse(args);
    error = parsed ? "" : parsed.error().text();
  }
  SchedulerRole role;
  frame::Flags flags{"mangrove scheduler", "test"};
  std::string error;
};

TEST(PeerFlags, all_of_them_are_known) {
  constexpr std::array kAll = {
      "--allow-metric-labels=a=b", "--allow-metric-labels-manifest=f",
      "--authentication-kubeconfig=f", "--authentication-skip-lookup",
      "--authentication-token-webhook-cache-ttl=10s", "--authentication-tolerate-lookup-failure",
      "--authorization-always-allow-paths=/healthz", "--authorization-kubeconfig=f",
      "--authorization-webhook-cache-authorized-ttl=10s",
      "--authorization-webhook-cache-unauthorized-ttl=10s", "--bind-address=0.0.0.0",
      "--cert-dir=d", "--client-ca-file=f", "--config=f", "--contention-profiling=false",
      "--disable-http2-serving", "--disabled-metrics=m", "--emulated-version=1.34",
      "--feature-gates=A=true", "--http2-max-streams-per-connection=10", "--kube-api-burst=100",
      "--kube-api-content-type=application/json", "--kube-api-qps=50", "--kubeconfig=f",
      "--leader-elect=false", "--leader-elect-lease-duration=15s",
      "--leader-elect-renew-deadline=10s", "--leader-elect-resource-lock=leases",
      "--leader-elect-resource-name=n", "--leader-elect-resource-namespace=n",
      "--leader-elect-retry-period=2s", "--log-flush-frequency=5s", "--log-json-info-buffer-size=0",
      "--log-json-split-stream", "--log-text-info-buffer-size=0", "--log-text-split-stream",
      "--logging-format=text", "--master=https://x", "--permit-address-sharing",
      "--permit-port-sharing", "--pod-max-in-unschedulable-pods-duration=5m", "--profiling=false",
      "--requestheader-allowed-names=a", "--requestheader-client-ca-file=f",
      "--requestheader-extra-headers-prefix=p", "--requestheader-group-headers=g",
      "--requestheader-uid-headers=u", "--requestheader-username-headers=u", "--secure-port=10259",
      "--show-hidden-metrics-for-version=1.34", "--tls-cert-file=f", "--tls-cipher-suites=c",
      "--tls-curve-preferences=1", "--tls-min-version=VersionTLS12", "--tls-private-key-file=f",
      "--tls-sni-cert-key=a,b", "--v=2", "--vmodule=a=1",
      // the reference's own
      "--port=10251", "--scheduling-timeout=30s", "--scheduler-monitor-period=10s",
      "--scheduling-drop-unhandled-timeout=5s", "--debug-scores=3", "--debug-filters",
      "--debug-diagnosis", "--debug-diagnosis-blocking", "--debug-diagnosis-queue-size=1000",
      "--debug-diagnosis-worker-count=10", "--controller-plugins=*",
      "--enable-network-topology-manager", "--enable-workload-auditor"};
  for (const char* flag : kAll) EXPECT_EQ(Started({flag}).error, "") << flag;
  EXPECT_EQ(Started({"--cert-dir", "d", "--profiling", "--secure-port", "0"}).error, "");
}

TEST(PeerFlags, what_cannot_be_done_is_refused_with_what_to_do_instead) {
  EXPECT_NE(Started({"--port=9999"}).error.find("--metrics-bind-address=:9999"), std::string::npos);
  EXPECT_NE(Started({"--write-config-to=f"}).error.find("/configz"), std::string::npos);
  EXPECT_NE(Started({"--leader-elect-resource-lock=endpoints"}).error.find("want leases"),
            std::string::npos);
}

TEST(PeerFlags, what_changes_nothing_is_said_once) {
  std::vector<std::string> given;
  frame::Flags flags("mangrove scheduler", "test");
  declarePeerFlags(flags, given);
  ASSERT_TRUE(flags.parse({"--profiling=false", "--profiling=true", "--cert-dir=d"}));
  const auto said = peerFlagWarnings(given);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0],
            "--cert-dir has no effect: pages are served in plain HTTP by "
            "--metrics-bind-address");
  EXPECT_TRUE(peerFlagWarnings({}).empty());
}

}  // namespace
}  // namespace mangrove::scheduler
