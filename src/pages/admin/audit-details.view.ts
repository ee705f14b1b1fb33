/** One field of an entry, as text. */
interface AuditDetail {
  name: string;
  value: string;
}

const id = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** All ids in the details of entries, of any kind of object. */
export const idsIn = (details: readonly Record<string, unknown>[]): string[] =>
  details.flatMap((each) =>
    Object.values(each).filter((value): value is string => typeof value === 'string' && id.test(value)),
  );

/**
 * The details of an entry in readable form: `organisationId` becomes "organisation", and its value the name of the
 * object, or the beginning of the id if the object was deleted. No value is repeated.
 */
export function viewAuditDetails(details: Record<string, unknown>, names: ReadonlyMap<string, string>): AuditDetail[] {
  const all = Object.entries(details).map(([key, value]) => ({
    name: inWords(key),
    value: typeof value === 'string' ? (names.get(value) ?? shorten(value)) : JSON.stringify(value),
  }));
  // An id and the name beside it now show the same.
  return all.filter(({ value }, at) => all.findIndex((other) => other.value === value) === at);
}

/** `collaboratorUserId` → `collaborator user`. */
const inWords = (key: string): string =>
  key.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const shorten = (value: string): string => (id.test(value) ? value.slice(0, 8) : value);
