import { findLanguage, listLanguages, sourceLanguage } from './languages.ts';

/** Longer than the header of any browser; the rest is not read. */
const maxHeader = 1_024;
const maxRanges = 32;

/** Cache by header: browsers send a few hundred different ones. */
const known = new Map<string, string | null>();
const maxKnown = 500;

/**
 * The language of a reader: their own setting if that language still exists, else the best match for the browser's
 * header, else the server's.
 * @param setting the code in the account; null without one
 * @param accepted the header Accept-Language, unparsed (RFC 9110, section 12.5.4)
 * @param locale the language of the server
 */
export function chooseLanguage(
  setting: string | null | undefined,
  accepted: string | undefined,
  locale: string,
): string {
  if (setting != null && findLanguage(setting) !== null) return setting;
  return (accepted ? negotiated(accepted) : null) ?? (findLanguage(locale) === null ? sourceLanguage : locale);
}

function negotiated(header: string): string | null {
  const read = header.length > maxHeader ? header.slice(0, maxHeader) : header;
  let code = known.get(read);
  if (code === undefined) {
    if (known.size >= maxKnown) known.clear();
    known.set(read, (code = bestMatch(read)));
  }
  return code;
}

function bestMatch(header: string): string | null {
  const codes = listLanguages().map(({ code }) => code);
  const wanted = header
    .split(',', maxRanges)
    .map((part) => {
      const [range = '', ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { range, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ range, quality }) => /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/.test(range) && quality > 0 && quality <= 1)
    .sort((one, other) => other.quality - one.quality);
  for (const { range } of wanted) {
    const exact = codes.find((code) => code.toLowerCase() === range);
    // "Look-up" of RFC 4647, section 3.4: `de-AT` matches `de`.
    const found = exact ?? codes.find((code) => code === range.split('-')[0]);
    if (found !== undefined) return found;
  }
  return null;
}
