import { internal } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { FastForwardDeps, FastForwardRequest } from './fast-forward-check.ts';
import type { PackCommitReader } from './pack-commit-reader.ts';
import { excludedBefore, gainedFromPack, readPackCommits, rulesToCheck, walkPack } from './read-pack-commits.ts';
import type { PushHeader, RawUpdate, RefUpdate } from './push-header.ts';

/** A ref whose new commits may not be merges, with the messages for a merge and for a failed check. */
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

/** Limit of merges in a pack that are looked up: usual histories have fewer new ones. */
const maxMerges = 200;

/**
 * Checks, before git gets the pack, whether refs get merge commits. New commits are those that the old value of the ref
 * does not reach, or for a new ref, those that no branch or tag reaches. Unlike for a fast-forward, git has no check of
 * its own: if the push has more commits than can be read, the command is refused.
 * @param updates the commands of the push that git will execute
 */
export async function checkLinear(
  deps: FastForwardDeps,
  request: FastForwardRequest,
  head: PushHeader,
  updates: readonly RawUpdate[],
  rules: readonly LinearRule[],
): Promise<Broken[]> {
  const open = rulesToCheck(rules, updates);
  if (open.length === 0) return [];

  const pack = await readPackCommits(request, head, open[0]!.update);
  const broken: Broken[] = [];
  const known = new Map<string, Merges>();
  for (const { rule, update } of open) {
    const move = `${update.oldId} ${update.newId}`;
    const found =
      known.get(move) ??
      (await findMerges(deps, request.path, update, pack).catch((error: unknown): Merges => {
        deps.logger.warn('push.merges_unknown', { path: request.path, error });
        return 'unknown';
      }));
    known.set(move, found);
    if (found !== 'none') broken.push({ ref: rule.ref, reason: found === 'some' ? rule.reason : rule.unknown });
  }
  return broken;
}

type Merges = 'none' | 'some' | 'unknown';

async function findMerges(
  { runner, readers, limits }: FastForwardDeps,
  path: string,
  update: RawUpdate,
  pack: PackCommitReader,
): Promise<Merges> {
  const isMerge = (id: string): boolean => (pack.parentsOf(id)?.length ?? 0) > 1;
  const merges = walkPack(update, pack, new Set()).commits.filter(isMerge).slice(0, maxMerges);
  const { commits, ends } = await gainedFromPack(readers, path, update, pack, merges);
  if (commits.some(isMerge)) return 'some';
  if (ends === null) return 'unknown';
  if (ends.length === 0) return 'none';
  return (await reachesMerge(runner, path, ends, update, limits.shortMs)) ? 'some' : 'none';
}

/** Whether commits already in the repository add a merge to a ref. */
async function reachesMerge(
  runner: GitRunner,
  path: string,
  commits: readonly string[],
  update: Pick<RefUpdate, 'oldId'>,
  timeLimitMs: number,
): Promise<boolean> {
  const argv = [
    `--git-dir=${path}`,
    'rev-list',
    '--min-parents=2',
    '--max-count=1',
    ...commits,
    ...excludedBefore(update),
  ];
  const { code, output, errorText } = await runner.run({ argv, timeLimitMs, yields: true }, 4_096);
  if (code !== 0) throw internal('git could not look for merges', { cause: { code, errorText } });
  return output.length > 0;
}

/** Whether moving a ref adds merge commits; all objects must exist. */
export function hasNewMerges(
  { runner, limits }: Pick<FastForwardDeps, 'runner' | 'limits'>,
  path: string,
  update: Pick<RefUpdate, 'oldId' | 'newId'>,
): Promise<boolean> {
  return reachesMerge(runner, path, [checked(update.newId)], update, limits.shortMs);
}
