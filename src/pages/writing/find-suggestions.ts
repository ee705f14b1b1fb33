import { allows } from '../../access/index.ts';
import { noFilter } from '../../issues/index.ts';
import type { FoundIssue } from '../../issues/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { WritingDeps } from './deps.ts';

export const suggestionKinds = ['mention', 'reference', 'emoji', 'assignee', 'reviewer', 'label', 'milestone'] as const;
export type SuggestionKind = (typeof suggestionKinds)[number];

interface Suggestion {
  /** The text to insert into the field. */
  text: string;
  label: string;
  /** Empty if the label is sufficient. */
  note: string;
}

/** Readers do not scan longer lists. */
const maxItems = 20;

type Find = (context: RepositoryContext, deps: WritingDeps, wanted: string) => Promise<Suggestion[]>;

/** @param wanted the beginning of a name, or words of a title; empty for the nearest */
export async function findSuggestions(
  context: RepositoryContext,
  deps: WritingDeps,
  kind: SuggestionKind,
  wanted: string,
): Promise<Suggestion[]> {
  return (await finders[kind](context, deps, wanted)).slice(0, maxItems);
}

/** Suggestions never include objects that are hidden from the viewer. */
function emptyIfHidden(error: unknown): never[] {
  if (isDomainError(error) && (error.code === 'not_found' || error.code === 'forbidden')) return [];
  throw error;
}

const startsWith = (name: string, wanted: string): boolean => name.toLowerCase().startsWith(wanted.toLowerCase());

interface Named {
  handle: string;
  name: string;
}

/** Collaborators come first, for viewers with write access, who are the ones that the policy shows them to. */
async function colleagues({ viewer, found }: RepositoryContext, deps: WritingDeps, wanted: string): Promise<Named[]> {
  if (!allows(found.level, 'write')) return [];
  const ids = await deps.pulls.attention.candidates(viewer, found.canonical).catch(emptyIfHidden);
  const people = [...(await deps.accounts.peopleById(ids)).values()];
  return people
    .flatMap(({ username, displayName }) => (username === null ? [] : [{ handle: username, name: displayName }]))
    .filter(({ handle, name }) => startsWith(handle, wanted) || startsWith(name, wanted))
    .sort((one, other) => (one.handle.toLowerCase() < other.handle.toLowerCase() ? -1 : 1));
}

/** Users with a public profile. Anonymous clients write nothing, and get no list of names. */
async function profiles({ viewer }: RepositoryContext, { accounts }: WritingDeps, wanted: string): Promise<Named[]> {
  if (viewer.kind !== 'person' || wanted === '') return [];
  const { people } = await accounts.listProfiles({ prefix: wanted, limit: maxItems, after: null });
  return people.flatMap(({ username, displayName }) =>
    username === null ? [] : [{ handle: username, name: displayName }],
  );
}

/** `organisation/team`, for teams that the viewer may see. */
async function teams({ viewer, found }: RepositoryContext, deps: WritingDeps, wanted: string): Promise<Named[]> {
  if (found.owner.kind !== 'organisation' || viewer.kind !== 'person') return [];
  const organisation = found.canonical.owner;
  const all = await deps.organisations.teams.list(viewer, organisation).catch(emptyIfHidden);
  return all
    .map(({ name }) => ({ handle: `${organisation}/${name}`, name: '' }))
    .filter(({ handle }) => startsWith(handle, wanted) || startsWith(handle.slice(organisation.length + 1), wanted));
}

const viewPeople = (people: readonly Named[], sign: string): Suggestion[] =>
  [...new Map(people.map((person) => [person.handle, person])).values()].map(({ handle, name }) => ({
    text: `${sign}${handle}`,
    label: handle,
    note: name === handle ? '' : viewName(name),
  }));

const people =
  (sign: string, { withTeams }: { withTeams: boolean }): Find =>
  async (...asked) =>
    viewPeople(
      [...(await colleagues(...asked)), ...(withTeams ? await teams(...asked) : []), ...(await profiles(...asked))],
      sign,
    );

/** Issues and pull requests of this repository: by number, or by words of a title or text. */
const reference: Find = async ({ viewer, found }, { issues }, wanted) => {
  const at = found.canonical;
  if (/^\d{1,9}$/.test(wanted)) {
    const one = await issues.find(viewer, { ...at, number: Number(wanted) }).catch(emptyIfHidden);
    return Array.isArray(one) ? [] : [viewIssue(one)];
  }
  const words = wanted.split(/\s+/).filter((word) => word !== '');
  const pages = await Promise.all(
    (['issue', 'pull'] as const).map((kind) =>
      issues
        .list(
          viewer,
          at,
          { ...noFilter, kind, state: 'all', sort: 'updated', words },
          { limit: maxItems / 2, after: null },
        )
        .then(({ rows }) => rows)
        .catch(emptyIfHidden),
    ),
  );
  return pages
    .flat()
    .sort((one, other) => other.updatedAt - one.updatedAt)
    .map(viewIssue);
};

const viewIssue = ({ number, title }: Pick<FoundIssue, 'number' | 'title'>): Suggestion => ({
  text: `#${number}`,
  label: `#${number}`,
  note: viewName(title),
});

/** Sorted, after the first request. */
let emojiNames: readonly string[] | null = null;

const emoji: Find = async (_context, _deps, wanted) => {
  // A table of two thousand names, loaded lazily because few processes need it.
  const { nameToEmoji } = await import('gemoji');
  emojiNames ??= Object.keys(nameToEmoji).sort();
  const name = wanted.toLowerCase();
  const first = emojiNames.filter((each) => each.startsWith(name));
  const others = emojiNames.filter((each) => !each.startsWith(name) && each.includes(name));
  return [...first, ...others].slice(0, maxItems).map((each) => ({
    text: `:${each}:`,
    label: nameToEmoji[each]!,
    note: each,
  }));
};

const label: Find = async ({ viewer, found }, { issues }, wanted) => {
  const folded = wanted.toLowerCase();
  const all = await issues.listLabels(viewer, found.canonical).catch(emptyIfHidden);
  return all
    .filter(({ nameFolded }) => nameFolded.includes(folded))
    .map(({ name, description }) => ({ text: name, label: viewName(name), note: viewName(description) }));
};

const milestone: Find = async ({ viewer, found }, { issues }, wanted) => {
  const folded = wanted.toLowerCase();
  const open = await issues.listMilestones(viewer, found.canonical, 'open').catch(emptyIfHidden);
  return open
    .filter(({ titleFolded }) => titleFolded.includes(folded))
    .map(({ title, dueOn }) => ({ text: title, label: viewName(title), note: dueOn ?? '' }));
};

const finders: Readonly<Record<SuggestionKind, Find>> = {
  mention: people('@', { withTeams: true }),
  reference,
  emoji,
  assignee: people('', { withTeams: false }),
  reviewer: people('', { withTeams: true }),
  label,
  milestone,
};
