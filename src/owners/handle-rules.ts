import { invalid } from '../kernel/index.ts';

/** A valid handle: its display form and its lookup key. */
export interface Handle {
  display: string;
  folded: string;
}

/** The longest handle, in characters. */
export const maxHandleLength = 39;

const grammar = /^[a-z0-9](?:[a-z0-9]|[-_.](?=[a-z0-9])){0,38}$/;
const onlyDigits = /^[0-9]+$/;
const uuidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const fileLikeEnding = /\.(?:git|wiki|atom|rss|keys|gpg|json|png|patch|diff|txt)$/;

/**
 * Reserved handles: the first path segments of the program's own URLs, a few misleading words, and the property names
 * of every JavaScript object (`constructor`), so that no lookup by handle can hit one of those.
 */
export const reservedHandles: ReadonlySet<string> = new Set([
  ...`about admin ap api assets auth avatars dashboard explore favicon.ico following ghost git health
    healthz hearth help instance invite issues login logout me metrics new nodeinfo notifications onboarding orgs packages pulls raw readyz
    repos robots.txt root search security settings setup signup sitemap.xml static support system
    twirp user users v2 well-known www`.split(/\s+/),
  ...Object.getOwnPropertyNames(Object.prototype).map((name) => name.toLowerCase()),
]);

/**
 * The lookup key of a handle: A–Z in lower case, everything else unchanged. `toLowerCase` would also turn look-alikes
 * such as the Kelvin sign into ASCII, and a second spelling of a name would resolve to its owner.
 */
export function foldHandle(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Validates a new handle. Whether it is free is decided by `claimHandle`.
 *
 * Refuses with `invalid`: `invalid_handle` (not 1–39 letters, digits and single `-`, `_` or `.` between them; only
 * digits; shaped like a UUID; ending like a file), `reserved_handle`.
 *
 * @param field the form field that the refusal belongs to
 */
export function parseHandle(text: unknown, field = 'handle'): Handle {
  const refuse = (message: string) => invalid('invalid_handle', message, { field });
  if (typeof text !== 'string' || text === '') throw refuse('Choose a handle.');
  if (text.length > maxHandleLength) throw refuse(`A handle has at most ${maxHandleLength} characters.`);
  const folded = foldHandle(text);
  if (reservedHandles.has(folded)) {
    throw invalid('reserved_handle', 'This name is reserved. Choose another one.', { field });
  }
  if (!grammar.test(folded)) {
    throw refuse('A handle consists of letters and digits, with single "-", "_" or "." between them.');
  }
  if (onlyDigits.test(folded)) throw refuse('A handle needs at least one letter.');
  if (uuidShape.test(folded)) throw refuse('A handle may not look like an internal id.');
  const ending = fileLikeEnding.exec(folded);
  if (ending !== null) throw refuse(`A handle may not end in "${ending[0]}".`);
  return { display: text, folded };
}
