import type { z } from 'zod';
import { notFound } from '../../../kernel/index.ts';
import type { Mirror } from '../../../mirrors/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { hostKeyAcceptance, mirror as mirrorShape, mirrorInput } from '../shapes/schemas.ts';
import { isoTimeOrNull } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}/mirror';

function show(mirror: Mirror | null): z.output<typeof mirrorShape> {
  if (mirror === null) throw notFound('mirror_not_found', 'This repository is not a mirror.');
  const {
    direction,
    url,
    username,
    hasSecret,
    state,
    sshPublicKey,
    hostKeyFingerprint,
    offeredFingerprint,
    intervalMs,
    prune,
    withReleases,
    failures,
    lastError,
    lastOkAt,
    nextAt,
    isPaused,
  } = mirror;
  return {
    direction,
    address: url,
    username,
    hasSecret,
    state,
    publicKey: sshPublicKey,
    hostKeyFingerprint,
    offeredHostKeyFingerprint: offeredFingerprint,
    intervalMs,
    prune,
    releases: withReleases,
    failures,
    lastError,
    lastOkAt: isoTimeOrNull(lastOkAt),
    nextAt: isPaused ? null : isoTimeOrNull(nextAt),
  };
}

const getMirror = operation({
  id: 'getMirror',
  method: 'GET',
  path: at,
  tag: 'Mirrors',
  summary: 'Get a repository’s mirror settings',
  access: 'repository:owner',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: mirrorShape,
  run: async ({ found, deps }) => json(show(await deps.mirrors.find(found.repository.id))),
});

const saveMirror = operation({
  id: 'saveMirror',
  method: 'PUT',
  path: at,
  tag: 'Mirrors',
  summary: 'Convert a repository to a mirror, or edit its mirror settings',
  description:
    'Hearth connects to the URL before storing it. For SSH, it fetches the host key and trusts it from then on; add the `publicKey` from the response to the remote server, then start the mirror with `syncMirror`.',
  access: 'repository:owner',
  cost: 'objects',
  status: 200,
  refuses: [409],
  body: mirrorInput,
  response: mirrorShape,
  run: async ({
    viewer,
    found,
    body: { intervalMs = 8 * 3_600_000, prune = true, releases: withReleases, ...input },
    deps,
  }) => json(show(await deps.mirrors.save(viewer, found, { ...input, intervalMs, prune, withReleases }))),
});

const endMirror = operation({
  id: 'endMirror',
  method: 'DELETE',
  path: at,
  tag: 'Mirrors',
  summary: 'Convert a mirror to a regular repository with the same content',
  access: 'repository:owner',
  cost: 'objects',
  status: 204,
  refuses: [409],
  async run({ viewer, found, deps }) {
    await deps.mirrors.end(viewer, found);
    return noContent();
  },
});

const syncMirror = operation({
  id: 'syncMirror',
  method: 'POST',
  path: `${at}/sync`,
  tag: 'Mirrors',
  summary: 'Schedule a sync of a mirror',
  access: 'repository:owner',
  cost: 'rows',
  status: 204,
  refuses: [409],
  async run({ found, deps }) {
    await deps.mirrors.sync(found.repository.id);
    return noContent();
  },
});

const acceptMirrorHostKey = operation({
  id: 'acceptMirrorHostKey',
  method: 'POST',
  path: `${at}/host-key`,
  tag: 'Mirrors',
  summary: 'Trust the host key that the remote currently presents',
  access: 'repository:owner',
  cost: 'rows',
  status: 204,
  refuses: [409],
  body: hostKeyAcceptance,
  async run({ viewer, found, body, deps }) {
    await deps.mirrors.acceptHostKey(viewer, found.repository.id, body.fingerprint);
    return noContent();
  },
});

const pauseMirror = operation({
  id: 'pauseMirror',
  method: 'POST',
  path: `${at}/pause`,
  tag: 'Mirrors',
  summary: 'Pause a mirror',
  access: 'repository:owner',
  cost: 'rows',
  status: 204,
  refuses: [409],
  async run({ viewer, found, deps }) {
    await deps.mirrors.setPaused(viewer, found.repository.id, true);
    return noContent();
  },
});

const resumeMirror = operation({
  id: 'resumeMirror',
  method: 'POST',
  path: `${at}/resume`,
  tag: 'Mirrors',
  summary: 'Resume a mirror',
  access: 'repository:owner',
  cost: 'rows',
  status: 204,
  refuses: [409],
  async run({ viewer, found, deps }) {
    await deps.mirrors.setPaused(viewer, found.repository.id, false);
    return noContent();
  },
});

export const mirrorOperations = [
  getMirror,
  saveMirror,
  endMirror,
  syncMirror,
  acceptMirrorHostKey,
  pauseMirror,
  resumeMirror,
] as const;
