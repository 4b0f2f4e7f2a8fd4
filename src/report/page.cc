#include "report/page.h"

#include <fmt/format.h>

namespace mangrove::report {
namespace {

// The palette is Okabe and Ito's, darkened or lightened a little where contrast asks for it.
constexpr std::string_view kStyle = R"CSS(
:root{color-scheme:light dark;--ink:#1b2330;--soft:#5b6675;--line:#d5dae1;--paper:#fff;--card:#f6f8fa;
--c0:#0072b2;--c1:#8a6d00;--c2:#d55e00;--c3:#007a5a;--c4:#a3307c;--c5:#4b5563}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa6b5;--line:#333d4a;--paper:#12171e;--card:#1b222c;
--c0:#56b4e9;--c1:#e6c229;--c2:#ff8c42;--c3:#2fd0a0;--c4:#e58cc5;--c5:#aab4c0}}
*{box-sizing:border-box}body{margin:0 auto;max-width:60rem;padding:2rem 1rem 4rem;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,sans-serif}h1{font-size:1.6rem;margin:0 0 1rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{margin:.5rem 0;color:var(--ink)}.answer{font-size:1.25rem;border-left:.35rem solid var(--c3);padding:.6rem 1rem;background:var(--card)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;vertical-align:top}
th{white-space:normal}td small{color:var(--soft)}
th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:600}
figure{margin:1rem 0;background:var(--card);padding:1rem;border-radius:.5rem}figcaption{color:var(--soft);font-size:.9rem}
svg{width:100%;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:var(--soft)}svg .name{fill:var(--ink)}
.grid{stroke:var(--line);stroke-width:1}.s{fill:none;stroke-width:2}.b{stroke-width:2}
.k0{stroke:var(--c0)}.k1{stroke:var(--c1);stroke-dasharray:6 3}.k2{stroke:var(--c2);stroke-dasharray:2 3}.k3{stroke:var(--c3)}
.k4{stroke:var(--c4);stroke-dasharray:8 3 2 3}.k5{stroke:var(--c5)}.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}
.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}
)CSS";

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

namespace {

// An interval stands below its figure, so that wide tables fit.
std::string cellText(std::string_view cell) {
  const size_t at = cell.find(" [");
  if (at == std::string_view::npos) return escaped(cell);
  return fmt::format("{}<br><small>{}</small>", escaped(cell.substr(0, at)),
                     escaped(cell.substr(at + 1)));
}

}  // namespace

Page::Page(std::string_view title) : title_(escaped(title)) {}

void Page::heading(std::string_view text) {
  body_ += fmt::format("<h2>{}</h2>\n", escaped(text));
}

void Page::paragraph(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", escaped(text));
}

void Page::answer(std::string_view text) {
  body_ += fmt::format("<p class=\"answer\">{}</p>\n", escaped(text));
}

void Page::table(const std::vector<std::string>& head,
                 const std::vector<std::vector<std::string>>& rows) {
  body_ += "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& cell : head)
    body_ += fmt::format("<th scope=\"col\">{}</th>", escaped(cell));
  body_ += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (const std::string& cell : row) body_ += fmt::format("<td>{}</td>", cellText(cell));
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void Page::figure(const std::string& svg, std::string_view caption) {
  body_ += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, escaped(caption));
}

std::string Page::html() const {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n{2}</body></html>\n",
      title_, kStyle, body_);
}

}  // namespace mangrove::report
