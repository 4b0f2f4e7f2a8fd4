#include "apiserver/auth/static_tokens.h"

#include "apiserver/auth/signing_key.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr size_t kLeastColumns = 3;

// The columns of one line; "…" may hold commas, and "" inside stands for a quote.
Result<std::vector<std::string>> readColumns(std::string_view line) {
  std::vector<std::string> columns(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool doubled = quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (doubled) {
      columns.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      columns.emplace_back();
    } else {
      columns.back() += line[i];
    }
  }
  if (quoted) return invalid("a quote is not closed");
  return columns;
}

Result<> addLine(std::string_view line, StaticTokens& to) {
  auto columns = readColumns(line);
  if (!columns) return pass(columns.error());
  if (columns->size() < kLeastColumns)
    return invalid("{} column(s), want token,user,uid and perhaps \"group,group\"",
                   columns->size());
  Identity who{std::string(trim((*columns)[1])), std::string(trim((*columns)[2])), {}, {}};
  if (columns->size() > kLeastColumns) {
    for (auto g : splitTrimmed((*columns)[kLeastColumns], ',')) who.groups.emplace_back(g);
  }
  return to.add(trim((*columns)[0]), std::move(who));
}

}  // namespace

Result<StaticTokens> StaticTokens::parse(std::string_view text) {
  StaticTokens tokens;
  size_t number = 0;
  for (auto raw : split(text, '\n')) {
    ++number;
    const auto line = trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    if (auto ok = addLine(line, tokens); !ok) return ok.error().in("line {} of the tokens", number);
  }
  return tokens;
}

Result<> StaticTokens::add(std::string_view token, Identity who) {
  if (token.empty()) return invalid("the token is empty");
  if (who.user.empty()) return invalid("the token has no user");
  if (find(token)) return fail(Code::kExists, "the token of '{}' has an owner already", who.user);
  tokens_.emplace_back(sha256(token), std::move(who));
  return {};
}

const Identity* StaticTokens::find(std::string_view token) const {
  const std::string digest = sha256(token);
  const Identity* found = nullptr;
  for (const auto& [known, who] : tokens_) {
    if (sameSecret(known, digest)) found = &who;
  }
  return found;
}

}  // namespace mangrove::apiserver
