import { localAdministrator } from '../../access/index.ts';
import type { ChangedFile } from '../../git/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { readersAmong, writersAmong } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { pathText } from '../path-text.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { parseOwners } from './parse-owners.ts';
import type { OwnerRule, OwnersFault } from './parse-owners.ts';

/** Where a file of owners is looked for, in this order. */
export const ownersFiles = [
  '.hearth/OWNERS',
  '.forgejo/CODEOWNERS',
  '.gitea/CODEOWNERS',
  '.github/CODEOWNERS',
  'CODEOWNERS',
  'docs/CODEOWNERS',
] as const;

/** Files of a pull request that have the same owners. */
export interface OwnedFiles {
  /** The pattern and its line. */
  pattern: string;
  line: number;
  /** As they are written. */
  owners: string[];
  /** People who are named and may read the repository; who is a member of an organisation only its owners may know. */
  userIds: string[];
  /** All of them, members included, who may write: their approval counts. For the policy, never for a page. */
  writerIds: string[];
  /** How many changed files it is about. */
  files: number;
}

export interface OwnersOfPull {
  /** The file that says it; null when the base branch has none. */
  file: string | null;
  groups: OwnedFiles[];
  faults: OwnersFault[];
}

const nothing: OwnersOfPull = { file: null, groups: [], faults: [] };

/**
 * The owners of the files that the last round changes, by the file of owners in the tip of the base branch: a pull
 * request cannot choose its own. Slow: it runs before a write. Refuses `git_busy`.
 * @param path folder of the repository
 */
export async function ownersOfFiles(
  deps: PullDeps,
  path: string,
  repository: Repository,
  pull: Pick<PullRow, 'baseBranch' | 'headOid' | 'baseOid'>,
): Promise<OwnersOfPull> {
  const tip = (await deps.git.queries.cachedRefs(path)).get(`refs/heads/${pull.baseBranch}`);
  const found = tip === undefined ? null : await readOwnersFile(deps, path, tip);
  if (found === null) return nothing;
  if (found.text === null)
    return { file: found.file, groups: [], faults: [{ line: null, text: found.file, kind: 'too_large' }] };
  const { rules, faults } = parseOwners(found.text);
  const { files, truncated } = await deps.git.queries.listDiff(path, { from: pull.baseOid, to: pull.headOid });
  const counts = await matchFiles(rules, files, faults);
  if (truncated) faults.push({ line: null, text: found.file, kind: 'too_many' });
  const people = new PeopleOfOwners(deps, repository);
  const groups: OwnedFiles[] = [];
  for (const [rule, count] of counts) {
    if (rule.owners.length === 0) continue;
    const all = new Set<string>();
    const named = new Set<string>();
    for (const owner of rule.owners) {
      const { ids, isNamed } = await people.of(owner);
      if (ids.length === 0) faults.push({ line: rule.line, text: owner, kind: 'unknown_owner' });
      for (const id of ids) all.add(id);
      if (isNamed) for (const id of ids) named.add(id);
    }
    if (all.size === 0) continue;
    const writers = await writersAmong(deps, repository, [...all]);
    // No approval would ever count.
    if (writers.size === 0) faults.push({ line: rule.line, text: rule.text, kind: 'may_not_write' });
    const { text: pattern, line, owners } = rule;
    groups.push({ pattern, line, owners, userIds: [...named], writerIds: [...writers], files: count });
  }
  return { file: found.file, groups, faults: faults.slice(0, limits.ownerFaults) };
}

/** The first of the files that is there; its text is null when it is too large. */
async function readOwnersFile(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  commit: string,
): Promise<{ file: string; text: string | null } | null> {
  // One read for the most common case: there is none.
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

/** Milliseconds after which other requests get the thread. */
const sliceMs = 10;

/** How many files each rule decides about: the last one that matches. A renamed file has the owners of both names. */
async function matchFiles(
  rules: readonly OwnerRule[],
  files: readonly ChangedFile[],
  faults: OwnersFault[],
): Promise<Map<OwnerRule, number>> {
  const counts = new Map<OwnerRule, number>();
  const lastFirst = rules.toReversed();
  let steps = 0;
  const onSteps = (count: number): void => void (steps += count);
  let since = performance.now();
  for (const { oldPath, newPath, status } of files) {
    const names = new Set([newPath, ...(status === 'renamed' ? [oldPath] : [])].map(pathText));
    for (const name of names) {
      const rule = lastFirst.find(({ pattern }) => pattern.matches(name, onSteps));
      if (rule !== undefined) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
    if (steps > limits.ownerSteps) {
      faults.push({ line: null, text: pathText(newPath).slice(0, 200), kind: 'too_many' });
      return counts;
    }
    if (performance.now() - since > sliceMs) {
      await new Promise(setImmediate);
      since = performance.now();
    }
  }
  return counts;
}

interface FoundOwner {
  /** Of those who may read the repository. */
  ids: string[];
  /** A person, not an organisation. */
  isNamed: boolean;
}

/** Finds the people behind owners, each once. */
class PeopleOfOwners {
  readonly #deps: PullDeps;
  readonly #repository: Repository;
  readonly #found = new Map<string, Promise<FoundOwner>>();

  constructor(deps: PullDeps, repository: Repository) {
    this.#deps = deps;
    this.#repository = repository;
  }

  of(owner: string): Promise<FoundOwner> {
    const key = owner.toLowerCase();
    const found = this.#found.get(key) ?? this.#find(owner);
    this.#found.set(key, found);
    return found;
  }

  async #find(owner: string): Promise<FoundOwner> {
    const { ids, isNamed } = await this.#idsOf(owner);
    return { ids: [...(await readersAmong(this.#deps, this.#repository, ids))], isNamed };
  }

  /** Of organisations, the one that owns the repository: whom another has is not told to those who name it. */
  async #idsOf(owner: string): Promise<FoundOwner> {
    const { accounts, owners, organisations } = this.#deps;
    if (!owner.startsWith('@')) {
      const person = (await accounts.addresses.peopleByAddress([owner])).get(owner);
      return { ids: person === undefined ? [] : [person.id], isNamed: true };
    }
    const found = await owners.resolve(owner.slice(1));
    if (found?.kind === 'user') return { ids: [found.id], isNamed: true };
    if (found === null || found.id !== this.#repository.ownerOrganisationId) return { ids: [], isNamed: false };
    const members = await organisations.listMembers(localAdministrator, found.handle);
    return { ids: members.slice(0, limits.membersPerOwner).map(({ person }) => person.id), isNamed: false };
  }
}
