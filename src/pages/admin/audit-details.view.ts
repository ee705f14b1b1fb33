/** One field of an entry, as text. */
interface AuditDetail {
  name: string;
  value: string;
}

const id = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The ids that the details of entries mention, whatever they belong to. */
export const idsIn = (details: readonly Record<string, unknown>[]): string[] =>
  details.flatMap((each) =>
    Object.values(each).filter((value): value is string => typeof value === 'string' && id.test(value)),
  );

/**
 * The details of an entry, for a person: `organisationId` becomes "organisation", and its value the
 * name behind the id, or the beginning of the id when it is gone. No value is repeated.
 */
export function viewAuditDetails(details: Record<string, unknown>, names: ReadonlyMap<string, string>): AuditDetail[] {
  const all = Object.entries(details).map(([key, value]) => ({
    name: inWords(key),
    value: typeof value === 'string' ? (names.get(value) ?? shorten(value)) : JSON.stringify(value),
  }));
  // An id and the name beside it say the same now.
  return all.filter(({ value }, at) => all.findIndex((other) => other.value === value) === at);
}

/** `collaboratorUserId` → `collaborator user`. */
const inWords = (key: string): string =>
  key.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const shorten = (value: string): string => (id.test(value) ? value.slice(0, 8) : value);
