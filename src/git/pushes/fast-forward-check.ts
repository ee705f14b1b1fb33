import type { Readable } from 'node:stream';
import { internal } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import { PackCommitReader } from './pack-commit-reader.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { PushHeader, RawUpdate } from './push-header.ts';

/** A ref that may only be fast-forwarded, and the message for a push that rewrites it. */
export interface FastForwardRule {
  ref: string;
  /** One line, shown beside the refused ref. */
  reason: string;
}

/**
 * Result of checking a ref move.
 * - `forward`: proved. `rewrites`: disproved.
 * - `unknown`: the deciding commits are beyond the part of the pack that is read.
 */
type Move = 'forward' | 'rewrites' | 'unknown';

export interface FastForwardDeps {
  runner: GitRunner;
  readers: ObjectReaders;
  limits: GitLimits;
  logger: Logger;
}

export interface FastForwardRequest {
  path: string;
  input: Readable;
  signal: AbortSignal;
  stallMs: number;
}

/** Limit in bytes of the part of a pack that is read to check a move; some ten thousand commits. */
export const maxCheckedBytes = 4 * 1024 * 1024;

/** `PACK`, a version, and the number of objects (gitformat-pack). */
const packHeadBytes = 12;

/** Limit of open ends of a walk: ordinary histories have fewer. */
export const maxOpenEnds = 200;

/**
 * Checks, before git gets the pack, whether refs are only fast-forwarded. git's own check
 * (`receive.denyNonFastForwards`) runs after it has stored the objects and does not distinguish refs, and hooks are
 * programs on disk that can be missing. So the proof is read from the stream: packs begin with their commits, each is
 * identified by its hash, and a chain from the new commit to the old one, or to commits that the repository has,
 * decides. The bytes that were read stay in `head`, for git.
 * @param updates the commands of the push that git will execute
 * @returns the rules that a command breaks, and those that could not be checked: these require that git itself refuses
 *   every move that is not a fast-forward
 */
export async function checkFastForward(
  deps: FastForwardDeps,
  request: FastForwardRequest,
  head: PushHeader,
  updates: readonly RawUpdate[],
  rules: readonly FastForwardRule[],
): Promise<{ broken: FastForwardRule[]; unjudged: FastForwardRule[] }> {
  if (rules.length === 0) return { broken: [], unjudged: [] };
  const byRef = new Map(updates.map((update) => [update.ref, update]));
  let open = rules.flatMap((rule) => {
    const update = byRef.get(rule.ref);
    return update === undefined ? [] : [{ rule, update }];
  });
  const broken: FastForwardRule[] = [];
  if (open.length === 0) return { broken, unjudged: [] };

  const pack = new PackCommitReader(open[0]!.update.newId.length / 2);
  pack.push(Buffer.concat(head.pack));
  for (;;) {
    // Cheap enough to repeat: the first bytes prove a move of a few commits.
    open = open.filter(({ update }) => !walk(update, pack).arrives);
    if (open.length === 0 || pack.isDone || head.packBytes > maxCheckedBytes) break;
    const chunk = await readMore(request, head);
    if (chunk === null) break;
    pack.push(chunk);
  }
  const unjudged: FastForwardRule[] = [];
  const known = new Map<string, Move>();
  for (const { rule, update } of open) {
    const ids = `${update.oldId} ${update.newId}`;
    const move =
      known.get(ids) ??
      (await checkMove(deps, request.path, update, pack).catch((error: unknown): Move => {
        deps.logger.warn('push.move_unjudged', { path: request.path, error });
        return 'unknown';
      }));
    known.set(ids, move);
    if (move === 'rewrites') broken.push(rule);
    if (move === 'unknown') unjudged.push(rule);
  }
  return { broken, unjudged };
}

/** Follows the pack's commits back from the new one to the old one, or to ids that the pack does not contain. */
function walk({ oldId, newId }: RawUpdate, pack: PackCommitReader): { arrives: boolean; ends: string[] } {
  const seen = new Set([newId]);
  const ends: string[] = [];
  for (const id of seen) {
    if (id === oldId) return { arrives: true, ends };
    const parents = pack.parentsOf(id);
    if (parents === undefined) ends.push(id);
    else for (const parent of parents) seen.add(parent);
  }
  return { arrives: false, ends };
}

/** Continues in the repository at the commits where the pack ends. */
async function checkMove(
  { runner, readers, limits }: FastForwardDeps,
  path: string,
  update: RawUpdate,
  pack: PackCommitReader,
): Promise<Move> {
  const { ends } = walk(update, pack);
  if (ends.length > maxOpenEnds) return 'unknown';
  const infos = await readers.use(path, (reader) => reader.infos([update.oldId, ...ends]));
  const [old, ...found] = infos.map((info) => info?.type === 'commit');
  if (old !== true) return 'unknown';
  const known = ends.filter((_, at) => found[at]);
  if (known.length > 0) {
    // Prints the old commit unless it is reachable from one of the others.
    const argv = [`--git-dir=${path}`, 'rev-list', '--max-count=1', update.oldId, '--not', ...known, '--'];
    const { code, output, errorText } = await runner.run({ argv, timeLimitMs: limits.shortMs }, 4_096);
    if (code !== 0) throw internal('git could not compare commits', { cause: { code, errorText } });
    if (output.length === 0) return 'forward';
  }
  return known.length === ends.length ? 'rewrites' : 'unknown';
}

/**
 * The object count in the pack header of a push. The bytes that were read stay in `head`, for git.
 * @returns 0 if there is no pack; git then reports the error
 */
export async function countPackObjects(request: FastForwardRequest, head: PushHeader): Promise<number> {
  while (head.packBytes < packHeadBytes) {
    if ((await readMore(request, head)) === null) return 0;
  }
  const pack = Buffer.concat(head.pack);
  return pack.toString('latin1', 0, 4) === 'PACK' ? pack.readUInt32BE(8) : 0;
}

/** The next bytes of the pack, which are also added to `head`; `null` if there are none. */
export async function readMore(request: FastForwardRequest, head: PushHeader): Promise<Buffer | null> {
  const chunk = await nextChunk(request);
  if (chunk === null) return null;
  head.pack.push(chunk);
  head.packBytes += chunk.length;
  return chunk;
}

/** The next bytes of a paused stream, which is left paused; `null` if there are none. */
function nextChunk({ input, signal, stallMs }: FastForwardRequest): Promise<Buffer | null> {
  if (input.readableEnded || input.destroyed || signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => {
    const finish = (chunk: Buffer | null) => {
      clearTimeout(quiet);
      input.pause();
      input.off('data', finish).off('end', onNone).off('close', onNone).off('error', onNone);
      signal.removeEventListener('abort', onNone);
      resolve(chunk);
    };
    const onNone = () => finish(null);
    // The wait for git then also notices the stall and reports it.
    const quiet = setTimeout(onNone, stallMs);
    input.on('data', finish).on('end', onNone).on('close', onNone).on('error', onNone);
    signal.addEventListener('abort', onNone);
    input.resume();
  });
}
