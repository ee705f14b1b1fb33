import { embedded } from '../embedded/index.ts';

/**
 * `Hearth/1.2.0 (+https://git.example.org)`: which program asks, and where its administrator can be found. Some servers
 * refuse every request without it.
 */
export const userAgent = (baseUrl: string | null): string =>
  `Hearth/${embedded.version}${baseUrl === null ? '' : ` (+${baseUrl.replace(/\/$/, '')})`}`;

/** The headers of a request with this User-Agent, whatever its maker wrote. */
export function withUserAgent(headers: Readonly<Record<string, string>>, name: string): Record<string, string> {
  const others = Object.entries(headers).filter(([header]) => header.toLowerCase() !== 'user-agent');
  return { ...Object.fromEntries(others), 'User-Agent': name };
}
