import { localAdministrator } from '../../access/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { readersAmong, writersAmong } from '../find-pull.ts';
import { limits } from '../limits.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { matchOwners } from '../code-owners-file/match-owners.ts';
import type { OwnersFault } from '../code-owners-file/parse-owners.ts';

/** Changed files of a pull request with the same owners. */
interface OwnedFiles {
  /** The pattern, and its line in the file. */
  pattern: string;
  line: number;
  /** As written in the file. */
  owners: string[];
  /**
   * Named users with read access to the repository. Excludes members of organisations, which only their owners may
   * know.
   */
  userIds: string[];
  /** Named teams of the organisation that owns the repository. For review requests; pages must not show them. */
  teamIds: string[];
  /**
   * All owners with write access, including members, whose approval counts. For the merge policy; pages must not show
   * them.
   */
  writerIds: string[];
  /** Number of matching changed files. */
  files: number;
}

export interface OwnersOfPull {
  /** The code owners file; null if the base branch has none. */
  file: string | null;
  groups: OwnedFiles[];
  faults: OwnersFault[];
}

/**
 * The owners of the files changed by the last round, from the code owners file at the tip of the base branch: a pull
 * request cannot choose its own owners. Slow, so it runs before a write. Throws `git_busy`.
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
  /** Only users with read access to the repository. */
  ids: string[];
  /** Whether it is a user, not an organisation or a team. */
  isNamed: boolean;
  /** Id of the team; null for other owners. */
  teamId: string | null;
}

/** Resolves owners to users, each once. */
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

  /**
   * Resolves only the organisation that owns the repository: members of others must stay hidden from people who name
   * them.
   */
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
