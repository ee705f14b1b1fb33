import { limits } from '../limits.ts';

/** `#7` or `owner/name#7`. */
export interface IssueReference {
  kind: 'issue';
  /** Null for the repository that contains the text. */
  repository: { owner: string; name: string } | null;
  number: number;
}

/** `@alice`. */
interface PersonReference {
  kind: 'person';
  handle: string;
}

/** `@acme/reviewers`: a team of an organisation. */
export interface TeamReference {
  kind: 'team';
  organisation: string;
  team: string;
}

/** A full or abbreviated commit id, also `owner/name@…`; the commit may not exist. */
interface CommitReference {
  kind: 'commit';
  repository: { owner: string; name: string } | null;
  oid: string;
}

/** A reference, with its position in the text. */
export type Reference = (IssueReference | PersonReference | TeamReference | CommitReference) & {
  start: number;
  end: number;
};

const handle = `[A-Za-z0-9](?:[A-Za-z0-9]|[-_.](?=[A-Za-z0-9])){0,38}`;
const repository = `(?:(?<owner>${handle})/(?<name>[A-Za-z0-9._-]{1,100}?))?`;
const before = String.raw`(?<![\w/@#&.:=?%+~-])`;
/** Every part is bounded, so matching is linear in the text. */
const pattern = new RegExp(
  `${before}(?:${repository}#(?<number>[1-9]\\d{0,8})(?![\\w])` +
    `|@(?<organisation>${handle})/(?<team>${handle})(?![\\w@/#]|[-_.][A-Za-z0-9])` +
    `|@(?<handle>${handle})(?![\\w@/]|[-_.][A-Za-z0-9])` +
    `|${repository.replaceAll('owner', 'commitOwner').replaceAll('<name>', '<commitName>')}(?<at>@)?(?<oid>[0-9a-f]{7,64})(?![\\w@]))`,
  'g',
);

/** The references of a plain text in order; those after the 500th stay plain text. */
export function parseReferences(text: string): Reference[] {
  const found: Reference[] = [];
  for (const match of text.matchAll(pattern)) {
    const reference = toReference(match);
    if (reference !== null) found.push(reference);
    if (found.length === limits.referencesPerText) break;
  }
  return found;
}

function toReference(match: RegExpExecArray): Reference | null {
  const { owner, name, number, handle, organisation, team, commitOwner, commitName, at, oid } = match.groups!;
  const place = { start: match.index, end: match.index + match[0].length };
  if (number !== undefined)
    return {
      kind: 'issue',
      repository: owner === undefined ? null : { owner, name: name! },
      number: Number(number),
      ...place,
    };
  if (organisation !== undefined) return { kind: 'team', organisation, team: team!, ...place };
  if (handle !== undefined) return { kind: 'person', handle, ...place };
  // `@` separates `owner/name` from the id; a number or a word is not an id.
  if ((commitOwner === undefined) !== (at === undefined)) return null;
  if (!/\d/.test(oid!) || !/[a-f]/.test(oid!)) return null;
  return {
    kind: 'commit',
    repository: commitOwner === undefined ? null : { owner: commitOwner, name: commitName! },
    oid: oid!,
    ...place,
  };
}

const closing = new RegExp(
  String.raw`(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+${repository}#(?<number>[1-9]\d{0,8})(?![\w])`,
  'gi',
);

/** The issues that a plain text closes: `closes #7`, `Fixes: owner/name#7`, `resolved #7`; each once. */
export function parseClosing(text: string): IssueReference[] {
  const found = new Map<string, IssueReference>();
  for (const match of text.matchAll(closing)) {
    const { owner, name, number } = match.groups!;
    const key = `${owner ?? ''}/${name ?? ''}#${number}`.toLowerCase();
    const at = owner === undefined ? null : { owner, name: name! };
    if (!found.has(key)) found.set(key, { kind: 'issue', repository: at, number: Number(number) });
    if (found.size === limits.entriesPerText) break;
  }
  return [...found.values()];
}
