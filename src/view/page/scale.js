// Scales of sliders, made from a parameter's record: where a value lies, and which value lies there.

export const positions = 1000;

const unlimited = 1e6;
const digits = 3;

/** The number and the sign that a text begins and ends with: "1.5%" is 1.5 and "%". */
export function partsOf(text) {
  const [, number, sign] = /^\s*(-?[\d.]+(?:e-?\d+)?)\s*(%?)\s*$/i.exec(text) ?? [null, "", ""];
  return { number: number === "" ? NaN : Number(number), percent: sign === "%" };
}

/** The value with three digits; a whole number from 100 on. */
export function rounded(value) {
  if (Math.abs(value) >= 100) return Math.round(value);
  return Number(value.toPrecision(digits));
}

const isLength = ({ kind, unit }) => kind === "length" || unit === "px";

/** A slider's largest value: the record's if a slider can resolve it, else what fits the picture and the default. */
function upperEnd(parameter, percent, longerSide) {
  const { minimum, kind } = parameter;
  const most = parameter.maximum ?? Infinity;
  const usual = Math.abs(partsOf(parameter.default ?? "").number) || 0;
  if (percent) return 10;
  if (isLength(parameter)) return Math.min(most, Math.max(32, Math.round(longerSide / 8)));
  if (parameter.unit === "%") return Math.min(most, 100);
  if (most - (minimum ?? -Infinity) <= 720 || (minimum > 0 && !usual)) return most;
  return Math.min(most, kind === "integer" ? Math.max(16, 4 * usual) : Math.max(1, 4 * usual));
}

function lowerEnd(parameter, high) {
  const minimum = parameter.minimum ?? -Infinity;
  return minimum < -1000 ? -high : minimum;
}

/** The curve of a slider: ratios where values span decades from above 0, finer near 0 for lengths, even otherwise. */
function curveOf(parameter, low, high) {
  if (low > 0 && high / low > 1000) {
    const ratio = high / low;
    return { to: (share) => low * ratio ** share, from: (value) => Math.log(value / low) / Math.log(ratio) };
  }
  const power = low >= 0 && (isLength(parameter) || high > 50 * Math.max(1, low)) && parameter.unit !== "%" ? 2.5 : 1;
  return {
    to: (share) => low + (high - low) * share ** power,
    from: (value) => ((value - low) / (high - low)) ** (1 / power),
  };
}

/** {position(value), value(position)} for a parameter, with room for the value that it has. */
export function scaleOf(parameter, text, longerSide) {
  const { number, percent } = partsOf(text);
  const usual = partsOf(parameter.default ?? "").number;
  let high = upperEnd(parameter, percent, longerSide);
  let low = lowerEnd(parameter, high);
  if (low > 0 && usual > 0 && parameter.maximum / low > unlimited) [low, high] = [usual / 1000, usual * 1000];
  if (number > high) high = Math.min(percent ? 1000 : parameter.maximum ?? Infinity, 2 * number);
  if (number < low) low = number;
  const curve = curveOf(parameter, low, high);
  const whole = parameter.whole && !percent;
  const odd = whole && /\bodd\b/.test(parameter.help);
  return {
    position: (value) => Math.round(positions * curve.from(Math.min(high, Math.max(low, value)))),
    value: (position) => {
      const value = curve.to(position / positions);
      if (!whole) return rounded(value);
      return odd ? 2 * Math.floor(value / 2) + 1 : Math.round(value);
    },
    next: (value, direction) => {
      if (whole) return value + direction * (odd ? 2 : 1);
      const step = 10 ** Math.floor(Math.log10(Math.max(1e-9, Math.abs(value) || (high - low) / 100)) - 1);
      return rounded(value + direction * step);
    },
  };
}
