// Reading quantities. The grammar is Kubernetes': [+-] digits [. digits] suffix, where the suffix
// is n u m k M G T P E, Ki … Ei, or e/E with a signed exponent. Usual amounts stay in registers;
// only more than 19 digits take the slow way.

#include <algorithm>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/number/quantity.h"
#include "base/number/wide_decimal.h"
#include "base/text/strings.h"

namespace mangrove {
namespace {

using Format = Quantity::Format;

constexpr int kNano = -WideDecimal::kFractionDigits;
constexpr size_t kFastDigits = 19;  // any 19 digits fit 64 bits, and times 2^60 they fit 128
constexpr int64_t kMaxIntegerDigits = 1000;  // amounts stay below 10^1000
constexpr int64_t kExponentClamp = 100000000;

struct Suffix {
  Format format = Format::kDecimalSI;
  int64_t decimal = 0;  // power of ten
  int binary = 0;       // power of two
};

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<int> decimalSuffix(char letter) {
  switch (letter) {
    case 'n':
      return -9;
    case 'u':
      return -6;
    case 'm':
      return -3;
    case 'k':
      return 3;
    case 'M':
      return 6;
    case 'G':
      return 9;
    case 'T':
      return 12;
    case 'P':
      return 15;
    case 'E':
      return 18;
    default:
      return std::nullopt;
  }
}

std::optional<Suffix> exponentSuffix(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  const std::optional<int64_t> exponent = parseInt<int64_t>(text);
  if (!exponent) return std::nullopt;
  // Clamping changes no result: such amounts are zero, the smallest one, or refused.
  return Suffix{Format::kDecimalExponent, std::clamp(*exponent, -kExponentClamp, kExponentClamp),
                0};
}

std::optional<Suffix> parseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  if (text.size() == 1) {
    const std::optional<int> power = decimalSuffix(text[0]);
    return power ? std::optional(Suffix{Format::kDecimalSI, *power, 0}) : std::nullopt;
  }
  if (text.size() == 2 && text[1] == 'i') {
    const size_t step = std::string_view("KMGTPE").find(text[0]);
    if (step == std::string_view::npos) return std::nullopt;
    return Suffix{Format::kBinarySI, 0, static_cast<int>(10 * (step + 1))};
  }
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  return exponentSuffix(text.substr(1));
}

}  // namespace

// One text on its way to a Quantity.
class QuantityParser {
 public:
  explicit QuantityParser(std::string_view text) : text_(text) {}

  Result<Quantity> run() {
    if (text_.empty()) return invalid("quantity '' is empty: want a number such as 2, 500m or 4Gi");
    scanNumber();
    const std::optional<Suffix> suffix = parseSuffix(rest_);
    if (!suffix) return badSuffix();
    suffix_ = *suffix;
    scale_ = suffix_.decimal - static_cast<int64_t>(fraction_.size());
    if (integer_.empty() && fraction_.empty()) return withoutDigits();
    if (significant_ == 0) return zero();
    if (significantInteger_ + suffix_.decimal > kMaxIntegerDigits) return tooLarge();
    return significant_ <= kFastDigits ? fast() : slow();
  }

 private:
  void scanNumber() {
    size_t at = 0;
    if (text_[0] == '-' || text_[0] == '+') at = 1;
    negative_ = text_[0] == '-';
    integer_ = digitsAt(at);
    at += integer_.size();
    if (at < text_.size() && text_[at] == '.') {
      fraction_ = digitsAt(at + 1);
      at += 1 + fraction_.size();
    }
    rest_ = text_.substr(at);
    countSignificant();
  }

  std::string_view digitsAt(size_t at) const {
    size_t end = at;
    while (end < text_.size() && isDigit(text_[end])) ++end;
    return text_.substr(at, end - at);
  }

  // Digits from the first that is not 0 to the end of the fraction, and how many of them stand
  // before the point (negative: zeros after it).
  void countSignificant() {
    const size_t inInteger = std::min(integer_.find_first_not_of('0'), integer_.size());
    const size_t inFraction = std::min(fraction_.find_first_not_of('0'), fraction_.size());
    if (inInteger < integer_.size()) {
      significant_ = integer_.size() - inInteger + fraction_.size();
      significantInteger_ = static_cast<int64_t>(integer_.size() - inInteger);
    } else {
      significant_ = fraction_.size() - inFraction;
      significantInteger_ = -static_cast<int64_t>(inFraction);
    }
  }

  Failure badSuffix() const {
    if (rest_.size() == text_.size()) {
      return invalid("quantity '{}' does not start with a number: want one such as 2, 500m or 4Gi",
                     text_);
    }
    return invalid(
        "quantity '{}' ends with '{}': want nothing, one of n u m k M G T P E, "
        "one of Ki Mi Gi Ti Pi Ei, or an exponent such as e3",
        text_, rest_);
  }

  Result<Quantity> tooLarge() const {
    if (suffix_.format == Format::kBinarySI) return negative_ ? -largestBinary() : largestBinary();
    return invalid("quantity '{}' is too large: want less than 10^{}", shortened(),
                   kMaxIntegerDigits);
  }

  std::string shortened() const {
    constexpr size_t kShown = 40;
    return text_.size() <= kShown ? std::string(text_) : std::string(text_.substr(0, kShown)) + "…";
  }

  // Kubernetes reads a sign, a point or a suffix alone as 0, but only where its own short way gets
  // that far.
  Result<Quantity> withoutDigits() const {
    constexpr int kLargestBinary = 40;
    const bool accepted = suffix_.format == Format::kBinarySI ? suffix_.binary <= kLargestBinary
                                                              : suffix_.decimal >= kNano;
    if (!accepted)
      return invalid("quantity '{}' has no digits: want a number such as 2, 500m or 4Gi", text_);
    return zero();
  }

  Quantity zero() const { return Quantity(Int128{0}, 0, suffix_.format); }

  Quantity fast() const {
    uint64_t digits = 0;
    for (char c : integer_) digits = digits * 10 + static_cast<uint64_t>(c - '0');
    for (char c : fraction_) digits = digits * 10 + static_cast<uint64_t>(c - '0');
    Uint128 amount = static_cast<Uint128>(digits) << suffix_.binary;
    int64_t scale = scale_;
    bool cut = false;
    for (; scale < kNano && amount != 0; ++scale) {
      cut |= amount % 10 != 0;
      amount /= 10;
    }
    if (cut) ++amount;
    scale = std::max<int64_t>(scale, kNano);
    const auto magnitude = static_cast<Int128>(amount);
    return finished(
        Quantity(negative_ ? -magnitude : magnitude, static_cast<int>(scale), suffix_.format));
  }

  Quantity slow() const {
    std::string digits = std::string(integer_).append(fraction_);
    if (suffix_.binary > 0) digits = timesPowerOfTwo(digits, suffix_.binary);
    bool cut = false;
    if (scale_ < kNano) {
      const size_t keep =
          digits.size() - std::min(digits.size(), static_cast<size_t>(kNano - scale_));
      cut = digits.find_first_not_of('0', keep) != std::string::npos;
      digits.resize(keep);
    }
    const auto shift = static_cast<size_t>(std::max<int64_t>(scale_ - kNano, 0));
    WideDecimal amount(false, digits, shift);
    if (cut) amount = amount.plus(WideDecimal(Int128{1}, 0));
    return finished(Quantity(negative_ ? amount.negated() : amount, suffix_.format));
  }

  static std::string timesPowerOfTwo(std::string_view digits, int exponent) {
    constexpr int kStep = 30;
    WideDecimal product(false, digits, 0);
    for (; exponent > 0; exponent -= kStep) product.multiply(1u << std::min(exponent, kStep));
    return product.digits();
  }

  static Quantity largestBinary() {
    return Quantity::of(std::numeric_limits<int64_t>::max(), 0, Format::kBinarySI);
  }

  // Binary amounts are capped at the ends of int64 (symmetric), and shown as decimal ones below 1.
  Quantity finished(Quantity amount) const {
    if (suffix_.format != Format::kBinarySI) return amount;
    Quantity most = largestBinary();
    const Quantity one = Quantity::of(1);
    if (amount > most) return most;
    if (amount < -most) return -most;
    return amount < one && amount > -one ? amount.withFormat(Format::kDecimalSI) : amount;
  }

  std::string_view text_;
  std::string_view integer_;
  std::string_view fraction_;
  std::string_view rest_;
  size_t significant_ = 0;
  int64_t significantInteger_ = 0;
  int64_t scale_ = 0;
  Suffix suffix_;
  bool negative_ = false;
};

Result<Quantity> Quantity::parse(std::string_view text) {
  return QuantityParser(text).run();
}

Result<Quantity> Quantity::parseJson(std::string_view text) {
  return parse(trim(text));
}

}  // namespace mangrove
