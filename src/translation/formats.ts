import { currentLocale } from './translate.ts';

/** Formats are expensive to create and few: one per locale and kind. */
function perLocale<Format>(make: (locale: string) => Format): () => Format {
  const made = new Map<string, Format>();
  return () => {
    const locale = currentLocale();
    let format = made.get(locale);
    if (format === undefined) made.set(locale, (format = make(locale)));
    return format;
  };
}

const numbers = perLocale((locale) => new Intl.NumberFormat(locale));
const options = perLocale((locale) => new Intl.ListFormat(locale, { type: 'disjunction' }));
const lists = perLocale((locale) => new Intl.ListFormat(locale, { type: 'conjunction' }));

/** A number in the current language: `1,204`, `1.204`. */
export const formatNumber = (value: number): string => numbers().format(value);

/** `a, b or c` in the current language. */
export const formatOptions = (items: readonly string[]): string => options().format(items);

/** `a, b and c` in the current language. */
export const formatList = (items: readonly string[]): string => lists().format(items);

/**
 * A date format that follows the current language; the options are fixed at its definition.
 * @param options of Intl; UTC unless they name a time zone
 */
export function dateFormat(options: Intl.DateTimeFormatOptions): (ms: number | Date) => string {
  const formats = perLocale((locale) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }));
  return (ms) => formats().format(ms);
}

/** A format of relative times that follows the current language: `2 hours ago`. */
export const relativeFormat = perLocale((locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
/** A number format with further options, such as one decimal place or a unit. */
export function numberFormat(options: Intl.NumberFormatOptions): (value: number) => string {
  const formats = perLocale((locale) => new Intl.NumberFormat(locale, options));
  return (value) => formats().format(value);
}
