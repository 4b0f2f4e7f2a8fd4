#include "frame/flags.h"

#include <cctype>
#include <charconv>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/os/files.h"
#include "base/text/go_bool.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "json/value.h"
#include "json/yaml.h"

namespace mangrove::frame {

struct Flags::Impl {
  struct Flag {
    Setter setter;
    CLI::Option* option = nullptr;
    bool boolean = false;  // takes no separate value
  };
  CLI::App app;
  std::string program;
  std::map<std::string, Flag, std::less<>> flags;
  std::string configFile;
  Result<> outcome;  // what a setter said, carried past CLI11's exception

  Result<> set(const std::string& name, std::string_view text);
  Result<std::string> known(const std::string& name) const;
  Result<std::vector<std::string>> normalised(const std::vector<std::string>& args) const;
  Result<> applyConfig();
  Result<> applyConfigEntry(const std::string& name, const json::Value& value);
};

namespace {

template <class Number>
Result<Number> parseNumber(std::string_view text) {
  Number value{};
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size()) {
    return invalid("'{}' is not a number this flag can hold", text);
  }
  return value;
}

bool looksLikeFlag(std::string_view word) {
  auto start = word.find_first_not_of('-');
  return start != std::string_view::npos && start >= 1 && start <= 2 &&
         std::isalpha(static_cast<unsigned char>(word[start]));
}

std::string scalarText(const json::Value& value) {
  return value.is_string() ? std::string(std::string_view(value.get_string())) : json::write(value);
}

// One letter takes one dash: people read "-o", CLI11 was told "--o". Columns stay where they are.
std::string shortNames(std::string text) {
  constexpr std::string_view kStart = "\n  --";
  for (size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, at + 1)) {
    const size_t name = at + kStart.size();
    if (name + 1 >= text.size() || (text[name + 1] != ' ' && text[name + 1] != '=')) continue;
    const size_t gap = text.find("  ", name);
    if (gap != std::string::npos) text.insert(gap, " ");
    text.erase(at + 3, 1);
  }
  return text;
}

}  // namespace

Result<> Flags::Impl::set(const std::string& name, std::string_view text) {
  auto done = flags.at(name).setter(text);
  if (!done) return done.error().in("{}{}", name.size() == 1 ? "-" : "--", name);
  return {};
}

Result<std::string> Flags::Impl::known(const std::string& name) const {
  if (flags.count(name)) return name;
  std::vector<std::string_view> names;
  for (const auto& [known, flag] : flags) names.push_back(known);
  return invalid("unknown flag --{}{} (--help lists those there are)", name,
                 didYouMean(name, names));
}

// Go's flag package takes -name and --name alike and lets a boolean stand alone; CLI11 gets the
// long, explicit form.
Result<std::vector<std::string>> Flags::Impl::normalised(
    const std::vector<std::string>& args) const {
  std::vector<std::string> words;
  bool over = false;
  for (const auto& arg : args) {
    over = over || arg == "--";
    if (over || !looksLikeFlag(arg) || arg == "-h" || arg == "--help" || arg == "-help") {
      words.push_back(arg == "-help" ? "--help" : arg);
      continue;
    }
    const std::string bare = arg.substr(arg.find_first_not_of('-'));
    auto name = known(bare.substr(0, bare.find('=')));
    if (!name) return pass(name.error());
    const bool alone = bare.size() == name->size() && flags.at(*name).boolean;
    const bool empty =
        bare.size() == name->size() + 1;  // CLI11 would take the next word for "--x="
    words.push_back("--" + (empty ? *name : bare) + (alone ? "=true" : ""));
    if (empty) words.emplace_back();
  }
  return words;
}

Flags::Flags(std::string program, std::string about) : impl_(std::make_unique<Impl>()) {
  impl_->app.name(program);
  impl_->app.description(program + " " + about);
  impl_->program = std::move(program);
}

Flags::~Flags() = default;

void Flags::add(std::string_view name, Setter setter, std::string_view defaultText,
                std::string_view help) {
  const std::string key(name);
  auto apply = [impl = impl_.get(), key](const std::vector<std::string>& texts) {
    for (const auto& text : texts) {
      impl->outcome = impl->set(key, text);
      if (!impl->outcome) throw CLI::ValidationError(key);
    }
  };
  auto* option = impl_->app.add_option_function<std::vector<std::string>>("--" + key, apply,
                                                                          std::string(help));
  option->default_str(std::string(defaultText))
      ->type_name("")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  impl_->flags[key] = {std::move(setter), option};
}

void Flags::add(std::string_view name, std::string& target, std::string_view help) {
  auto set = [&target](std::string_view text) -> Result<> {
    target = text;
    return {};
  };
  add(name, set, target, help);
}

void Flags::add(std::string_view name, int64_t& target, std::string_view help) {
  auto set = [&target](std::string_view text) {
    return parseNumber<int64_t>(text).map([&](int64_t v) { target = v; });
  };
  add(name, set, std::to_string(target), help);
}

void Flags::add(std::string_view name, double& target, std::string_view help) {
  auto set = [&target](std::string_view text) {
    return parseNumber<double>(text).map([&](double v) { target = v; });
  };
  add(name, set, fmt::format("{}", target), help);
}

void Flags::add(std::string_view name, Duration& target, std::string_view help) {
  auto set = [&target](std::string_view text) {
    return parseDuration(text).map([&](Duration v) { target = v; });
  };
  add(name, set, formatDuration(target), help);
}

void Flags::add(std::string_view name, std::vector<std::string>& target, std::string_view help) {
  auto set = [&target, first = true](std::string_view text) mutable -> Result<> {
    if (std::exchange(first, false)) target.clear();
    for (auto part : split(text, ',')) target.emplace_back(trim(part));
    return {};
  };
  add(name, set, join(target, ","), help);
}

void Flags::add(std::string_view name, bool& target, std::string_view help) {
  auto set = [&target](std::string_view text) {
    return parseGoBool(text).map([&](bool v) { target = v; });
  };
  add(name, set, target ? "true" : "false", help);
  impl_->flags.find(name)->second.boolean = true;
}

void Flags::positionals(std::string_view name, std::vector<std::string>& target,
                        std::string_view help) {
  impl_->app.add_option(std::string(name), target, std::string(help));
}

void Flags::hidden(std::string_view name, bool takesValue, Setter setter) {
  add(name, std::move(setter), "", "accepted and ignored");
  auto& flag = impl_->flags.find(name)->second;
  flag.option->group("");
  flag.boolean = !takesValue;
}

void Flags::ignore(std::span<const std::string_view> names) {
  for (auto name : names) hidden(name, false, [](std::string_view) -> Result<> { return {}; });
}

void Flags::withConfigFile() {
  add("config", impl_->configFile,
      "YAML file with any of these flags as 'name: value'; the command line wins");
}

Result<> Flags::Impl::applyConfigEntry(const std::string& name, const json::Value& value) {
  auto flag = known(name);
  if (!flag) return pass(flag.error());
  if (flags.at(name).option->count() > 0) return {};  // the command line wins
  if (value.is_object()) return invalid("--{}: a mapping is not a flag's value", name);
  if (!value.is_array()) return set(name, scalarText(value));
  for (const auto& element : value.get_array()) {
    if (auto done = set(name, scalarText(element)); !done) return done;
  }
  return {};
}

Result<> Flags::Impl::applyConfig() {
  if (configFile.empty()) return {};
  auto text = readFile(configFile);
  if (!text) return text.error().in("--config");
  auto document = json::parseYamlDocument(*text, configFile);
  if (!document) return document.error().in("--config");
  if (document->is_null()) return {};
  if (!document->is_object())
    return invalid("--config {}: want a mapping of flag names to values", configFile);
  for (const auto& [name, value] : document->get_object()) {
    if (auto done = applyConfigEntry(std::string(std::string_view(name)), value); !done) {
      return done.error().in("--config {}", configFile);
    }
  }
  return {};
}

Result<bool> Flags::parse(const std::vector<std::string>& args) {
  auto words = impl_->normalised(args);
  if (!words) return pass(words.error());
  try {
    impl_->app.parse(
        std::vector<std::string>(words->rbegin(), words->rend()));  // CLI11 pops from the back
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help());
    return false;
  } catch (const CLI::Error& e) {
    if (!impl_->outcome) return pass(impl_->outcome.error());
    return invalid("{}", e.what());
  }
  if (auto done = impl_->applyConfig(); !done) return pass(done.error());
  return true;
}

std::string Flags::help() const {
  return shortNames(impl_->app.help());
}

const std::string& Flags::program() const {
  return impl_->program;
}

}  // namespace mangrove::frame
