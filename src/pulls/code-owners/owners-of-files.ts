import { localAdministrator } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { readersAmong, writersAmong } from '../find-pull.ts';
import { limits } from '../limits.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { matchOwners } from './match-owners.ts';
import type { OwnersFault } from './parse-owners.ts';

/** Files of a pull request that have the same owners. */
interface OwnedFiles {
  /** The pattern and its line. */
  pattern: string;
  line: number;
  /** As they are written. */
  owners: string[];
  /** People who are named and may read the repository; who is a member of an organisation only its owners may know. */
  userIds: string[];
  /** Teams of the organisation that owns the repository which are named. For requests, never for a page. */
  teamIds: string[];
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
  const matched = await matchOwners(deps, path, pull);
  const faults = [...matched.faults];
  const people = new PeopleOfOwners(deps, repository);
  const groups: OwnedFiles[] = [];
  for (const rule of matched.rules) {
    if (rule.owners.length === 0) continue;
    const all = new Set<string>();
    const named = new Set<string>();
    const teams = new Set<string>();
    for (const owner of rule.owners) {
      const { ids, isNamed, teamId } = await people.of(owner);
      if (ids.length === 0) faults.push({ line: rule.line, text: owner, kind: 'unknown_owner' });
      for (const id of ids) all.add(id);
      if (isNamed) for (const id of ids) named.add(id);
      if (teamId !== null) teams.add(teamId);
    }
    if (all.size === 0) continue;
    const writers = await writersAmong(deps, repository, [...all]);
    // No approval would ever count.
    if (writers.size === 0) faults.push({ line: rule.line, text: rule.text, kind: 'may_not_write' });
    const { text: pattern, line, owners, files } = rule;
    groups.push({ pattern, line, owners, userIds: [...named], teamIds: [...teams], writerIds: [...writers], files });
  }
  return { file: matched.file, groups, faults: faults.slice(0, limits.ownerFaults) };
}

interface FoundOwner {
  /** Of those who may read the repository. */
  ids: string[];
  /** A person, not an organisation or a team. */
  isNamed: boolean;
  /** Of a team. */
  teamId: string | null;
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
    const { ids, ...found } = await this.#idsOf(owner);
    return { ids: [...(await readersAmong(this.#deps, this.#repository, ids))], ...found };
  }

  /** Of organisations, the one that owns the repository: whom another has is not told to those who name it. */
  async #idsOf(owner: string): Promise<FoundOwner> {
    const { accounts, owners, organisations } = this.#deps;
    if (!owner.startsWith('@')) {
      const person = (await accounts.addresses.peopleByAddress([owner])).get(owner);
      return { ids: person === undefined ? [] : [person.id], isNamed: true, teamId: null };
    }
    const [handle = '', team] = owner.slice(1).split('/');
    const found = await owners.resolve(handle);
    if (team !== undefined) {
      if (found === null || found.id !== this.#repository.ownerOrganisationId)
        return { ids: [], isNamed: false, teamId: null };
      const named = await organisations.teams.named(found.id, team);
      const people = named === null ? [] : ((await organisations.teams.peopleOf([named.id])).get(named.id) ?? []);
      return { ids: people.slice(0, limits.membersPerOwner), isNamed: false, teamId: named?.id ?? null };
    }
    if (found?.kind === 'user') return { ids: [found.id], isNamed: true, teamId: null };
    if (found === null || found.id !== this.#repository.ownerOrganisationId)
      return { ids: [], isNamed: false, teamId: null };
    const members = await organisations.listMembers(localAdministrator, found.handle);
    return {
      ids: members.slice(0, limits.membersPerOwner).map(({ person }) => person.id),
      isNamed: false,
      teamId: null,
    };
  }
}
