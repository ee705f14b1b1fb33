import type { BlobRange, Remote } from '../git/index.ts';
import { eachLimit, isBranchOrTag, isDomainError } from '../kernel/index.ts';
import type { Located } from '../repositories/index.ts';
import type { MirrorDeps } from './deps.ts';
import type { AllowanceLeft } from './copy-allowance.ts';
import { failed, lfsRemote } from './lfs-remote.ts';

/** Limit of concurrent object transfers. */
const atOnce = 4;
/** Limit of known refs, whose objects the remote surely has. */
const maxKnownTips = 2_000;

/**
 * Fetches the Git LFS objects named by files of the new commits. Fetches all available objects; then throws
 * `remote_lfs_failed` if some did not arrive, so that the next run of the mirror tries again.
 * @param allowance size allowance of a kept copy; throws `copy_too_large` before an object exceeds it
 * @returns the objects that the remote has lost; the first ones if it has no Git LFS at all
 */
export async function fetchLfsObjects(
  deps: MirrorDeps,
  { repository, path }: Located,
  remote: Remote,
  range: BlobRange,
  signal: AbortSignal,
  allowance: AllowanceLeft | null = null,
): Promise<string[]> {
  const { lfs, logger } = deps;
  if (!(await lfs.mirroring.takesObjects(repository.id))) return [];
  const client = lfsRemote(deps, remote, signal);
  const lacking: string[] = [];
  let [wanted, lost, why] = [0, 0, ''];
  for await (const pointers of lfs.mirroring.missing(repository.id, path, range)) {
    signal.throwIfAborted();
    const answer = await client.batch('download', pointers);
    if (answer === null) {
      logger.info('mirror.without_lfs', { repositoryId: repository.id });
      return pointers.map(({ oid }) => oid);
    }
    allowance?.take(pointers.reduce((sum, { bytes }) => sum + bytes, 0));
    wanted += pointers.length;
    deps.progress.set(repository.id, `Fetching files of Git LFS: ${wanted}`);
    const sizes = new Map(pointers.map(({ oid, bytes }) => [oid, bytes]));
    await eachLimit(answer, atOnce, async (object) => {
      const { oid, link } = object;
      const bytes = sizes.get(oid);
      if (signal.aborted || bytes === undefined) return;
      // Objects that the remote has lost are not a failure of the mirror; its pages and clients also report them.
      if (link === null) return void lacking.push(oid);
      try {
        const content = await client.download(object);
        await lfs.mirroring.store(repository, { oid, bytes, content }, { hasQuota: true });
      } catch (error) {
        lost += 1;
        why = isDomainError(error) ? error.message : 'this server failed';
        logger.warn('mirror.lfs_missing', { repositoryId: repository.id, oid, error });
      }
    });
  }
  signal.throwIfAborted();
  if (lacking.length > 0) logger.warn('mirror.lfs_lacking', { repositoryId: repository.id, objects: lacking.length });
  if (lost > 0) throw failed(`${lost} of ${wanted} did not arrive; ${why}`);
  return lacking;
}

/** Sends a remote the objects needed for the pushed refs. Throws `remote_lfs_failed`. */
export async function sendLfsObjects(
  deps: MirrorDeps,
  { repository, path }: Located,
  remote: Remote,
  signal: AbortSignal,
): Promise<void> {
  const { lfs, git, logger } = deps;
  if ((await lfs.usage(repository.id)).objects === 0) return;
  const client = lfsRemote(deps, remote, signal);
  const isSent = ([ref]: [string, string]): boolean => isBranchOrTag(ref);
  const of = [...new Set([...(await git.refs.list(path))].filter(isSent).map(([, oid]) => oid))];
  const { refs: there } = await git.remotes.list(remote, { signal });
  const without = [...new Set(there.values())].slice(0, maxKnownTips);
  for await (const pointers of lfs.mirroring.present(repository.id, path, { of, without })) {
    signal.throwIfAborted();
    const objects = await client.batch('upload', pointers);
    // A plain ssh host cannot store them; its copy of the history is still useful.
    if (objects === null && 'ssh' in remote) return logger.warn('mirror.without_lfs', { repositoryId: repository.id });
    if (objects === null) throw failed('it has no LFS');
    const refused = objects.find(({ error }) => error !== null);
    if (refused !== undefined) throw failed(`it refused an object: ${refused.error}`);
    await eachLimit(objects, atOnce, async (object) => {
      if (object.link === null || signal.aborted) return;
      const { stream } = await lfs.read({ repositoryId: repository.id, oid: object.oid, bytes: object.bytes });
      await client.upload(object, stream);
    });
  }
  signal.throwIfAborted();
}
