import type { ChangedFile, Git } from '../../git/index.ts';
import { createLru, nullIfNotFound, yieldToEventLoop } from '../../kernel/index.ts';
import type { Lru } from '../../kernel/index.ts';
import { limits } from '../limits.ts';
import { pathText } from '../encode-path.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { parseOwners } from './parse-owners.ts';
import type { OwnerRule, OwnersFault } from './parse-owners.ts';

/** Paths of the code owners file, in order of precedence. */
const ownersFiles = [
  '.hearth/OWNERS',
  '.forgejo/CODEOWNERS',
  '.gitea/CODEOWNERS',
  '.github/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
] as const;

/** Changed files matched by one line of the code owners file. */
interface MatchedRule extends Pick<OwnerRule, 'text' | 'line' | 'owners'> {
  files: number;
}

/** The part of a code owners file that matches changed files, with unresolved names. */
interface MatchedOwners {
  /** Null if the base branch has none. */
  file: string | null;
  rules: readonly MatchedRule[];
  faults: readonly OwnersFault[];
}

/**
 * Keyed by the ids that determine the result. Matching a thousand lines with hundreds of files takes longer than the
 * rest of a page.
 */
export type MatchedOwnersCache = Lru<string, MatchedOwners>;

export const createMatchedOwnersCache = (): MatchedOwnersCache =>
  createLru({
    name: 'owners of code',
    maxWeight: 8 * 1024 * 1024,
    unit: 'bytes',
    weigh: ({ rules, faults }) => 300 + 400 * (rules.length + faults.length),
  });

/**
 * Matches the files changed by the last round with the code owners file at the tip of the base branch. Slow, so it runs
 * before a write. Throws `git_busy`.
 * @param path folder of the repository
 */
export async function matchOwners(
  deps: { git: Git; matchedOwners: MatchedOwnersCache },
  path: string,
  { baseBranch, baseOid, headOid }: Pick<PullRow, 'baseBranch' | 'headOid' | 'baseOid'>,
): Promise<MatchedOwners> {
  const tip = (await deps.git.queries.cachedRefs(path)).get(`refs/heads/${baseBranch}`);
  if (tip === undefined) return { file: null, rules: [], faults: [] };
  const key = `${path} ${tip} ${baseOid} ${headOid}`;
  const known = deps.matchedOwners.get(key);
  if (known !== undefined) return known;
  const found = await readOwnersFile(deps, path, tip);
  const matched = await matchFound(deps, path, found, { from: baseOid, to: headOid });
  deps.matchedOwners.set(key, matched);
  return matched;
}

async function matchFound(
  { git }: { git: Git },
  path: string,
  found: { file: string; text: string | null } | null,
  range: { from: string; to: string },
): Promise<MatchedOwners> {
  if (found === null) return { file: null, rules: [], faults: [] };
  const { file, text } = found;
  if (text === null) return { file, rules: [], faults: [{ line: null, text: file, kind: 'too_large' }] };
  const { rules, faults } = parseOwners(text);
  const { files, truncated } = await git.queries.listDiff(path, range);
  const counts = await matchFiles(rules, files, faults);
  if (truncated) faults.push({ line: null, text: file, kind: 'too_many' });
  const matched = [...counts].map(([rule, count]) => ({
    text: rule.text,
    line: rule.line,
    owners: rule.owners,
    files: count,
  }));
  return { file, rules: matched, faults };
}

/** The first existing file; its text is null if it is too large. */
async function readOwnersFile(
  { git }: { git: Git },
  path: string,
  commit: string,
): Promise<{ file: string; text: string | null } | null> {
  // A single read suffices in the most common case, a missing file.
  const root = new Set((await git.objects.tree(path, commit, '')).entries.map(({ name }) => name));
  for (const file of ownersFiles) {
    if (!root.has(file.split('/')[0]!)) continue;
    const entry = await git.objects.entryAt(path, commit, file).catch(nullIfNotFound);
    if (entry === null || (entry.kind !== 'file' && entry.kind !== 'executable')) continue;
    const { content } = await git.objects.blob(path, entry.oid, { maxBytes: limits.ownersFileBytes });
    return { file, text: content === null ? null : content.toString('utf8') };
  }
  return null;
}

/** Number of files of each rule: the last matching rule applies. A renamed file has the owners of both paths. */
async function matchFiles(
  rules: readonly OwnerRule[],
  files: readonly ChangedFile[],
  faults: OwnersFault[],
): Promise<Map<OwnerRule, number>> {
  const counts = new Map<OwnerRule, number>();
  const lastFirst = rules.toReversed();
  let steps = 0;
  const onSteps = (count: number): void => void (steps += count);
  for (const { oldPath, newPath, status } of files) {
    const names = new Set([newPath, ...(status === 'renamed' ? [oldPath] : [])].map(pathText));
    for (const name of names) {
      const segments = name.split('/');
      const rule = lastFirst.find(({ pattern }) => pattern.matches(segments, onSteps));
      if (rule !== undefined) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
    if (steps > limits.ownerSteps) {
      faults.push({ line: null, text: pathText(newPath).slice(0, 200), kind: 'too_many' });
      return counts;
    }
    await yieldToEventLoop();
  }
  return counts;
}
