import { waitAtMost } from '../../kernel/index.ts';
import { parseJson } from '../actors/fetch-document.ts';
import { asObject, cleanText, webUrl } from '../documents/json-fields.ts';
import type { FederationDeps } from '../deps.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import { peerSchema } from '../schema/peer-schema.ts';

/** Software whose users read notes and whose inboxes refuse a Push. */
const microblogs: ReadonlySet<string> = new Set(
  `mastodon gotosocial pleroma akkoma misskey sharkey firefish iceshrimp iceshrimp.net foundkey friendica mitra snac
  hubzilla streams forte pixelfed takahe honk hometown fedibird bookwyrm wafrn`.split(/\s+/),
);

/** Software that accepts a Push, whether or not its actors name repositories. */
const forges: ReadonlySet<string> = new Set(['hearth', 'forgejo', 'gitea', 'gitlab', 'vervis']);

/**
 * The kind of activity that followers on a server read. A server without a software name may be a forge. For a name in
 * neither list, the follower decides: actors of forges name their repositories.
 */
function readingOf(software: string | null, { type, repositoriesUrl }: Follower): 'note' | null {
  if (software === null || forges.has(software)) return null;
  if (microblogs.has(software)) return 'note';
  return type === 'Repository' || repositoriesUrl !== null ? null : 'note';
}

type Follower = Pick<RemoteActor, 'id' | 'type' | 'repositoriesUrl'>;

const refreshMs = 24 * 3_600_000;
/** Time limit after which a Follow no longer waits; a later result serves the next Follow. */
const waitMs = 3_000;
const maxBytes = 64 * 1024;

type Deps = Pick<FederationDeps, 'db' | 'outbound' | 'clock'>;

/** Determines the software of another server at most once a day; see `createSoftwareRecorder`. */
type LearnSoftware = (follower: Follower) => Promise<void>;

/**
 * Reads the NodeInfo of a host when one of its actors follows a local subject, and records the software and the kind of
 * activity for its followers. A server without a usable NodeInfo counts as a forge for a day. Never throws.
 */
export function createSoftwareRecorder(deps: Deps): LearnSoftware {
  const running = new Map<string, Promise<void>>();

  async function learn(follower: Follower): Promise<void> {
    const { origin, host } = new URL(follower.id);
    const known = await deps.db.read.findOneBy(peerSchema, { host });
    if (known?.softwareAt != null && deps.clock.now() - known.softwareAt < refreshMs) return;
    const software = await readSoftware(deps, origin, host).catch(() => null);
    const reads = readingOf(software, follower);
    await deps.db.write(({ manager, now }) =>
      manager.query(
        `INSERT INTO federation_peers (host, software, software_at, reads) VALUES (?, ?, ?, ?)
         ON CONFLICT (host) DO UPDATE SET software = excluded.software, software_at = excluded.software_at,
           reads = excluded.reads`,
        [host, software, now, reads],
      ),
    );
  }

  return async (follower) => {
    const { host } = new URL(follower.id);
    const learning = running.get(host) ?? learn(follower).finally(() => running.delete(host));
    running.set(host, learning);
    // After the timeout, no caller waits for a database error.
    learning.catch(() => {});
    await waitAtMost(learning, waitMs);
  };
}

/** The software name in the newest NodeInfo that the host links to on itself; null if there is none. */
export async function readSoftware(
  { outbound }: Pick<Deps, 'outbound'>,
  origin: string,
  host: string,
): Promise<string | null> {
  const read = async (url: string) => {
    const headers = { Host: host, Accept: 'application/json' };
    const response = await outbound.send({ method: 'GET', url, headers, maxBytes });
    return response.status === 200 ? parseJson(response.body, url) : {};
  };
  const { links } = await read(`${origin}/.well-known/nodeinfo`);
  const addresses = (Array.isArray(links) ? links.slice(0, 20) : []).flatMap((link) => {
    const { rel, href } = asObject(link);
    const isSchema = typeof rel === 'string' && rel.startsWith('http://nodeinfo.diaspora.software/ns/schema/2.');
    const url = isSchema ? webUrl(href) : null;
    return url?.origin === origin ? [{ rel: String(rel), href: url.href }] : [];
  });
  const newest = addresses.sort((a, b) => (a.rel < b.rel ? 1 : -1))[0];
  if (newest === undefined) return null;
  const { name } = asObject((await read(newest.href))['software']);
  return cleanText(name, 100).toLowerCase() || null;
}
