const digits = 15;

/**
 * Formats a number as the expression language does: 15 significant digits, with an exponent of at least two digits from
 * 1E+15 and up to 1E-05. Both kinds of runners format it this way; the library uses up to 17 digits and no exponent.
 */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const [mantissa = '', power = '0'] = value.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  if (exponent > -5 && exponent < digits) return String(Number(value.toPrecision(digits)));
  const sign = exponent < 0 ? '-' : '+';
  return `${Number(mantissa)}E${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
