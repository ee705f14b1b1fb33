import { invalid } from '../../kernel/index.ts';
import type { Mirror } from '../../mirrors/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewTime } from '../app/times.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import { translated } from '../../translation/index.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

const hourMs = 3_600_000;
/** Hours between two syncs. */
const intervals = translated([
  ['1', 'repository.mirror.every_hour'],
  ['8', 'repository.mirror.every_eight_hours'],
  ['24', 'repository.mirror.every_day'],
  ['168', 'repository.mirror.every_week'],
] as const);

const mirrorUrl = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/settings/mirror`;

function viewMirror(mirror: Mirror, now: number) {
  const { direction, url, state, isRunning, progress, lastError, lastOkAt, nextAt, isPaused, intervalMs, hasSecret } =
    mirror;
  return {
    direction,
    address: url,
    state,
    isRunning,
    progress,
    lastError,
    isPaused,
    hasSecret,
    isImport: intervalMs === null,
    isFailing: lastError !== null,
    isPlainHttp: url.startsWith('http:'),
    ssh: viewSsh(mirror),
    lastOk: lastOkAt === null ? null : viewTime(lastOkAt, now),
    next: isPaused ? null : viewTime(Math.max(nextAt, now), now),
  };
}

/** Null for a mirror that does not use SSH. */
function viewSsh({
  host,
  sshPublicKey,
  isWaitingForKey,
  hostKeyFingerprint,
  offeredFingerprint,
}: Mirror): SshView | null {
  if (sshPublicKey === null) return null;
  return { host, publicKey: sshPublicKey, isWaiting: isWaitingForKey, hostKeyFingerprint, offeredFingerprint };
}

interface SshView {
  host: string;
  /** Public key to add to the remote, one line. */
  publicKey: string;
  isWaiting: boolean;
  hostKeyFingerprint: string | null;
  offeredFingerprint: string | null;
}

async function mirrorPage(
  context: RepositoryPersonContext,
  { mirrors, imports, clock }: RepositoryDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { found, form, query } = context;
  const mirror = await mirrors.find(found.repository.id);
  const saved = {
    direction: mirror?.direction ?? 'push',
    address: mirror?.url ?? '',
    username: mirror?.username ?? '',
    interval: String(Math.round((mirror?.intervalMs ?? 8 * hourMs) / hourMs)),
    prune: mirror?.prune ?? true,
    releases: mirror?.withReleases ?? false,
  };
  const typed = {
    direction: form.text('direction'),
    address: form.text('address'),
    username: form.text('username'),
    interval: form.text('interval'),
    prune: form.text('prune') === 'yes',
    releases: form.text('releases') === 'yes',
  };
  return page('repository/mirror', {
    repository: viewRepositoryHeader(found),
    section: 'mirror',
    mirror: mirror === null ? null : viewMirror(mirror, clock.now()),
    hasImport: (await imports.find(found.repository.id)) !== null,
    intervals,
    // Secrets are never sent back in a page.
    form: refusal === null ? saved : typed,
    refusal,
    notice: viewFlashMessage(query),
  });
}

export const showMirror: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) =>
  mirrorPage(context, deps, null);

/**
 * Fields `direction`, `address`, `username`, `secret` (empty: unchanged), `interval` (hours), `prune`, `releases`,
 * `new_key`.
 */
export const saveMirror: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps): Promise<Reply> => {
  const { form, viewer, found } = context;
  return submitForm(
    async () => {
      const { isWaitingForKey } = await deps.mirrors.save(viewer, found, {
        direction: form.text('direction'),
        address: form.text('address'),
        username: form.text('username'),
        secret: form.text('secret'),
        intervalMs: /^\d{1,4}$/.test(form.text('interval')) ? Number(form.text('interval')) * hourMs : 8 * hourMs,
        prune: form.text('prune') === 'yes',
        withReleases: form.text('releases') === 'yes',
        newKey: form.text('new_key') === 'yes',
      });
      return seeOther(withFlashMessage(mirrorUrl(context), isWaitingForKey ? 'mirror-key' : 'mirror-saved'));
    },
    (refusal) => mirrorPage(context, deps, refusal),
  );
};

const done =
  (
    notice: string,
    work: (context: RepositoryPersonContext, deps: RepositoryDeps) => Promise<void>,
  ): Page<RepositoryPersonContext, RepositoryDeps> =>
  (context, deps) =>
    submitForm(
      async () => {
        await work(context, deps);
        return seeOther(withFlashMessage(mirrorUrl(context), notice));
      },
      (refusal) => mirrorPage(context, deps, refusal),
    );

export const syncMirror = done('mirror-sync', ({ found }, { mirrors }) => mirrors.sync(found.repository.id));
export const pauseMirror = done('mirror-paused', ({ viewer, found }, { mirrors }) =>
  mirrors.setPaused(viewer, found.repository.id, true),
);
export const resumeMirror = done('mirror-resumed', ({ viewer, found }, { mirrors }) =>
  mirrors.setPaused(viewer, found.repository.id, false),
);

/** Field `fingerprint` of the host key that the user verified. */
export const acceptMirrorHostKey = done('mirror-host-key', ({ viewer, found, form }, { mirrors }) =>
  mirrors.acceptHostKey(viewer, found.repository.id, form.text('fingerprint')),
);

/** Field `confirm`: `owner/name`. Turns a mirror into an independent repository. */
export const endMirror = done('mirror-ended', async ({ viewer, person, found, form }, { copies, mirrors }) => {
  const name = `${found.canonical.owner}/${found.canonical.name}`;
  if (form.text('confirm').trim() !== name)
    throw invalid('wrong_confirmation', `Type ${name} to confirm.`, { field: 'confirm' });
  if (found.repository.copiedFrom === null) await mirrors.end(viewer, found);
  else await copies.makeOwn(viewer, person.id, found.repository.id);
});
