import type { IssueDeps } from '../deps.ts';
import type { Authorship } from '../entry.ts';
import type { ImportedEntry, ImportedIssue, ImportedPerson } from './export-file-schemas.ts';

/**
 * Resolves names in an issue to users. A name is a local account only if this instance wrote the file and the account
 * with this id still exists: an equal name on another server does not prove identity.
 */
export class ImportedPeople {
  readonly #known: ReadonlySet<string>;

  /** Whether this instance wrote the names. */
  readonly isOwn: boolean;

  /** Whether an author's name is kept beside the account, so that a claim can be undone. */
  readonly keepsNames: boolean;

  constructor(known: ReadonlySet<string>, isOwn: boolean, keepsNames = false) {
    this.#known = known;
    this.isOwn = isOwn;
    this.keepsNames = keepsNames;
  }

  /** UUID of the local account; null if there is none. */
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

/** Resolves the people of an issue. */
export async function findPeople(
  { accounts }: Pick<IssueDeps, 'accounts'>,
  issue: ImportedIssue,
  isOwn: boolean,
  keepsNames = false,
): Promise<ImportedPeople> {
  const people = [issue.author, ...issue.assignees, ...issue.entries.flatMap(peopleOf)];
  return peopleAmong({ accounts }, people, isOwn, keepsNames);
}

/** Resolves people. @param isOwn whether this instance wrote their names */
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
