import { internal } from '../../kernel/index.ts';
import { checked, readCommit } from '../objects/browse.ts';
import { parseCommit } from '../objects/parse-objects.ts';
import type { Commit } from '../objects/parse-objects.ts';
import type { FastForwardDeps, FastForwardRequest } from './fast-forward-check.ts';
import type { PackCommitReader } from './pack-commit-reader.ts';
import type { PushHeader, RawUpdate, RefUpdate } from './push-header.ts';
import { excludedBefore, gainedFromPack, readPackCommits, rulesToCheck, walkPack } from './read-pack-commits.ts';

/**
 * A ref whose new commits need a verified signature, with the messages for an unsigned commit and for a failed check.
 */
export interface SignedRule {
  ref: string;
  /**
   * @param why as returned by the hook
   */
  reason(oid: string, why: string): string;
  unknown: string;
}

/** A commit without a verified signature, and why; null if all have one. */
export type VerifyCommits = (commits: readonly Commit[]) => Promise<{ oid: string; why: string } | null>;

type Judged = Awaited<ReturnType<VerifyCommits>> | 'unknown';

/** Limit of verified commits per ref; larger pushes have to be split. */
const maxVerifiedCommits = 1_000;

/**
 * Checks, before git gets the pack, whether the new commits of refs are signed. New commits are determined as for
 * merges. If a push has more commits than the limit, the command is refused.
 * @param updates the commands of the push that git will execute
 */
export async function checkSigned(
  deps: FastForwardDeps,
  request: FastForwardRequest,
  head: PushHeader,
  updates: readonly RawUpdate[],
  { rules, verify }: { rules: readonly SignedRule[]; verify: VerifyCommits },
): Promise<{ ref: string; reason: string }[]> {
  const open = rulesToCheck(rules, updates);
  if (open.length === 0) return [];
  const pack = await readPackCommits(request, head, open[0]!.update);
  const broken: { ref: string; reason: string }[] = [];
  const judge = async (update: RawUpdate): Promise<Judged> => {
    const commits = await gainedCommits(deps, request.path, update, pack).catch((error: unknown) => {
      deps.logger.warn('push.signatures_unknown', { path: request.path, error });
      return null;
    });
    return commits === null ? 'unknown' : verify(commits);
  };
  const known = new Map<string, Judged>();
  for (const { rule, update } of open) {
    const move = `${update.oldId} ${update.newId}`;
    const judged = known.get(move);
    const unsigned = judged === undefined ? await judge(update) : judged;
    known.set(move, unsigned);
    if (unsigned === 'unknown') broken.push({ ref: rule.ref, reason: rule.unknown });
    else if (unsigned !== null) broken.push({ ref: rule.ref, reason: rule.reason(unsigned.oid, unsigned.why) });
  }
  return broken;
}

/** The commits that a ref gains; null if there are too many. */
async function gainedCommits(
  { runner, readers, limits }: FastForwardDeps,
  path: string,
  update: Pick<RefUpdate, 'oldId' | 'newId'>,
  pack: Pick<PackCommitReader, 'parentsOf' | 'contentOf'>,
): Promise<Commit[] | null> {
  const arrived = walkPack(update, pack, new Set()).commits;
  if (arrived.length > maxVerifiedCommits) return null;
  const { commits, ends } = await gainedFromPack(readers, path, update, pack, arrived);
  if (ends === null) return null;
  const gained = commits.map((id) => parseCommit(id, pack.contentOf(id)!));
  if (ends.length === 0) return gained;
  const count = `--max-count=${maxVerifiedCommits + 1}`;
  const argv = [`--git-dir=${path}`, 'rev-list', count, ...ends, ...excludedBefore(update)];
  const { code, output, errorText } = await runner.run(
    { argv, timeLimitMs: limits.shortMs, yields: true },
    limits.shortOutputBytes,
  );
  if (code !== 0) throw internal('git could not list commits', { cause: { code, errorText } });
  const ids = output
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '');
  if (gained.length + ids.length > maxVerifiedCommits) return null;
  const present = await readers.use(path, (reader) => Promise.all(ids.map((id) => readCommit(reader, id))));
  return [...gained, ...present];
}

/** The commits that a ref gains by a move; all objects must exist. Null if there are too many. */
export function gainedByMove(
  deps: FastForwardDeps,
  path: string,
  update: { oldId: string; newId: string },
): Promise<Commit[] | null> {
  const nothing = { parentsOf: () => undefined, contentOf: () => undefined };
  return gainedCommits(deps, path, { oldId: update.oldId, newId: checked(update.newId) }, nothing);
}
