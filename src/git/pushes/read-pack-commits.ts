import type { ObjectReaders } from '../objects/object-readers.ts';
import { checked } from '../objects/browse.ts';
import { maxCheckedBytes, maxOpenEnds, readMore } from './fast-forward-check.ts';
import type { FastForwardRequest } from './fast-forward-check.ts';
import { PackCommitReader } from './pack-commit-reader.ts';
import type { PushHeader, RawUpdate, RefUpdate } from './push-header.ts';
import { noRef } from '../../kernel/index.ts';

/** Parses the commits at the beginning of a push's pack; the bytes that were read stay in `head`, for git. */
export async function readPackCommits(
  request: FastForwardRequest,
  head: PushHeader,
  { newId }: Pick<RefUpdate, 'newId'>,
): Promise<PackCommitReader> {
  const pack = new PackCommitReader(newId.length / 2);
  pack.push(Buffer.concat(head.pack));
  while (!pack.isDone && head.packBytes <= maxCheckedBytes) {
    const chunk = await readMore(request, head);
    if (chunk === null) break;
    pack.push(chunk);
  }
  return pack;
}

/**
 * Follows the pack's commits back from the new one to the old one, commits that the pack does not contain, and those in
 * `known`.
 */
export function walkPack(
  { oldId, newId }: Pick<RefUpdate, 'oldId' | 'newId'>,
  pack: Pick<PackCommitReader, 'parentsOf'>,
  known: ReadonlySet<string>,
): { commits: string[]; ends: string[] } {
  const seen = new Set([newId]);
  const [commits, ends]: [string[], string[]] = [[], []];
  for (const id of seen) {
    if (id === oldId) continue;
    const parents = known.has(id) ? undefined : pack.parentsOf(id);
    if (parents === undefined) {
      ends.push(id);
      continue;
    }
    commits.push(id);
    for (const parent of parents) seen.add(parent);
  }
  return { commits, ends };
}

/** Rules for refs that a push creates or moves, each with its command. */
export function rulesToCheck<Rule extends { ref: string }>(
  rules: readonly Rule[],
  updates: readonly RawUpdate[],
): { rule: Rule; update: RawUpdate }[] {
  if (rules.length === 0) return [];
  const byRef = new Map(updates.map((update) => [update.ref, update]));
  return rules.flatMap((rule) => {
    const update = byRef.get(rule.ref);
    return update === undefined || noRef.test(update.newId) ? [] : [{ rule, update }];
  });
}

/**
 * The commits that a pack adds to a ref, and the ends: their ancestors in the repository. A pack may repeat commits of
 * the repository; these also count as ends, since other refs may reach them.
 * @param looked commits of the pack to look up in the repository
 * @returns `ends` is null if there are too many, or they are unknown
 */
export async function gainedFromPack(
  readers: ObjectReaders,
  path: string,
  update: Pick<RefUpdate, 'oldId' | 'newId'>,
  pack: Pick<PackCommitReader, 'parentsOf'>,
  looked: readonly string[],
): Promise<{ commits: string[]; ends: string[] | null }> {
  const there = await readers.use(path, (reader) => reader.infos(looked));
  const known = new Set(looked.filter((_, at) => there[at]?.type === 'commit'));
  const { commits, ends } = walkPack(update, pack, known);
  if (ends.length > maxOpenEnds) return { commits, ends: null };
  const infos = ends.length === 0 ? [] : await readers.use(path, (reader) => reader.infos(ends));
  return { commits, ends: infos.every((info) => info?.type === 'commit') ? ends : null };
}

/**
 * Arguments of git-rev-list(1) that exclude the old history of a ref, or for a new one, that of every branch and tag.
 */
export const excludedBefore = ({ oldId }: Pick<RefUpdate, 'oldId'>): string[] => [
  '--not',
  ...(noRef.test(oldId) ? ['--branches', '--tags'] : [checked(oldId)]),
  '--',
];
