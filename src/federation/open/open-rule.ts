import { isIP } from 'node:net';
import type { BlockList } from '../block-list.ts';
import type { FederationSettings } from '../deps.ts';

/**
 * The unlisted servers that are contacted while `federation.open_followers` is on: all that are not blocked, by host
 * name and on the default port. The connection later checks that the address is public.
 */
export function createOpenRule({
  settings: { origin, devAllowInsecure },
  blocks,
}: {
  settings: Pick<FederationSettings, 'origin' | 'devAllowInsecure'>;
  blocks: BlockList;
}): (url: URL) => Promise<boolean> {
  return async (url) => {
    if (origin === '' || url.host === new URL(origin).host) return false;
    if (!devAllowInsecure && (url.port !== '' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)) return false;
    if (!devAllowInsecure && !url.hostname.includes('.')) return false;
    return !(await blocks.hasHost(url.hostname));
  };
}
