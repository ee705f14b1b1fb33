import { z } from 'zod';
import type { PersonViewer } from '../../../access/index.ts';
import { giteaTime, noTime } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { conflict, notFound } from '../../../kernel/index.ts';
import type { Mirror } from '../../../mirrors/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';

/** The push mirror of a repository in Gitea's list form: here there is at most one. */
const at = '/repos/{owner}/{name}/push_mirrors';
const one = `${at}/{mirror}` as const;
const common = { tag: 'Mirrors', access: 'repository:owner', cost: 'rows' } as const;

const pushMirror = z
  .strictObject({
    repo_name: z.string(),
    remote_name: z.string(),
    remote_address: z.string(),
    created: z.iso.datetime(),
    last_update: z.iso.datetime(),
    last_error: z.string(),
    interval: z.string(),
    sync_on_commit: z.boolean(),
    public_key: z.string().describe('Public key of an SSH mirror; empty otherwise'),
  })
  .meta({ id: 'PushMirror' });

/** Name of a mirror in URLs. */
const remoteName = 'mirror';

const show = (mirror: Mirror, { canonical }: Found): z.output<typeof pushMirror> => ({
  repo_name: canonical.name,
  remote_name: remoteName,
  remote_address: mirror.url,
  created: giteaTime(mirror.createdAt),
  last_update: mirror.lastOkAt === null ? noTime : giteaTime(mirror.lastOkAt),
  last_error: mirror.lastError ?? '',
  interval: mirror.intervalMs === null ? '' : `${Math.round(mirror.intervalMs / 1000)}s`,
  sync_on_commit: true,
  public_key: mirror.sshPublicKey ?? '',
});

async function mirrorOf({ mirrors }: WebDeps, { repository }: Found): Promise<Mirror | null> {
  const found = await mirrors.find(repository.id);
  return found?.direction === 'push' ? found : null;
}

/** Throws `mirror_not_found`. */
async function named(deps: WebDeps, found: Found, name: string): Promise<Mirror> {
  const mirror = await mirrorOf(deps, found);
  if (mirror === null || name !== remoteName) throw notFound('mirror_not_found', 'There is no such mirror.');
  return mirror;
}

const units = { h: 3_600_000, m: 60_000, s: 1_000 };

/** `8h0m0s` in milliseconds; eight hours if it is invalid. */
function durationIn(text: string): number {
  if (!/^(?:\d{1,9}[hms])+$/.test(text)) return 8 * units.h;
  return [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units],
    0,
  );
}

async function add(
  deps: WebDeps,
  viewer: PersonViewer,
  found: Found,
  { address, username, secret, interval }: { address: string; username: string; secret: string; interval: string },
) {
  if ((await deps.mirrors.find(found.repository.id)) !== null)
    throw conflict('mirror_exists', 'This repository is a mirror, or has one already.');
  const input = {
    direction: 'push',
    address,
    username,
    secret,
    prune: true,
    withReleases: false,
    mayBeUnreachable: true,
  } as const;
  return deps.mirrors.save(viewer, found, { ...input, intervalMs: durationIn(interval) });
}

export const pushMirrorOperations = [
  operation({
    ...common,
    id: 'listPushMirrors',
    method: 'GET',
    path: at,
    summary: 'List a repository’s push mirrors (at most one)',
    status: 200,
    response: z.array(pushMirror),
    async run({ found, deps }) {
      const mirror = await mirrorOf(deps, found);
      return json(mirror === null ? [] : [show(mirror, found)]);
    },
  }),
  operation({
    ...common,
    id: 'addPushMirror',
    method: 'POST',
    path: at,
    summary: 'Add a push mirror',
    description: 'If the mirror is unreachable, the next sync tries again. A URL that is not allowed is rejected.',
    cost: 'objects',
    status: 201,
    refuses: [409],
    refusesUnknownKeys: true,
    body: z.object({
      remote_address: z.string().max(2_000),
      remote_username: z.string().max(255).default(''),
      remote_password: z.string().max(500).default(''),
      interval: z.string().max(50).default('8h0m0s').describe('8h0m0s'),
      sync_on_commit: z.boolean().optional().describe('Every push is mirrored immediately'),
      branch_filter: z.literal('').optional(),
    }),
    response: pushMirror,
    async run({ viewer, found, body, deps }) {
      const { remote_address: address, remote_username: username, remote_password: secret, interval } = body;
      await add(deps, viewer, found, { address, username, secret, interval });
      return created(show((await mirrorOf(deps, found))!, found));
    },
  }),
  operation({
    ...common,
    id: 'getPushMirror',
    method: 'GET',
    path: one,
    summary: 'Get a push mirror',
    status: 200,
    refuses: [404],
    response: pushMirror,
    run: async ({ found, params, deps }) => json(show(await named(deps, found, params.mirror), found)),
  }),
  operation({
    ...common,
    id: 'deletePushMirror',
    method: 'DELETE',
    path: one,
    summary: 'Remove a push mirror',
    cost: 'objects',
    status: 204,
    refuses: [404, 409],
    async run({ viewer, found, params, deps }) {
      await named(deps, found, params.mirror);
      await deps.mirrors.end(viewer, found);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'syncPushMirrors',
    method: 'POST',
    path: '/repos/{owner}/{name}/push_mirrors-sync',
    summary: 'Schedule a sync of a push mirror',
    status: 200,
    refuses: [404, 409],
    async run({ found, deps }) {
      await named(deps, found, remoteName);
      await deps.mirrors.sync(found.repository.id);
      return noContent();
    },
  }),
];
