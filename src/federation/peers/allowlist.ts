import { isNotNull } from '../../db/index.ts';
import { In } from 'typeorm';
import type { Database } from '../../db/index.ts';
import type { BlockList } from '../block-list.ts';
import type { FederationSettings } from '../deps.ts';
import { peerSchema } from '../schema/peer-schema.ts';

/** The entries that would allow a URL: its host, and its host with the port. */
export function entriesFor(url: URL, devAllowInsecure: boolean): string[] {
  const standard = url.protocol === 'http:' ? '80' : '443';
  const exact = `${url.hostname}:${url.port === '' ? standard : url.port}`;
  // A bare name allows only the default port: another port is another service on that machine.
  return url.port === '' || devAllowInsecure ? [url.hostname, exact] : [exact];
}

/**
 * Whether a host is allowed (SPEC §5): exact names, ignoring case, from the settings and from pairings. An empty list
 * denies every server. Pairings are read on each use, since a command in another process may have added one.
 */
export function createAllowlist({
  db,
  settings,
  blocks,
}: {
  db: Database;
  blocks: BlockList;
  settings: Pick<FederationSettings, 'allowlist' | 'devAllowInsecure'>;
}): (url: URL) => Promise<boolean> {
  const listed = new Set(settings.allowlist);
  return async (url) => {
    const entries = entriesFor(url, settings.devAllowInsecure);
    const isListed = entries.some((entry) => listed.has(entry));
    // A block also applies to servers on the list.
    if (isListed) return !(await blocks.hasHost(url.hostname));
    if (await blocks.hasHost(url.hostname)) return false;
    return db.read.existsBy(peerSchema, { host: In(entries), pairedAt: isNotNull() });
  };
}
