// The names pods find each other by, the bytes they ask with, and the file that says whom to ask.
#include "runtime/core/names.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "base/number/rng.h"

namespace mangrove::runtime {
namespace {

using dns::Code;
using dns::Question;
using dns::Reply;

template <class T>
std::shared_ptr<const T> object(std::string_view text) {
  auto read = api::decodeText<T>(text);
  EXPECT_TRUE(read) << read.error().text();
  return std::make_shared<const T>(read ? std::move(*read) : T());
}

NameBook& book() {
  static NameBook one;
  static const bool filled = [] {
    one.put("default/web",
            object<ServiceView>(
                R"({"spec":{"clusterIP":"10.96.0.7","ports":[{"name":"http","port":80}]}})"),
            nullptr);
    one.put(
        "default/db",
        object<ServiceView>(
            R"({"spec":{"clusterIP":"None","ports":[{"name":"sql","port":5432}]}})"),
        object<EndpointsView>(
            R"({"subsets":[{"addresses":[{"ip":"10.88.0.3","hostname":"db-0"},{"ip":"10.88.0.4"}],"ports":[{"name":"sql","port":5432}]}]})"));
    one.put("other/out", object<ServiceView>(R"({"spec":{"externalName":"example.org"}})"),
            nullptr);
    return true;
  }();
  (void)filled;
  return one;
}

// "A 10.96.0.7", "SRV …, SRV …", "no such name", "nothing", "not ours".
std::string ask(std::string name, uint16_t type = dns::kTypeA) {
  Question question;
  question.name = std::move(name);
  question.type = type;
  const auto reply = book().answer(question);
  if (!reply) return "not ours";
  if (reply->code == Code::kNoName) return "no such name";
  std::string out;
  for (const auto& one : reply->records) out += (out.empty() ? "" : ", ") + one.data;
  return out.empty() ? "nothing" : out;
}

TEST(Names, AreThoseThatPodsChose) {
  EXPECT_EQ(ask("me.db.default.svc.cluster.local"), "no such name");
  book().putHost("u-1", "default/db", "me", "10.88.0.4");
  book().putHost("u-2", "default/db", "stranger", "10.88.0.99");  // not behind the service
  book().putHost("u-3", "default/web", "me", "10.96.0.7");        // not headless
  EXPECT_EQ(ask("me.db.default.svc.cluster.local"), "10.88.0.4");
  EXPECT_EQ(ask("stranger.db.default.svc.cluster.local"), "no such name");
  EXPECT_EQ(ask("me.web.default.svc.cluster.local"), "no such name");
  for (const char* uid : {"u-1", "u-2", "u-3"}) book().dropHost(uid);
  EXPECT_EQ(ask("me.db.default.svc.cluster.local"), "no such name");
}

TEST(Names, AreThoseOfKubernetes) {
  EXPECT_EQ(ask("web.default.svc.cluster.local"), "10.96.0.7");
  EXPECT_EQ(ask("web.default.svc.cluster.local", dns::kTypeAaaa), "nothing")
      << "it is there, by IPv4";
  EXPECT_EQ(ask("db.default.svc.cluster.local"), "10.88.0.3, 10.88.0.4");
  EXPECT_EQ(ask("db-0.db.default.svc.cluster.local"), "10.88.0.3");
  EXPECT_EQ(ask("10-88-0-4.db.default.svc.cluster.local"), "10.88.0.4");
  EXPECT_EQ(ask("db-9.db.default.svc.cluster.local"), "no such name");
  EXPECT_EQ(ask("_http._tcp.web.default.svc.cluster.local", dns::kTypeSrv),
            "0 100 80 web.default.svc.cluster.local");
  EXPECT_EQ(ask("_sql._tcp.db.default.svc.cluster.local", dns::kTypeSrv),
            "0 100 5432 db-0.db.default.svc.cluster.local, "
            "0 100 5432 10-88-0-4.db.default.svc.cluster.local");
  EXPECT_EQ(ask("_sql._udp.db.default.svc.cluster.local", dns::kTypeSrv), "no such name");
  EXPECT_EQ(ask("10-88-0-9.default.pod.cluster.local"), "10.88.0.9");
  EXPECT_EQ(ask("7.0.96.10.in-addr.arpa", dns::kTypePtr), "web.default.svc.cluster.local");
  EXPECT_EQ(ask("out.other.svc.cluster.local"), "example.org");
}

TEST(Names, LeaveOthersToOthers) {
  EXPECT_EQ(ask("example.org"), "not ours");
  EXPECT_EQ(ask("notcluster.local"), "not ours");
  EXPECT_EQ(ask("8.8.8.8.in-addr.arpa", dns::kTypePtr), "not ours");
  for (const char* name : {"cluster.local", "web.svc.cluster.local", "x.default.svc.cluster.local",
                           "svc.cluster.local", "a.b.c.d.e.svc.cluster.local"}) {
    EXPECT_NE(ask(name), "not ours") << name;
  }
}

TEST(Names, OfAServiceThatGoesAreGone) {
  NameBook one;
  one.put("d/s", object<ServiceView>(R"({"spec":{"clusterIP":"10.96.0.9"}})"), nullptr);
  Question question;
  question.name = "s.d.svc.cluster.local";
  EXPECT_EQ(one.answer(question)->code, Code::kNoError);
  one.put("d/s", nullptr, nullptr);
  EXPECT_EQ(one.answer(question)->code, Code::kNoName);
}

TEST(DnsMessage, ComesBackAsItWent) {
  Question question;
  question.id = 7;
  question.recursionDesired = true;
  question.name = "web.default.svc.cluster.local";
  const auto read = dns::readQuestion(dns::writeQuestion(question));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, 7);
  EXPECT_EQ(read->name, question.name);
  EXPECT_EQ(read->room, 512U);
  const Reply reply{Code::kNoError,
                    false,
                    {{question.name, dns::kTypeCname, 5, "example.org"},
                     {"example.org", dns::kTypeA, 60, "192.0.2.1"},
                     {"example.org", dns::kTypeAaaa, 60, "2001:db8::1"}}};
  EXPECT_EQ(*dns::readAnswer(dns::writeAnswer(question, reply)), reply);
}

TEST(DnsMessage, SaysThatItWasCut) {
  Question question;
  question.name = "db.default.svc.cluster.local";
  Reply reply;
  for (int i = 0; i < 100; ++i)
    reply.records.push_back({question.name, dns::kTypeA, 5, "10.88.0.1"});
  const std::string bytes = dns::writeAnswer(question, reply);
  EXPECT_LE(bytes.size(), 512U);
  EXPECT_NE(bytes[2] & 0x02, 0);
}

TEST(DnsMessage, EndsWhateverBytesCome) {
  const std::string good = dns::writeQuestion({1, true, "a.b", dns::kTypeA, 512});
  Rng rng(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (int i = 0; i < 3; ++i) bytes[rng.next() % bytes.size()] = static_cast<char>(rng.next());
    bytes.resize(rng.next() % (bytes.size() + 1));
    (void)dns::readQuestion(bytes);
    (void)dns::readAnswer(bytes);
  }
  const std::string circle =
      std::string("\0\1\0\0\0\1\0\0\0\0\0\0", 12) + "\xc0\x0c" + std::string(4, '\0');
  EXPECT_FALSE(dns::readQuestion(circle));
}

TEST(ResolverFile, IsWrittenForThosePodsThatNeedOne) {
  const std::string machine = "nameserver 192.0.2.53\nsearch lab\n";
  const auto file = [&](ResolverWish wish, bool hostNetwork = false,
                        std::string server = "10.88.0.1") {
    return resolverFile(wish, "shop", hostNetwork, server, machine).value_or("the machine's");
  };
  const std::string head = "# written by mangrove for this pod\n";
  const std::string ours =
      head +
      "nameserver 10.88.0.1\nsearch shop.svc.cluster.local svc.cluster.local cluster.local\n";
  EXPECT_EQ(file({}), ours + "options ndots:5\n");
  EXPECT_EQ(file({"ClusterFirst", {}, {}, {}}, true), "the machine's");
  EXPECT_EQ(file({"ClusterFirstWithHostNet", {}, {}, {}}, true), ours + "options ndots:5\n");
  EXPECT_EQ(file({"Default", {}, {}, {}}), "the machine's");
  EXPECT_EQ(file({"ClusterFirst", {}, {}, {}}, false, ""), "the machine's")
      << "nobody answers names here";
  EXPECT_EQ(file({"None", {"192.0.2.1"}, {"x"}, {"ndots:2", "edns0"}}),
            head + "nameserver 192.0.2.1\nsearch x\noptions ndots:2 edns0\n");
  EXPECT_EQ(file({"ClusterFirst", {}, {}, {"ndots:2"}}), ours + "options ndots:2\n");
  EXPECT_EQ(file({"Default", {}, {"y"}, {}}), head + "nameserver 192.0.2.53\nsearch y\n");
}

}  // namespace
}  // namespace mangrove::runtime
