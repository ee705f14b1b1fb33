import { internal } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { maxCheckedBytes, maxOpenEnds, readOn } from './fast-forward-check.ts';
import type { FastForwardDeps, FastForwardRequest } from './fast-forward-check.ts';
import { PackCommits } from './pack-commits.ts';
import { noRef } from './push-head.ts';
import type { PushHead, RawUpdate, RefUpdate } from './push-head.ts';

/** A ref whose new commits may be no merges, and the lines when one is, and when that cannot be told. */
export interface LinearRule {
  ref: string;
  reason: string;
  unknown: string;
}

/** A command that breaks a rule. */
interface Broken {
  ref: string;
  reason: string;
}

/** Limit of merges in a pack that are looked up: they are new, or the history is no usual one. */
const maxMerges = 200;

/**
 * Checks, before git gets the pack, whether refs get merge commits. New are the commits that the old value of the ref
 * does not reach, and for a ref that is created, those that no branch and no tag reaches. Unlike with a fast-forward,
 * git has no check of its own to fall back on: where more commits arrive than are read, the command is refused.
 * @param updates those commands of the push that git is to execute
 */
export async function checkLinear(
  deps: FastForwardDeps,
  request: FastForwardRequest,
  head: PushHead,
  updates: readonly RawUpdate[],
  rules: readonly LinearRule[],
): Promise<Broken[]> {
  const open = rules.flatMap((rule) => {
    const update = updates.find(({ ref }) => ref === rule.ref);
    return update === undefined || noRef.test(update.newId) ? [] : [{ rule, update }];
  });
  if (open.length === 0) return [];

  const pack = new PackCommits(open[0]!.update.newId.length / 2);
  pack.push(Buffer.concat(head.pack));
  while (!pack.isDone && head.packBytes <= maxCheckedBytes) {
    const chunk = await readOn(request, head);
    if (chunk === null) break;
    pack.push(chunk);
  }
  const broken: Broken[] = [];
  for (const { rule, update } of open) {
    const found = await findMerges(deps, request.path, update, pack).catch((error: unknown): Merges => {
      deps.logger.warn('push.merges_unknown', { path: request.path, error });
      return 'unknown';
    });
    if (found !== 'none') broken.push({ ref: rule.ref, reason: found === 'some' ? rule.reason : rule.unknown });
  }
  return broken;
}

type Merges = 'none' | 'some' | 'unknown';

async function findMerges(
  { runner, readers, limits }: FastForwardDeps,
  path: string,
  update: RawUpdate,
  pack: PackCommits,
): Promise<Merges> {
  const merges = walk(update, pack, new Set()).merges.slice(0, maxMerges);
  const there = await readers.use(path, (reader) => reader.infos(merges));
  // A pack may bring what the repository has: such commits are judged by the refs that reach them.
  const { merges: left, ends } = walk(update, pack, new Set(merges.filter((_, at) => there[at]?.type === 'commit')));
  if (left.length > 0) return 'some';
  if (ends.length === 0) return 'none';
  if (ends.length > maxOpenEnds) return 'unknown';
  const infos = await readers.use(path, (reader) => reader.infos(ends));
  if (infos.some((info) => info?.type !== 'commit')) return 'unknown';
  return (await reachesMerge(runner, path, ends, update, limits.shortMs)) ? 'some' : 'none';
}

/**
 * Follows the pack's commits back from the new one, as far as the old one, commits that the pack does not contain, and
 * those in `known`.
 */
function walk(
  { oldId, newId }: RawUpdate,
  pack: PackCommits,
  known: ReadonlySet<string>,
): { merges: string[]; ends: string[] } {
  const seen = new Set([newId]);
  const [merges, ends]: [string[], string[]] = [[], []];
  for (const id of seen) {
    if (id === oldId) continue;
    const parents = known.has(id) ? undefined : pack.parentsOf(id);
    if (parents === undefined) {
      ends.push(id);
      continue;
    }
    if (parents.length > 1) merges.push(id);
    for (const parent of parents) seen.add(parent);
  }
  return { merges, ends };
}

/** Whether commits that the repository has bring a merge to a ref. */
async function reachesMerge(
  runner: GitRunner,
  path: string,
  commits: readonly string[],
  { oldId }: Pick<RefUpdate, 'oldId'>,
  timeLimitMs: number,
): Promise<boolean> {
  const known = noRef.test(oldId) ? ['--branches', '--tags'] : [checked(oldId)];
  const argv = [
    `--git-dir=${path}`,
    'rev-list',
    '--min-parents=2',
    '--max-count=1',
    ...commits,
    '--not',
    ...known,
    '--',
  ];
  const { code, output, errorText } = await runner.run({ argv, timeLimitMs, yields: true }, 4_096);
  if (code !== 0) throw internal('git could not look for merges', { cause: { code, errorText } });
  return output.length > 0;
}

/** Whether moving a ref brings merge commits, all of whose objects exist. */
export function hasNewMerges(
  { runner, limits }: Pick<FastForwardDeps, 'runner' | 'limits'>,
  path: string,
  update: Pick<RefUpdate, 'oldId' | 'newId'>,
): Promise<boolean> {
  return reachesMerge(runner, path, [checked(update.newId)], update, limits.shortMs);
}
