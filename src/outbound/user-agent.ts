import { embedded } from '../embedded/index.ts';

/**
 * `Hearth/1.2.0 (+https://git.example.org)`: names the software and the URL of its administrator. Some servers reject
 * every request without it.
 */
export const userAgent = (baseUrl: string | null): string =>
  `Hearth/${embedded.version}${baseUrl === null ? '' : ` (+${baseUrl.replace(/\/$/, '')})`}`;

/** Headers of a request with this User-Agent, replacing any other. */
export function withUserAgent(headers: Readonly<Record<string, string>>, name: string): Record<string, string> {
  const others = Object.entries(headers).filter(([header]) => header.toLowerCase() !== 'user-agent');
  return { ...Object.fromEntries(others), 'User-Agent': name };
}
