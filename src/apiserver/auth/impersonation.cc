// impersonate(): the Impersonate-* headers, as kubectl --as sends them.
#include <map>
#include <optional>

#include "apiserver/auth/authenticator.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kUser = "Impersonate-User";
constexpr std::string_view kUid = "Impersonate-Uid";
constexpr std::string_view kGroup = "Impersonate-Group";
constexpr std::string_view kExtraPrefix = "impersonate-extra-";
constexpr std::string_view kAccountPrefix = "system:serviceaccount:";
constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";

struct Wish {
  Identity who;
  bool any = false;  // some header asks for something
};

// Header names have no case and few characters, so keys arrive lower-cased and percent-encoded.
Outcome<Wish> readWish(const net::Headers& headers) {
  Wish wish;
  std::map<std::string, std::vector<std::string>> extra;
  for (const auto& [name, value] : headers.fields()) {
    const std::string key = lower(name);
    if (!key.starts_with("impersonate-")) continue;
    wish.any = true;
    if (equalIgnoringCase(name, kUser)) {
      wish.who.user = value;
    } else if (equalIgnoringCase(name, kUid)) {
      wish.who.uid = value;
    } else if (equalIgnoringCase(name, kGroup)) {
      wish.who.groups.push_back(value);
    } else if (key.starts_with(kExtraPrefix)) {
      auto decoded = percentDecode(std::string_view(key).substr(kExtraPrefix.size()));
      if (!decoded) return refuse(answer::badRequest("header " + name + ": the key is malformed"));
      extra[lower(*decoded)].push_back(value);
    } else {
      return refuse(answer::badRequest("header " + name +
                                       ": want Impersonate-User, -Group, -Uid or -Extra-KEY"));
    }
  }
  wish.who.extra.assign(extra.begin(), extra.end());
  return wish;
}

struct Account {
  std::string_view ns, name;
};
std::optional<Account> accountOf(std::string_view user) {
  if (!user.starts_with(kAccountPrefix)) return std::nullopt;
  auto [ns, name, found] = cut(user.substr(kAccountPrefix.size()), ':');
  if (!found || ns.empty() || name.empty() || name.find(':') != name.npos) return std::nullopt;
  return Account{ns, name};
}

Attributes question(std::string_view group, std::string_view resource, std::string_view name) {
  Attributes what;
  what.verb = "impersonate";
  what.group = group;
  what.version = "v1";
  what.resource = resource;
  what.name = name;
  return what;
}

Attributes questionForUser(const std::string& user) {
  auto account = accountOf(user);
  if (!account) return question("", "users", user);
  Attributes what = question("", "serviceaccounts", account->name);
  what.ns = account->ns;
  return what;
}

// Everything that must be permitted, one question each.
std::vector<Attributes> questions(const Identity& wish) {
  std::vector<Attributes> all{questionForUser(wish.user)};
  for (const auto& g : wish.groups) all.push_back(question("", "groups", g));
  if (!wish.uid.empty()) all.push_back(question(kAuthenticationGroup, "uids", wish.uid));
  for (const auto& [key, values] : wish.extra) {
    for (const auto& value : values) {
      all.push_back(question(kAuthenticationGroup, "userextras", value));
      all.back().subresource = key;
    }
  }
  return all;
}

void addImpliedGroups(Identity& who) {
  auto account = accountOf(who.user);
  if (account && who.groups.empty()) who.groups = serviceAccountGroups(account->ns);
  const bool anonymous = who.user == Identity::anonymous().user;
  const std::string_view implied = anonymous ? group::kUnauthenticated : group::kAuthenticated;
  if (!who.in(implied)) who.groups.emplace_back(implied);
}

}  // namespace

Outcome<Identity> impersonate(Identity who, const net::Headers& headers, Authorizer& authorizer) {
  auto wish = readWish(headers);
  if (!wish) return tl::unexpected(wish.error());
  if (!wish->any) return who;
  if (wish->who.user.empty() || headers.count(kUser) != 1 || headers.count(kUid) > 1)
    return refuse(answer::badRequest("impersonation needs exactly one Impersonate-User"));
  for (const Attributes& what : questions(wish->who)) {
    const Decision decision = authorizer.authorize(who, what);
    if (!decision.allowed) return refuse(denied(who, what, decision.reason));
  }
  addImpliedGroups(wish->who);
  wish->who.behind = std::make_shared<const Identity>(std::move(who));
  return std::move(wish->who);
}

}  // namespace mangrove::apiserver
