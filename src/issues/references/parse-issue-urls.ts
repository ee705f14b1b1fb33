/** The URL of an issue after the base URL; its parts are bounded, so matching is linear in the text. */
const path = String.raw`/repos/([A-Za-z0-9._-]{1,40})/([A-Za-z0-9._-]{1,100})/(?:issues|pulls)/([1-9]\d{0,8})(?!\w)`;

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/**
 * Replaces full issue URLs of this server by `owner/name#7`, so that they become references.
 * @param baseUrl the public URL of this server; without one, no URL is known as its own
 */
export function shortenOwnUrls(text: string, baseUrl: string | null): string {
  if (baseUrl === null || !text.includes(baseUrl)) return text;
  return text.replace(new RegExp(`(?<![\\w/])${escapePattern(baseUrl)}${path}`, 'g'), '$1/$2#$3');
}
