import type { IssueDeps } from '../deps.ts';
import type { Authorship } from '../entries/entry.ts';
import type { ImportedEntry, ImportedIssue, ImportedPerson } from './export-file-schemas.ts';

/**
 * Whose the names in an issue are. A name is a local account only where this instance wrote the file itself and the
 * account is still there by its id: an equal name on another server says nothing about who that is.
 */
export class ImportedPeople {
  readonly #known: ReadonlySet<string>;

  /** Whether this instance wrote the names. */
  readonly isOwn: boolean;

  /** Whether the name of an author stays beside the account, so that a claim of it can be undone. */
  readonly keepsNames: boolean;

  constructor(known: ReadonlySet<string>, isOwn: boolean, keepsNames = false) {
    this.#known = known;
    this.isOwn = isOwn;
    this.keepsNames = keepsNames;
  }

  /** UUID of the local account; null where it is none. */
  idOf(person: ImportedPerson | null): string | null {
    return person?.id !== undefined && this.#known.has(person.id) ? person.id : null;
  }

  authorOf(person: ImportedPerson | null): Authorship {
    const authorId = this.idOf(person);
    return {
      authorId,
      remoteAuthorId: null,
      authorName: authorId === null || this.keepsNames ? (person?.name ?? null) : null,
    };
  }

  idsOf(people: readonly ImportedPerson[]): string[] {
    return [...new Set(people.flatMap((person) => this.idOf(person) ?? []))];
  }
}

/** Looks up the people of an issue. */
export async function findPeople(
  { accounts }: Pick<IssueDeps, 'accounts'>,
  issue: ImportedIssue,
  isOwn: boolean,
  keepsNames = false,
): Promise<ImportedPeople> {
  const people = [issue.author, ...issue.assignees, ...issue.entries.flatMap(peopleOf)];
  return peopleAmong({ accounts }, people, isOwn, keepsNames);
}

/** Looks up people. @param isOwn whether this instance wrote their names */
export async function peopleAmong(
  { accounts }: Pick<IssueDeps, 'accounts'>,
  people: readonly (ImportedPerson | null)[],
  isOwn: boolean,
  keepsNames = false,
): Promise<ImportedPeople> {
  if (!isOwn) return new ImportedPeople(new Set(), false, keepsNames);
  const ids = new Set(people.flatMap((person) => person?.id ?? []));
  const known = ids.size === 0 ? [] : (await accounts.peopleById(ids)).keys();
  return new ImportedPeople(new Set(known), true, keepsNames);
}

const peopleOf = ({ author, details, reactions, revisions }: ImportedEntry): (ImportedPerson | null)[] => [
  author,
  ...(details.people ?? []),
  details.person ?? null,
  ...reactions.flatMap(({ people }) => people),
  ...revisions.map(({ editor }) => editor),
];
